package proxy

import (
	"bytes"
	"testing"
	"time"

	"turngate/proxy/mock"
)

// TestS7StreamFaults breaks streams after the client has had events of them.
func TestS7StreamFaults(t *testing.T) {
	s := new(mock.Stream).Created()
	between := s.TextDelta(0, "hello").Len()
	middle := between + len(s.TextDelta(0, "cut off here").Bytes()[between:])/2
	body := s.Completed().Bytes()
	oops := new(mock.Stream).Created().Error("model_overloaded", "The model is overloaded.")
	for _, tc := range []struct {
		name string
		turn mock.Turn
		sent int // bytes of the body that reach the client
		code string
		ending
	}{
		{"reset between events", mock.Turn{Body: body, Fault: mock.Reset, At: between}, between, "upstream_truncated",
			ending{200, "truncated", "truncated", "truncated", "reset by peer", ""}},
		{"reset inside an event", mock.Turn{Body: body, Fault: mock.Reset, At: middle}, between, "upstream_truncated",
			ending{200, "truncated", "truncated", "truncated", "reset by peer", ""}},
		{"K-A1 clean end between events", mock.Turn{Body: body, Fault: mock.Cut, At: between}, between, "upstream_truncated",
			ending{200, "truncated", "truncated", "truncated", "EOF", ""}},
		{"clean end inside an event", mock.Turn{Body: body, Fault: mock.Cut, At: middle}, between, "upstream_truncated",
			ending{200, "truncated", "truncated", "truncated", "EOF", ""}},
		{"no final chunk, between events", mock.Turn{Body: body, Fault: mock.Abort, At: between}, between, "upstream_truncated",
			ending{200, "truncated", "truncated", "truncated", "unexpected EOF", ""}},
		{"no final chunk, inside an event", mock.Turn{Body: body, Fault: mock.Abort, At: middle}, between, "upstream_truncated",
			ending{200, "truncated", "truncated", "truncated", "unexpected EOF", ""}},
		{"stall between events", mock.Turn{Body: body, Fault: mock.Stall, At: between}, between, "upstream_timeout",
			ending{200, "timeout", "timeout", "timeout", "idle timeout", ""}},
		{"stall inside an event", mock.Turn{Body: body, Fault: mock.Stall, At: middle}, between, "upstream_timeout",
			ending{200, "timeout", "timeout", "timeout", "idle timeout", ""}},
		{"K-A7 error event and clean end", oops.Turn(), oops.Len(), "model_overloaded",
			ending{200, "failed", "failed", "", "model_overloaded", ""}},
		{"error event and reset", mock.Turn{Body: oops.Bytes(), Fault: mock.Reset, At: oops.Len()}, oops.Len(), "model_overloaded",
			ending{200, "failed", "failed", "", "model_overloaded", ""}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			withRig(t, tc.turn, func(rig *rig) {
				got := rig.post(requestBody(rig.T, "one-tool", true), nil)
				tail, ok := bytes.CutPrefix(got.body, tc.turn.Body[:tc.sent])
				if got.err != nil || !ok {
					rig.Fatalf("error %v, got %q", got.err, got.body)
				}
				checkFailure(rig.T, tail, tc.code, "resp_1", 2)
				if record := rig.check(got, tc.ending); record.Error != tc.code {
					rig.Errorf("the record's error is %q, want %q", record.Error, tc.code)
				}
				if gone := rig.upstream.Counts().Gone; (gone == 1) != (tc.turn.Fault == mock.Stall) {
					rig.Errorf("the upstream was left %d times", gone)
				}
			})
		})
	}
}

// TestS7aResetAfterTerminal is the positive control: the same fault is none
// once the turn has ended.
func TestS7aResetAfterTerminal(t *testing.T) {
	for _, fault := range []mock.Fault{mock.None, mock.Reset, mock.Abort, mock.Stall} {
		t.Run(fault.String(), func(t *testing.T) {
			t.Parallel()
			turn := new(mock.Stream).Created().Text("hello").Completed().Turn()
			turn.Fault, turn.At, turn.Chunk = fault, len(turn.Body), len(turn.Body)
			rig := newRig(t, func(c *Config) { c.DrainTimeout = 50 * time.Millisecond }, turn)
			got := rig.post(requestBody(t, "one-tool", true), nil)
			if got.err != nil || !bytes.Equal(got.body, turn.Body) {
				t.Errorf("error %v, got %q", got.err, got.body)
			}
			rig.check(got, ending{status: 200, outcome: "completed", upstream: "completed"})
			if gone := rig.upstream.Counts().Gone; fault == mock.Stall && gone != 1 {
				t.Errorf("the upstream that stays open was left %d times, want 1", gone)
			}
		})
	}
}
