package replay_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"turngate/replay"
)

// split is an array reader of the test's own.
func split(t *testing.T, array []byte) []string {
	t.Helper()
	d := jsontext.NewDecoder(bytes.NewReader(array), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if tok, err := d.ReadToken(); err != nil || tok.Kind() != '[' {
		t.Fatalf("not an array: %q", array)
	}
	var items []string
	for d.PeekKind() != ']' {
		v, err := d.ReadValue()
		if err != nil {
			t.Fatalf("%v in %q", err, array)
		}
		items = append(items, string(v))
	}
	if _, err := d.ReadToken(); err != nil {
		t.Fatalf("%v in %q", err, array)
	}
	return items
}

// FuzzExpand holds an expansion to what it promises, whatever the bytes.
func FuzzExpand(f *testing.F) {
	f.Add([]byte(`[{"role":"user","content":"hi"}]`), []byte(`[{"type":"message","id":"m"}]`), []byte(`"more"`))
	f.Add([]byte(`[ 1 , {"a":{"b":[]}} ]`), []byte(`[{"type":"additional_tools","Type":"x"},null]`), []byte(`[{"id":"m"}]`))
	f.Add([]byte(`[]`), []byte(`[{"type":"function_call","call_id":"c"}]`), []byte(`[{"type":"function_call_output","call_id":"c"}]`))
	f.Add([]byte("[\"\xff\\ud800\"]"), []byte(`[{"type":"shell_call_output","output":[{"created_by":1},2]}]`), []byte("[\"\xff\\ud800\"]"))
	f.Add([]byte(`[{"type":"message","content":"x"}]`), []byte(`[{"type":"message","content":[{"parsed":1}],"created_by":2,"id":null}]`), []byte(`[{"type":"message","content":"x"},{"type":"message","content":[{}]}]`))
	f.Add([]byte(`[`), []byte(`]`), []byte(`{`))
	f.Fuzz(func(t *testing.T, input, output, more []byte) {
		s := newStore(t)
		first := replay.Record{ID: "a", Input: input, Output: output, Snapshot: []byte(`{}`)}
		if err := s.Put(t.Context(), scope, first); err != nil {
			if !errors.Is(err, replay.ErrInvalid) {
				t.Fatal(err)
			}
			return
		}
		x, err := replay.Expand(t.Context(), s, scope, replay.Request{PreviousID: "a", Input: more})
		if err != nil {
			if e := (*replay.InputError)(nil); !errors.As(err, &e) {
				t.Fatal(err)
			}
			return
		}
		// The chain's items, then the new ones; inputs byte for byte.
		var want []string
		if len(input) > 0 {
			want = split(t, input)
		}
		for _, it := range first.Replayable() {
			want = append(want, string(it))
		}
		fresh := split(t, x.New)
		if got := split(t, x.Input); fmt.Sprintf("%q", got) != fmt.Sprintf("%q", append(want, fresh...)) {
			t.Errorf("input = %q\nwant %q", got, append(want, fresh...))
		}
		// Recorded and continued, the turn is what it was.
		second := replay.Record{ID: "b", PreviousID: "a", Input: x.New, Output: output, Snapshot: []byte(`{}`)}
		if err := s.Put(t.Context(), scope, second); err != nil {
			t.Fatal(err)
		}
		if y, err := replay.Expand(t.Context(), s, scope, replay.Request{PreviousID: "b"}); err == nil {
			got, head := split(t, y.Input), split(t, x.Input)
			if len(got) < len(head) {
				t.Errorf("continued input = %q, shorter than %q", got, head)
			}
		}
	})
}

// FuzzReplayable: what was normalised once is not changed again, and declares
// nothing unless it may.
func FuzzReplayable(f *testing.F) {
	f.Add([]byte(`[{"type":"message","created_by":1,"id":null,"content":[{"parsed":1}]}]`), false, false)
	f.Add([]byte(`[{"type":"custom_tool_call_output","call_id":"c","status":"x"},{"type":"custom_tool_call","call_id":"c"}]`), true, true)
	f.Add([]byte(`[{"type":"tool_search_output"},{"TYPE":"additional_tools","type":"message"},{"type":"reasoning"},{"type":"function_call","status":"incomplete"}]`), false, true)
	f.Add([]byte(`[{"type":"shell_call_output","output":[{"created_by":1},[{"created_by":1}]],"output":1}]`), false, false)
	f.Fuzz(func(t *testing.T, output []byte, declares, half bool) {
		r := replay.Record{ID: "a", Output: output, Snapshot: []byte(`{}`), Declares: declares}
		if half {
			r.Snapshot = []byte(`{"status":"incomplete"}`)
		}
		if r.Check() != nil {
			return
		}
		once := r.Replayable()
		r.Output = append(append([]byte("["), bytes.Join(once, []byte(","))...), ']')
		if err := r.Check(); err != nil {
			t.Fatalf("normalised to what is no JSON: %q", r.Output)
		}
		twice := r.Replayable()
		if !bytes.Equal(bytes.Join(once, []byte(",")), bytes.Join(twice, []byte(","))) {
			t.Errorf("once  %q\ntwice %q", once, twice)
		}
		for _, it := range once {
			if !declares && strings.Contains(string(it), `"type":"additional_tools"`) && strings.Count(string(it), "{") == 1 {
				t.Errorf("declares: %q", it)
			}
		}
	})
}

// Random trees of turns against a model that keeps whole histories.
func TestExpandModel(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 14))
	s := newStore(t)
	histories := map[string][]string{"": nil}
	ids := []string{""}
	for n := range 300 {
		parent := ids[rng.IntN(len(ids))]
		var input, output []string
		for i := range rng.IntN(4) {
			input = append(input, fmt.Sprintf(`{"role":"user", "content":"%d/%d"}`, n, i))
		}
		for i := range rng.IntN(4) {
			output = append(output, fmt.Sprintf(`{"type":"message","id":"m%d-%d", "role":"assistant"}`, n, i))
		}
		// Sometimes the client sends the history again, all or the last of it.
		sent := input
		if h := histories[parent]; len(h) > 0 && strings.Contains(h[len(h)-1], "assistant") && rng.IntN(3) == 0 {
			sent = append(append([]string(nil), h[rng.IntN(len(h)):]...), input...)
		}
		x, err := replay.Expand(t.Context(), s, scope, replay.Request{PreviousID: parent, Input: []byte("[" + strings.Join(sent, ",") + "]")})
		if err != nil {
			t.Fatal(err)
		}
		want := append(append([]string(nil), histories[parent]...), input...)
		if parent != "" {
			if got := string(x.Input); got != "["+strings.Join(want, ",")+"]" {
				t.Fatalf("turn %d after %q: input = %s\nwant %s", n, parent, got, want)
			}
		}
		if got := string(x.New); got != "["+strings.Join(input, ",")+"]" {
			t.Fatalf("turn %d after %q: new = %s\nwant %s", n, parent, got, input)
		}
		id := fmt.Sprint("r", n)
		r := rec(id, parent, string(x.New), "["+strings.Join(output, ",")+"]")
		if err := s.Put(t.Context(), scope, r); err != nil {
			t.Fatal(err)
		}
		histories[id] = append(want, output...)
		ids = append(ids, id)
	}
}
