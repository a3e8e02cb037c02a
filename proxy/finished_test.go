package proxy

import (
	"bytes"
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"turngate/guard"
	"turngate/proxy/mock"
	"turngate/replay"
)

// The store is told what the turn was: what clients act on, as they saw it.
func TestRecord(t *testing.T) {
	id := func(id string) mock.Item { return mock.Message("x").With("id", id) }
	for name, tt := range map[string]struct {
		stream *mock.Stream
		output string
	}{
		"the snapshot is empty (K-A9)":    {new(mock.Stream).Created().Done(0, id("a")).Done(1, id("b")).CompletedWith(), `[` + string(id("a")) + `,` + string(id("b")) + `]`},
		"no item was ever finished":       {new(mock.Stream).Created().CompletedWith(id("a"), id("b")), `[` + string(id("a")) + `,` + string(id("b")) + `]`},
		"both, in the snapshot's order":   {new(mock.Stream).Created().Done(1, id("b")).Done(0, id("a")).CompletedWith(id("a"), id("b")), `[` + string(id("a")) + `,` + string(id("b")) + `]`},
		"some in the snapshot only":       {new(mock.Stream).Created().Done(1, id("b")).CompletedWith(id("a"), id("b"), id("c")), `[` + string(id("a")) + `,` + string(id("b")) + `,` + string(id("c")) + `]`},
		"some not in the snapshot":        {new(mock.Stream).Created().Done(0, id("a")).Done(1, id("b")).CompletedWith(id("b")), `[` + string(id("a")) + `,` + string(id("b")) + `]`},
		"the client acts on what is done": {new(mock.Stream).Created().Done(0, id("a").With("n", 1)).CompletedWith(id("a").With("n", 2)), `[` + string(id("a").With("n", 1)) + `]`},
		"ids of every event's own":        {new(mock.Stream).Created().Done(0, id("a")).Done(1, id("b")).CompletedWith(id("c"), id("d")), `[` + string(id("a")) + `,` + string(id("b")) + `]`},
		"another kind at its place":       {new(mock.Stream).Created().Done(0, id("a")).CompletedWith(mock.Reasoning("r", "")), `[` + string(id("a")) + `,` + string(mock.Reasoning("r", "")) + `]`},
		"the same call under another id": {
			new(mock.Stream).Created().Done(0, mock.FC("f", "{}")).CompletedWith(id("a"), mock.FC("f", "{}").With("id", "fc_other")),
			`[` + string(id("a")) + `,` + string(mock.FC("f", "{}")) + `]`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			var got replay.Record
			store := &storeStub{Store: newMemory(t)}
			store.put = func(_ context.Context, _ replay.Scope, rec replay.Record) error {
				rec.Input, rec.Output = bytes.Clone(rec.Input), bytes.Clone(rec.Output)
				got = rec
				return nil
			}
			rig := newReplayRig(t, func(c *Config) { c.Store, c.Upstreams[0].Undeclared = store, guard.Off }, tt.stream.Turn())
			rig.ask(`{"model":"m","stream":true,"store":true,"input":[ {"role":"user","content":"one"} ]}`)
			snapshot, _, err := replay.SplitResponse(tt.stream.JSON())
			if err != nil {
				t.Fatal(err)
			}
			want := replay.Record{ID: "resp_1", Input: []byte(`[ {"role":"user","content":"one"} ]`), Output: []byte(tt.output), Snapshot: snapshot}
			if diff := cmp.Diff(want, got, cmp.Transformer("text", func(b []byte) string { return string(b) })); diff != "" {
				t.Errorf("record (-want +got):\n%s", diff)
			}
		})
	}
}

// K-A6: a call that was cut is never input again, whatever the last snapshot says
// of it; one that is whole is.
func TestKA6HalfACall(t *testing.T) {
	half := mock.FC("read_file", `{"path":"/tm`)
	for name, tt := range map[string]struct {
		item mock.Item
		kept bool
	}{
		"says so":              {half.With("status", "incomplete"), false},
		"says nothing":         {`{"type":"function_call","call_id":"call_read_file","name":"read_file","arguments":"{}"}`, false},
		"says that it is done": {half, false},
		"positive: is done":    {mock.FC("read_file", `{"path":"/tmp"}`), true},
	} {
		t.Run(name, func(t *testing.T) {
			s := new(mock.Stream).Created().Added(0, half).Args(0, `{"path":"/tm`)
			snapshot := new(mock.Stream).Done(0, tt.item)
			snapshot.Incomplete("max_output_tokens")
			turn := s.Event("response.incomplete", `"response":`+string(snapshot.JSON())).Turn()
			rig := newReplayRig(t, nil, turn)
			if a := rig.ask(`{"model":"m","stream":true,"input":"one",` + fileTool + `}`); string(a.body) != string(turn.Body) {
				t.Fatalf("got %s", a.body)
			}
			if !tt.kept {
				rig.ask(`{"model":"m","stream":true,"input":"more","previous_response_id":"resp_1"}`)
				rig.wantSent(1, `{"model":"m","stream":true,"input":[`+userText("one")+`,`+userText("more")+`]}`)
				return
			}
			result := `{"type":"function_call_output","call_id":"call_read_file","output":"x"}`
			rig.ask(`{"model":"m","stream":true,"input":[` + result + `],"previous_response_id":"resp_1"}`)
			rig.wantSent(1, `{"model":"m","stream":true,"input":[`+userText("one")+`,`+string(tt.item)+`,`+result+`]}`)
		})
	}
}
