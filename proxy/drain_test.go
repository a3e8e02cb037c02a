package proxy

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"turngate/proxy/mock"
)

// refusedStream is a turn that is refused at byte at, and what follows it.
func refusedStream() (body []byte, before, at int) {
	s := new(mock.Stream).Created()
	before = s.Len()
	at = s.Added(0, mock.FC("rm_all", `{}`)).Len()
	return s.Args(0, "{}").Done(0, mock.FC("rm_all", `{}`)).Completed().Bytes(), before, at
}

// TestS5RefusedTurnIsAccounted ends the client's answer while the upstream is in
// the middle of its stream, and counts what it does after that.
func TestS5RefusedTurnIsAccounted(t *testing.T) {
	body, before, at := refusedStream()
	resume := make(chan struct{})
	rig := newRig(t, func(c *Config) { c.DrainTimeout = time.Minute },
		mock.Turn{Body: body, Chunk: len(body), Fault: mock.Stall, At: at, Resume: resume})
	got := rig.post(requestBody(t, "one-tool", true), nil) // to its clean end
	if got.err != nil {
		t.Fatal(got.err)
	}
	checkFailure(t, got.body[before:], "undeclared_tool_call", "resp_1", 1)
	if c := rig.upstream.Counts(); c.Ended != 0 {
		t.Fatalf("the upstream has ended: %+v", c)
	}
	rec := httptest.NewRecorder()
	rig.proxy.AdminHandler().ServeHTTP(rec, httptest.NewRequest(http.MethodGet, "/turns/"+got.header.Get(headerRequestID), nil))
	if o := gjson.GetBytes(rec.Body.Bytes(), "upstream_outcome").String(); o != "pending" {
		t.Errorf("upstream outcome %q before the upstream went on", o)
	}
	close(resume)
	record := rig.check(got, ending{status: 200, outcome: "refused", upstream: "completed"})
	want := tokens{Input: mock.InputTokens, CachedInput: mock.CachedTokens, Output: mock.OutputTokens, Reasoning: mock.ReasoningTokens}
	if record.Tokens != want {
		t.Errorf("tokens %+v, want %+v", record.Tokens, want)
	}
	if n := rig.metric("turngate_tokens_total", "kind", "input"); n != mock.InputTokens {
		t.Errorf("%v input tokens counted", n)
	}
}

// TestS5DrainEnds bounds the reading on, and says how it ended.
func TestS5DrainEnds(t *testing.T) {
	body, before, at := refusedStream()
	for _, tc := range []struct {
		fault    mock.Fault
		upstream string
		gone     int
	}{
		{mock.None, "completed", 0},
		{mock.Stall, "cancelled", 1},
		{mock.Cut, "truncated", 0},
		{mock.Reset, "truncated", 0},
		{mock.Abort, "truncated", 0},
	} {
		t.Run(tc.fault.String(), func(t *testing.T) {
			t.Parallel()
			rig := newRig(t, func(c *Config) {
				if c.DrainTimeout = time.Minute; tc.fault == mock.Stall {
					c.DrainTimeout = 50 * time.Millisecond
				}
			}, mock.Turn{Body: body, Chunk: len(body), Fault: tc.fault, At: at})
			got := rig.post(requestBody(t, "one-tool", true), nil)
			if got.err != nil || !bytes.HasPrefix(got.body, body[:before]) {
				t.Fatalf("error %v, got %q", got.err, got.body)
			}
			checkFailure(t, got.body[before:], "undeclared_tool_call", "resp_1", 1)
			rig.check(got, ending{status: 200, outcome: "refused", upstream: tc.upstream})
			if n := rig.upstream.Counts().Gone; n != tc.gone {
				t.Errorf("the upstream was left %d times, want %d", n, tc.gone)
			}
		})
	}
}

// TestS5ManyRefusedTurns lets drains end while their turns are still being
// accounted: none may stay pending.
func TestS5ManyRefusedTurns(t *testing.T) {
	body, _, _ := refusedStream()
	rig := newRig(t, nil, mock.Turn{Body: body, Chunk: len(body)})
	const n = 200
	for range n {
		if got := rig.post(requestBody(t, "one-tool", true), nil); got.err != nil {
			t.Fatal(got.err)
		}
	}
	rig.stop()
	pending := rig.proxy.recent.list(maxTurns, func(r *turnRecord) bool { return r.UpstreamOutcome != "completed" })
	if len(pending) > 0 {
		t.Errorf("%d turns stay %q", len(pending), pending[0].UpstreamOutcome)
	}
	if got := rig.metric("turngate_upstream_outcomes_total", "outcome", "completed"); got != n {
		t.Errorf("%v upstream outcomes counted, want %d", got, n)
	}
}
