package main_test

import (
	"net/http"
	"strings"
	"testing"

	"turngate/proxy/mock"
)

// codexErrors crosses faults with what they may cost. Codex is told to try a
// stream and a request once more each, so that a fault it takes for passing
// costs two requests; four would be an answer that it retries on both levels,
// which by default are 30.
func codexErrors(t *testing.T, bin string) {
	const limited = `{"error":{"message":"slow down a little","type":"requests","param":null,"code":"rate_limit_exceeded"}}`
	for name, tc := range map[string]struct {
		turn     mock.Turn
		flags    []string
		requests int // that arrive at turngate
		upstream int // that arrive at the upstream
		says     string
	}{
		"request too large": {flags: []string{"--max-request-bytes", "1KiB"}, requests: 1, says: "over the limit of 1024 bytes"},
		"login page": {
			turn:     mock.Turn{ContentType: "text/html", Body: []byte("<html>please log in</html>")},
			requests: 1, upstream: 1, says: "not a response of the Responses API",
		},
		"redirect": {
			turn:     mock.Turn{Redirect: "http://elsewhere.invalid/v1/responses"},
			requests: 1, upstream: 1, says: "not a response of the Responses API",
		},
		"error in a 200": {turn: mock.Turn{Body: []byte(limited)}, requests: 2, upstream: 2, says: "slow down a little"},
		"error event": {
			turn:     new(mock.Stream).Created().Error("server_error", "the model fell over").Turn(),
			requests: 2, upstream: 2, says: "the model fell over",
		},
		"silence": {
			turn:  mock.Turn{Body: new(mock.Stream).Created().Bytes(), Fault: mock.Stall, At: 1 << 20},
			flags: []string{"--idle-timeout", "500ms"}, requests: 2, upstream: 2, says: "turngate: the upstream",
		},
		"bad request": {
			turn:     mock.Turn{Status: http.StatusBadRequest, Body: []byte(`{"error":{"message":"no such effort","type":"invalid_request_error","param":"reasoning","code":"unsupported_value"}}`)},
			requests: 1, upstream: 1, says: "no such effort",
		},
		"undeclared call in JSON": {
			turn:     new(mock.Stream).Call(0, mock.FC("rm_all", "{}")).Completed().JSONTurn(),
			requests: 1, upstream: 1, says: "rm_all",
		},
	} {
		t.Run(name, func(t *testing.T) {
			u, base := startUpstream(t, tc.turn)
			g := startGate(t, bin, base, tc.flags...)
			run := runCodex(t, plainModel, codexProvider(g.URL)+"stream_max_retries = 1\nrequest_max_retries = 1\n")
			if n := len(g.tap.exchanges()); n != tc.requests {
				t.Errorf("%d requests arrived at turngate, want %d", n, tc.requests)
			}
			if n := u.Counts().Received; n != tc.upstream {
				t.Errorf("%d requests arrived at the upstream, want %d", n, tc.upstream)
			}
			if run.Code != 1 {
				t.Errorf("exit code %d, want 1", run.Code)
			}
			mustContain(t, "what the user sees", run.Shown, tc.says)
			mustNotShow(t, "codex", run.Shown, base)
			for _, hidden := range []string{"elsewhere.invalid", "please log in"} {
				if strings.Contains(run.Shown, hidden) {
					t.Errorf("the user sees %q", hidden)
				}
			}
		})
	}
}
