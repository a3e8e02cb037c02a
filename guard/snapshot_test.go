package guard

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// R4: a response shows what the client asked for, where it shows it at all; all
// else keeps its bytes.
func TestR4Restore(t *testing.T) {
	asked := Asked{PreviousResponseID: []byte(`"resp_0"`), Store: []byte("true")}
	for name, tt := range map[string]struct {
		asked    Asked
		data     string // of an event
		want     string // "": the same bytes
		snapshot string
	}{
		"both, in the order of the response": {
			asked,
			`{"type":"response.created", "response":{"store" : false, "x":[ ],"previous_response_id":null,"id":"r"},"n":1}`,
			`{"type":"response.created", "response":{"store" : true, "x":[ ],"previous_response_id":"resp_0","id":"r"},"n":1}`,
			`{"store" : false, "x":[ ],"previous_response_id":null,"id":"r"}`,
		},
		"terminal": {
			asked,
			`{"type":"response.completed","response":{"previous_response_id":null}}`,
			`{"type":"response.completed","response":{"previous_response_id":"resp_0"}}`,
			`{"previous_response_id":null}`,
		},
		"not nested": {
			asked,
			`{"type":"response.completed","object":"response","store":false}`,
			`{"type":"response.completed","object":"response","store":true}`,
			`{"type":"response.completed","object":"response","store":false}`,
		},
		"each of several": {
			asked,
			`{"type":"response.created","response":{"store":false,"store":null}}`,
			`{"type":"response.created","response":{"store":true,"store":true}}`,
			`{"store":false,"store":null}`,
		},
		"nothing is there": {asked, `{"type":"response.created","response":{"id":"r"}}`, "", `{"id":"r"}`},
		"nothing differs":  {asked, `{"type":"response.created","response":{"store":true}}`, "", `{"store":true}`},
		"nothing asked":    {Asked{}, `{"type":"response.created","response":{"store":false}}`, "", `{"store":false}`},
		"deeper":           {asked, `{"type":"response.created","response":{"metadata":{"store":"no"}}}`, "", `{"metadata":{"store":"no"}}`},
		"another event":    {asked, `{"type":"response.other","response":{"store":false}}`, "", ""},
		"a delta":          {asked, `{"type":"response.output_text.delta","delta":"x","store":false}`, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			g := guardOf(t, readFile)
			if _, r := g.Inspect(event(tt.data)); r != nil {
				t.Fatal(r)
			}
			if diff := cmp.Diff(tt.snapshot, string(g.Snapshot())); diff != "" {
				t.Errorf("snapshot (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.want, string(g.Restore(tt.asked))); diff != "" {
				t.Errorf("restored (-want +got):\n%s", diff)
			}
			g.Inspect(event(textDelta))
			if g.Snapshot() != nil || g.Restore(tt.asked) != nil {
				t.Error("the next event has the snapshot still")
			}
		})
	}
}

func TestR4RestoreAnswer(t *testing.T) {
	asked := Asked{PreviousResponseID: []byte(`"resp_0"`), Store: []byte("true")}
	answer := `{"object":"response","output":[],"previous_response_id":null, "store":false}`
	want := `{"object":"response","output":[],"previous_response_id":"resp_0", "store":true}`
	g := guardOf(t, readFile)
	if _, r, ok := g.InspectAnswer([]byte(answer)); r != nil || !ok {
		t.Fatal(r, ok)
	}
	if got := string(g.Restore(asked)); got != want || string(g.Snapshot()) != answer {
		t.Errorf("got %s, snapshot %s", got, g.Snapshot())
	}
	if got := string(Restore([]byte(answer), asked)); got != want {
		t.Errorf("by itself: %s", got)
	}
	for _, same := range []string{`{"id":1}`, `no JSON`} {
		if got := string(Restore([]byte(same), asked)); got != same {
			t.Errorf("%s became %s", same, got)
		}
	}
}

// G6, R14: what an output declares counts only if a search was declared.
func TestG6LoadsTools(t *testing.T) {
	if guardOf(t, readFile).LoadsTools() {
		t.Error("without tool_search")
	}
	if !guardOf(t, `[{"type":"tool_search"},{"type":"function","name":"f"}]`).LoadsTools() {
		t.Error("not with tool_search")
	}
}
