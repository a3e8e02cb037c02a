package replay_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"turngate/replay"
	"turngate/replay/memory"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const scope = replay.Scope("s")

func newStore(t testing.TB, recs ...replay.Record) replay.Store {
	t.Helper()
	s := memory.New(memory.Options{SweepEvery: -1})
	t.Cleanup(func() { s.Close() })
	for _, r := range recs {
		if err := s.Put(context.Background(), scope, r); err != nil {
			t.Fatalf("Put(%s): %v", r.ID, err)
		}
	}
	return s
}

func rec(id, previous, input, output string) replay.Record {
	return replay.Record{
		ID: id, PreviousID: previous, Input: []byte(input), Output: []byte(output),
		Snapshot: []byte(`{"id":"` + id + `","status":"completed"}`),
	}
}

// The client's bytes of the first turn are odd on purpose: they must survive.
var weather = []replay.Record{
	rec("r1", "", `[ {"role" : "user","content":"Wetter\u003f \ud83d"} ]`,
		`[{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"abc"},{"type":"function_call","id":"fc_1","call_id":"c1","name":"weather","arguments":"{}"}]`),
	rec("r2", "r1", `[{"type":"function_call_output","call_id":"c1","output":"rain"}]`,
		`[{"type":"message","id":"msg_1","role":"assistant","content":[{"type":"output_text","text":"Rain."}]}]`),
}

const (
	weather1 = `{"role" : "user","content":"Wetter\u003f \ud83d"},{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"abc"},{"type":"function_call","id":"fc_1","call_id":"c1","name":"weather","arguments":"{}"}`
	weather2 = `{"type":"function_call_output","call_id":"c1","output":"rain"},{"type":"message","id":"msg_1","role":"assistant","content":[{"type":"output_text","text":"Rain."}]}`
)

func user(text string) string {
	return `{"type":"message","role":"user","content":[{"type":"input_text","text":"` + text + `"}]}`
}

// TestExpand joins chains to new input (R1, R4).
func TestExpand(t *testing.T) {
	tests := []struct {
		name     string
		recs     []replay.Record
		previous string
		input    string
		want     string // "": no edit
		fresh    string
	}{
		{name: "no chain, array", input: ` [ {"role":"user"} ] `, fresh: `[ {"role":"user"} ]`},
		{name: "no chain, string", input: `"hi\u0021"`, fresh: `[` + user(`hi\u0021`) + `]`},
		{name: "no chain, no input", input: ``, fresh: `[]`},
		{name: "no chain, null", input: `null`, fresh: `[]`},
		{name: "string", recs: weather, previous: "r2", input: ` "thanks" `,
			want: `[` + weather1 + `,` + weather2 + `,` + user("thanks") + `]`, fresh: `[` + user("thanks") + `]`},
		{name: "items", recs: weather, previous: "r2", input: `[ {"a" : 1.0, "role":"user"},7 ]`,
			want: `[` + weather1 + `,` + weather2 + `,{"a" : 1.0, "role":"user"},7]`, fresh: `[ {"a" : 1.0, "role":"user"},7 ]`},
		{name: "no new input", recs: weather, previous: "r2",
			want: `[` + weather1 + `,` + weather2 + `]`, fresh: `[]`},
		{name: "call answered by the new input", recs: weather, previous: "r1",
			input: `[{"type":"function_call_output","call_id":"c1","output":"sun"}]`,
			want:  `[` + weather1 + `,{"type":"function_call_output","call_id":"c1","output":"sun"}]`,
			fresh: `[{"type":"function_call_output","call_id":"c1","output":"sun"}]`},
		{name: "turns without output", recs: []replay.Record{rec("a", "", `[1]`, ``), rec("b", "a", ``, `[]`)}, previous: "b",
			input: `[2]`, want: `[1,2]`, fresh: `[2]`},
		{name: "tools declared in the input", recs: []replay.Record{
			rec("a", "", `[{"type":"additional_tools","role":"developer","tools":[]},{"type":"tool_search_output","call_id":null,"tools":[]}]`, ``)},
			previous: "a", input: `[2]`,
			want:  `[{"type":"additional_tools","role":"developer","tools":[]},{"type":"tool_search_output","call_id":null,"tools":[]},2]`,
			fresh: `[2]`},
		{name: "reference", recs: weather, input: `[{"type":"item_reference","id":"msg_1"},{"id":"msg_1"},{"role":"user","id":"msg_1"}]`,
			want:  `[{"type":"message","id":"msg_1","role":"assistant","content":[{"type":"output_text","text":"Rain."}]},{"type":"message","id":"msg_1","role":"assistant","content":[{"type":"output_text","text":"Rain."}]},{"role":"user","id":"msg_1"}]`,
			fresh: `[{"type":"message","id":"msg_1","role":"assistant","content":[{"type":"output_text","text":"Rain."}]},{"type":"message","id":"msg_1","role":"assistant","content":[{"type":"output_text","text":"Rain."}]},{"role":"user","id":"msg_1"}]`},
		{name: "reference to what the chain has", recs: weather, previous: "r2", input: `[{"type":"item_reference","id":"msg_1"},3]`,
			want: `[` + weather1 + `,` + weather2 + `,3]`, fresh: `[3]`},
		{name: "doubtful reference is not resolved", recs: weather, previous: "r2", input: `[{"type":"item_reference","type":"x","id":"nope"}]`,
			want: `[` + weather1 + `,` + weather2 + `,{"type":"item_reference","type":"x","id":"nope"}]`, fresh: `[{"type":"item_reference","type":"x","id":"nope"}]`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			input := []byte(tt.input)
			x, err := replay.Expand(t.Context(), newStore(t, tt.recs...), scope, replay.Request{PreviousID: tt.previous, Input: input})
			if err != nil {
				t.Fatal(err)
			}
			if string(x.Input) != tt.want {
				t.Errorf("input = %s\nwant    %s", x.Input, tt.want)
			}
			if string(x.New) != tt.fresh {
				t.Errorf("new = %s\nwant  %s", x.New, tt.fresh)
			}
			if string(input) != tt.input {
				t.Errorf("the request's bytes were changed to %s", input)
			}
		})
	}
}

// TestExpandErrors names what cannot be expanded (R4a, R6).
func TestExpandErrors(t *testing.T) {
	call := rec("a", "", `["x"]`, `[{"type":"function_call","call_id":"call_X","name":"f","arguments":"{}"}]`)
	tests := []struct {
		name, previous, input string
		code, message         string // code "": ErrNotFound
	}{
		{name: "unknown", previous: "nope", input: `"x"`},
		{name: "cut", previous: "a", input: `[1`, code: replay.CodeInvalidJSON, message: "Invalid JSON in 'input'."},
		{name: "deep", previous: "a", input: strings.Repeat("[", 1<<20), code: replay.CodeInvalidJSON, message: "Invalid JSON in 'input'."},
		{name: "object", previous: "a", input: `{}`, code: replay.CodeInvalidType,
			message: "Invalid type for 'input': expected a string or an array of input items."},
		{name: "number", input: `1`, code: replay.CodeInvalidType,
			message: "Invalid type for 'input': expected a string or an array of input items."},
		{name: "unknown reference", input: `[{"type":"item_reference","id":"rs_9"}]`, code: replay.CodeItemNotFound,
			message: "Item with id 'rs_9' not found. Items are not persisted when `store` is set to false. Try again with `store` set to true, or remove this item from your input."},
		{name: "unanswered call", previous: "a", input: `"and?"`, code: replay.CodeToolCallWithoutOutput,
			message: "No tool output found for function call call_X."},
		{name: "output of no call", previous: "a", code: replay.CodeToolOutputWithoutCall,
			input:   `[{"type":"function_call_output","call_id":"call_X","output":""},{"type":"function_call_output","call_id":"call_Y","output":""}]`,
			message: "No tool call found for function call output with call_id call_Y."},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := replay.Expand(t.Context(), newStore(t, call), scope, replay.Request{PreviousID: tt.previous, Input: []byte(tt.input)})
			if tt.code == "" {
				if !errors.Is(err, replay.ErrNotFound) {
					t.Errorf("error = %v, want ErrNotFound", err)
				}
				return
			}
			var e *replay.InputError
			if !errors.As(err, &e) || e.Code != tt.code || e.Message != tt.message || e.Param != "input" {
				t.Errorf("error = %+v, want %s: %s", err, tt.code, tt.message)
			}
		})
	}
}

// A reference is small and what it stands for is not.
func TestExpandLimit(t *testing.T) {
	big := rec("a", "", `["x"]`, `[{"type":"message","id":"m","role":"assistant","content":"`+strings.Repeat("x", 10_000)+`"}]`)
	s := newStore(t, big)
	for _, req := range []replay.Request{
		{Input: []byte(`[` + strings.Repeat(`{"type":"item_reference","id":"m"},`, 20) + `1]`)},
		{PreviousID: "a", Input: []byte(`"` + strings.Repeat("y", 95_000) + `"`)},
	} {
		req.MaxBytes = 100_000
		_, err := replay.Expand(t.Context(), s, scope, req)
		var e *replay.InputError
		if !errors.As(err, &e) || e.Code != replay.CodeRequestTooLarge {
			t.Errorf("error = %v, want %s", err, replay.CodeRequestTooLarge)
		}
	}
}

// An item is two bytes on the wire and many more once read.
func TestExpandManyItems(t *testing.T) {
	const most = 1 << 17
	many := func(n int) []byte { return []byte(`[` + strings.Repeat(`1,`, n-1) + `1]`) }
	s := newStore(t, replay.Record{ID: "a", Input: many(most), Snapshot: []byte("{}")})
	for what, req := range map[string]replay.Request{
		"input": {Input: many(most + 1)},
		"chain": {Input: []byte(`[1]`), PreviousID: "b"},
	} {
		if req.PreviousID != "" {
			r := replay.Record{ID: "b", PreviousID: "a", Input: []byte(`[1]`), Snapshot: []byte("{}")}
			if err := s.Put(t.Context(), scope, r); err != nil {
				t.Fatal(err)
			}
		}
		_, err := replay.Expand(t.Context(), s, scope, req)
		var e *replay.InputError
		if !errors.As(err, &e) || e.Code != replay.CodeRequestTooLarge {
			t.Errorf("%s: error = %v, want %s", what, err, replay.CodeRequestTooLarge)
		}
	}
	if _, err := replay.Expand(t.Context(), s, scope, replay.Request{Input: many(most)}); err != nil {
		t.Errorf("as many as allowed: %v", err)
	}
	r := replay.Record{ID: "c", Output: many(most + 1), Snapshot: []byte("{}")}
	if err := s.Put(t.Context(), scope, r); !errors.Is(err, replay.ErrTooLarge) {
		t.Errorf("Put: %v, want ErrTooLarge", err)
	}
}

type brokenStore struct{ replay.Store }

func (brokenStore) Chain(context.Context, replay.Scope, string) ([]replay.Record, error) {
	return nil, context.DeadlineExceeded
}

func (brokenStore) Items(context.Context, replay.Scope, []string) ([][]byte, error) {
	return nil, context.DeadlineExceeded
}

// A store that cannot be asked is never "not found", and is not asked when there
// is nothing to ask.
func TestExpandBrokenStore(t *testing.T) {
	for _, req := range []replay.Request{{PreviousID: "a"}, {Input: []byte(`[{"id":"x"}]`)}} {
		_, err := replay.Expand(t.Context(), brokenStore{}, scope, req)
		var e *replay.InputError
		if !errors.Is(err, context.DeadlineExceeded) || errors.As(err, &e) || errors.Is(err, replay.ErrNotFound) {
			t.Errorf("error = %v, want the store's", err)
		}
	}
	if _, err := replay.Expand(t.Context(), brokenStore{}, scope, replay.Request{Input: []byte(`"x"`)}); err != nil {
		t.Error(err)
	}
}

// TestNewScope keeps clients and upstreams apart (R8).
func TestNewScope(t *testing.T) {
	key := []byte("0123456789abcdef0123456789abcdef")
	seen := make(map[replay.Scope][]string)
	for _, parts := range [][]string{nil, {""}, {"", ""}, {"ab", "c"}, {"a", "bc"}, {"abc"}, {"authorization", "Bearer x", "up"}} {
		s := replay.NewScope(key, parts...)
		if other, ok := seen[s]; ok {
			t.Errorf("%q and %q have one scope", parts, other)
		}
		seen[s] = parts
		if s != replay.NewScope(key, parts...) || s == replay.NewScope(key[1:], parts...) {
			t.Errorf("scope of %q does not depend on key and parts alone", parts)
		}
		if s == "" || strings.Contains(string(s), "Bearer") {
			t.Errorf("scope = %q", s)
		}
	}
}
