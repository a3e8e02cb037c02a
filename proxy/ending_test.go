package proxy

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
)

// ending is what is to be seen of a turn, by its client and by operators.
type ending struct {
	status   int
	outcome  string // what the client was told
	upstream string // what the upstream did; "" if it was not asked
	kind     string // of the upstream error that is counted; "" is none
	cause    string // part of what the log says under the request's id; "" is anything
	code     string // x-turngate-error
}

// check stops the rig and holds its only turn to e. secrets are strings that the
// client must not see, beside those that no client may (E2).
func (r *rig) check(got answer, e ending, secrets ...string) turnRecord {
	r.Helper()
	record := r.lastTurn()
	if got.status != e.status || got.header.Get(headerError) != e.code {
		r.Errorf("status %d, %s %q, want %d, %q; body %q", got.status, headerError, got.header.Get(headerError), e.status, e.code, got.body)
	}
	if got.header.Get(headerRequestID) != record.RequestID {
		r.Errorf("request id %q, and %q in the record", got.header.Get(headerRequestID), record.RequestID)
	}
	r.checkCounted(record, e)
	r.checkLogged(record.RequestID, e.cause)
	checkOpaque(r, got, secrets)
	return record
}

// checkCounted holds the record and the metrics of a rig that served one turn to
// e.
func (r *rig) checkCounted(record turnRecord, e ending) {
	r.Helper()
	if record.Outcome != e.outcome || record.UpstreamOutcome != e.upstream {
		r.Errorf("outcome %s/%s, want %s/%s", record.Outcome, record.UpstreamOutcome, e.outcome, e.upstream)
	}
	one := func(name string, want float64, labels ...string) {
		r.Helper()
		if got := r.metric(name, labels...); got != want {
			r.Errorf("%s%v is %v, want %v", name, labels, got, want)
		}
	}
	one("turngate_turns_total", 1)
	one("turngate_turns_total", 1, "outcome", e.outcome, "transport", record.Transport)
	if e.upstream == "" {
		one("turngate_upstream_outcomes_total", 0)
	} else {
		one("turngate_upstream_outcomes_total", 1)
		one("turngate_upstream_outcomes_total", 1, "outcome", e.upstream, "upstream", "default")
	}
	if e.kind == "" {
		one("turngate_upstream_errors_total", 0)
	} else {
		one("turngate_upstream_errors_total", 1)
		one("turngate_upstream_errors_total", 1, "kind", e.kind, "upstream", "default")
	}
	one("turngate_active_streams", 0)
}

// checkLogged looks for the turn's line in the log.
func (r *rig) checkLogged(id, cause string) {
	r.Helper()
	lines := 0
	for line := range bytes.Lines(r.log.Bytes()) {
		var entry struct {
			Msg       string
			RequestID string `json:"request_id"`
		}
		if err := json.Unmarshal(line, &entry); err != nil {
			r.Errorf("log line %q: %v", line, err)
		}
		if entry.Msg == "turn" && entry.RequestID == id {
			lines++
			if !strings.Contains(string(line), cause) {
				r.Errorf("the log does not say %q: %s", cause, line)
			}
		}
	}
	if lines != 1 {
		r.Errorf("%d lines in the log for the turn, want 1", lines)
	}
}

// checkOpaque looks for what no client may see (E2): addresses, and the words of
// Go's own errors.
func checkOpaque(r *rig, got answer, secrets []string) {
	r.Helper()
	var head bytes.Buffer
	if err := got.header.Write(&head); err != nil {
		r.Fatal(err)
	}
	// The request id is random, and may happen to have "tcp" in it.
	id := []byte(got.header.Get(headerRequestID))
	seen := bytes.ReplaceAll(append(head.Bytes(), got.body...), id, nil)
	for _, secret := range append(secrets, "127.0.0.1", "localhost", "[::1]", "dial", "tcp", "net/http", "EOF", "connection reset",
		"goroutine", "context", "malformed", "http://", r.upstreamHost()) {
		if bytes.Contains(seen, []byte(secret)) {
			r.Errorf("the client can see %q: %s", secret, seen)
		}
	}
}

// upstreamHost is host and port of the upstream.
func (r *rig) upstreamHost() string {
	return r.proxy.settings.Load().routes[0].base.Host
}

// errorCode reads the code of an HTTP error.
func errorCode(r *rig, got answer) string {
	r.Helper()
	var e struct {
		Error struct {
			Code      string
			Message   string
			RequestID string `json:"request_id"`
		}
	}
	if err := json.Unmarshal(got.body, &e); err != nil {
		r.Fatalf("the error is not JSON: %v: %q", err, got.body)
	}
	if e.Error.Message == "" || e.Error.RequestID != got.header.Get(headerRequestID) {
		r.Errorf("the error lacks its message or request id: %s", got.body)
	}
	if got.header.Get("Content-Type") != "application/json" && got.status != http.StatusOK {
		r.Errorf("the error is sent as %q", got.header.Get("Content-Type"))
	}
	return e.Error.Code
}
