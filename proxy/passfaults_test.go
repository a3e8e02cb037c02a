package proxy

import (
	"maps"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"turngate/proxy/mock"
)

// TestPassedFaultsAreCounted: a fault of the upstream is in the metrics and, unless
// the client was told the upstream's own error, in the log, whatever it was that
// the client had asked for.
func TestPassedFaultsAreCounted(t *testing.T) {
	type fault struct {
		configure func(*Config)
		turn      mock.Turn
		kind      string // "" is no fault
		logged    string // error in the log, "" if none
	}
	faults := map[string]fault{
		"fine":        {},
		"404":         {turn: mock.Turn{Status: 404, Body: []byte(`{}`)}, kind: "http_4xx"},
		"503":         {turn: mock.Turn{Status: 503}, kind: "http_5xx"},
		"key":         {configure: withKey, turn: mock.Turn{Status: 401}, kind: "unauthorized", logged: "upstream_unauthorized"},
		"redirect":    {turn: mock.Turn{Redirect: "/elsewhere"}, kind: "protocol", logged: "upstream_protocol_error"},
		"reset":       {turn: mock.Turn{Fault: mock.Reset, At: -1}, kind: "reset", logged: "upstream_unreachable"},
		"unreachable": {configure: func(c *Config) { c.Upstreams[0].BaseURL = &url.URL{Scheme: "http", Host: "127.0.0.1:1"} }, kind: "connect", logged: "upstream_unreachable"},
		"no head": {configure: func(c *Config) { c.HeaderTimeout = 20 * time.Millisecond },
			turn: mock.Turn{Fault: mock.Stall, At: -1}, kind: "timeout", logged: "upstream_timeout"},
		"cut": {turn: mock.Turn{Body: []byte(`{"data":[]}`), Fault: mock.Reset, At: 5}, kind: "truncated", logged: "upstream_truncated"},
		"stalled": {configure: func(c *Config) { c.Upstreams[0].IdleTimeout = 20 * time.Millisecond },
			turn: mock.Turn{Body: []byte(`{"data":[]}`), Fault: mock.Stall, At: 5}, kind: "timeout", logged: "upstream_timeout"},
	}
	for _, name := range slices.Sorted(maps.Keys(faults)) {
		t.Run(name, func(t *testing.T) {
			f := faults[name]
			f.turn.Route = "GET /v1/models"
			r := newRig(t, f.configure, f.turn)
			got := r.do("GET", "/models", nil, nil)
			r.stop()
			want := 1.0
			if f.kind == "" {
				want = 0
			}
			all := r.metric("turngate_upstream_errors_total")
			if n := r.metric("turngate_upstream_errors_total", "kind", f.kind, "upstream", "default"); n != want || all != want {
				t.Errorf("%v faults counted, %v of kind %q, want %v", all, n, f.kind, want)
			}
			if n := r.metric("turngate_turns_total"); n != 0 {
				t.Errorf("counted as %v turns", n)
			}
			line := `"request_id":"` + got.header.Get(headerRequestID) + `","upstream":"default","error":"` + f.logged + `"`
			if log := r.log.String(); f.logged == "" && log != "" || f.logged != "" && strings.Count(log, line) != 1 {
				t.Errorf("the log does not say %q once, and no more:\n%s", f.logged, log)
			}
		})
	}
}
