package proxy

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"turngate/proxy/mock"
)

// R2, R6: a turn that did not end well, or that the client wanted forgotten, is
// no history. Each has a sibling beside it that differs in that alone and can be
// continued.
func TestR6NotContinued(t *testing.T) {
	const ask = `{"model":"m","stream":true,"input":"one",` + fileTool + `}`
	good := mock.FC("read_file", `{"path":"a"}`)
	bad := mock.FC("rm_all", `{"path":"a"}`)
	begun := func() *mock.Stream { return new(mock.Stream).Created().Text("uno") }
	cut := begun().Completed().Turn()
	cut.Fault, cut.At = mock.Cut, begun().Len()
	reset := cut
	reset.Fault = mock.Reset
	type play struct {
		ask    string
		answer mock.Turn
	}
	for name, tt := range map[string]struct{ not, control play }{
		"refused when announced, then completed without output": {
			play{ask, begun().Added(1, bad).CompletedWith().Turn()},
			play{ask, begun().Added(1, good).CompletedWith().Turn()},
		},
		"refused in the snapshot only": {
			play{ask, begun().CompletedWith(bad).Turn()},
			play{ask, begun().CompletedWith(good).Turn()},
		},
		"failed":    {play{ask, begun().Failed("server_error", "no").Turn()}, play{ask, begun().Incomplete("max_output_tokens").Turn()}},
		"truncated": {play{ask, cut}, play{ask, begun().Completed().Turn()}},
		"reset":     {play{ask, reset}, play{ask, begun().Completed().Turn()}},
		"store: false (K-G4)": {
			play{strings.Replace(ask, `"stream"`, `"store":false,"stream"`, 1), begun().Completed().Turn()},
			play{strings.Replace(ask, `"stream"`, `"store":true,"stream"`, 1), begun().Completed().Turn()},
		},
		"in a conversation of the upstream's": {
			play{strings.Replace(ask, `"stream"`, `"conversation":"conv_1","stream"`, 1), begun().Completed().Turn()},
			play{strings.Replace(ask, `"stream"`, `"conversation":null,"stream"`, 1), begun().Completed().Turn()},
		},
		"completed, says the event, and cancelled, says the response": {
			play{ask, mock.Turn{Body: bytes.ReplaceAll(begun().Completed().Bytes(), []byte(`"status":"completed","background"`), []byte(`"status":"cancelled","background"`))}},
			play{ask, begun().Completed().Turn()},
		},
		"refused JSON": {
			play{ask, begun().Done(1, bad).Completed().JSONTurn()},
			play{ask, begun().CompletedWith(good).JSONTurn()},
		},
		"failed JSON":     {play{ask, begun().Failed("server_error", "no").JSONTurn()}, play{ask, begun().Incomplete("max_output_tokens").JSONTurn()}},
		"unfinished JSON": {play{ask, begun().JSONTurn()}, play{ask, begun().Completed().JSONTurn()}},
	} {
		t.Run(name, func(t *testing.T) {
			rig := newReplayRig(t, nil, tt.not.answer)
			rig.post([]byte(tt.not.ask), nil)
			rig.wantUnknown("resp_1", nil)
			if n := rig.metric("turngate_replay_operations_total", "operation", "put"); n != 0 {
				t.Errorf("%v puts", n)
			}

			control := newReplayRig(t, nil, tt.control.answer)
			control.post([]byte(tt.control.ask), nil)
			if n := control.metric("turngate_replay_operations_total", "operation", "put", "result", "ok"); n != 1 {
				t.Errorf("control: %v puts", n)
			}
			next := `{"model":"m","previous_response_id":"resp_1","input":"more"}`
			if stored := control.do(http.MethodGet, "/responses/resp_1", nil, nil); bytes.Contains(stored.body, []byte("call_read_file")) {
				next = `{"model":"m","previous_response_id":"resp_1","input":[{"type":"function_call_output","call_id":"call_read_file","output":"x"}]}`
			}
			if a := control.post([]byte(next), nil); a.header.Get(headerError) != "" {
				t.Errorf("control: status %d: %s", a.status, a.body)
			}
			control.wantRequests(2)
		})
	}
}

// K-I2: a client that leaves before the end has no turn to go on from. The one
// beside it leaves behind the end.
func TestKI2LeftBeforeTheEnd(t *testing.T) {
	s := new(mock.Stream).Created().Text("uno")
	at := s.Len()
	stalled := s.Completed().Turn()
	stalled.Fault, stalled.At = mock.Stall, at
	rig := newReplayRig(t, nil, stalled, reply("resp_2", "dos"))
	body := []byte(`{"model":"m","stream":true,"input":"one"}`)

	ctx, cancel := context.WithCancel(t.Context())
	resp, err := rig.begin(ctx, body)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(resp.Body, make([]byte, at)); err != nil {
		t.Fatal(err)
	}
	cancel()
	resp.Body.Close()
	rig.waitFor(func(c mock.Counts) bool { return c.Gone == 1 })
	rig.wantUnknown("resp_1", nil)

	rig.ask(string(body))
	rig.ask(`{"model":"m","stream":true,"input":"two","previous_response_id":"resp_2"}`)
}
