package proxy

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"turngate/proxy/mock"
)

// TestO2Health: the process lives from the start, and is ready when it is said
// to be.
func TestO2Health(t *testing.T) {
	r := newRig(t, nil)
	for _, ready := range []bool{false, true, false} {
		r.proxy.SetReady(ready)
		want := http.StatusServiceUnavailable
		if ready {
			want = http.StatusOK
		}
		got := r.admin("GET", "/readyz")
		if got.Code != want || got.Header().Get("Content-Type") != "application/json" || !json.Valid(got.Body.Bytes()) {
			t.Errorf("ready %v: %d %s", ready, got.Code, got.Body)
		}
		if got := r.admin("GET", "/healthz"); got.Code != http.StatusOK || !json.Valid(got.Body.Bytes()) {
			t.Errorf("healthz: %d %s", got.Code, got.Body)
		}
	}
	for _, target := range []string{"/metrics", "/turns", "/healthz", "/readyz", "/turns/x"} {
		if got := r.admin("POST", target).Code; got != http.StatusMethodNotAllowed {
			t.Errorf("POST %s: %d", target, got)
		}
	}
	for _, target := range []string{"/", "/v1/responses", "/turns/a/b"} {
		if got := r.admin("GET", target).Code; got != http.StatusNotFound {
			t.Errorf("%s: %d", target, got)
		}
	}
}

// turns asks for the list of turns.
func (r *rig) turns(query string) []gjson.Result {
	r.Helper()
	rec := r.admin("GET", "/turns"+query)
	if rec.Code != http.StatusOK || !gjson.ValidBytes(rec.Body.Bytes()) {
		r.Fatalf("/turns%s: %d %s", query, rec.Code, rec.Body)
	}
	return gjson.GetBytes(rec.Body.Bytes(), "turns").Array()
}

// TestTurnsShowWhatHappened looks at the record of one turn of each kind, in the
// list and by itself.
func TestTurnsShowWhatHappened(t *testing.T) {
	refused := new(mock.Stream).Created().Call(0, mock.FC("rm_all", `{"secret":1}`)).Completed()
	r := newRig(t, nil, textTurn(), refused.JSONTurn(), mock.Turn{Status: 429, Body: []byte(`{"error":{"message":"secret"}}`)})
	var ids []string
	for _, stream := range []bool{true, false, true} {
		ids = append(ids, r.post(requestBody(t, "one-tool", stream), nil).header.Get("X-Turngate-Request-Id"))
	}
	ids = append(ids, r.post([]byte("{"), nil).header.Get("X-Turngate-Request-Id"))
	r.stop()

	list := r.turns("")
	if len(list) != 4 {
		t.Fatalf("%d turns", len(list))
	}
	for i, want := range []string{
		`local_error||none||invalid_json|json||0`,
		`upstream_error|http_error|default|m|upstream_error|sse||0`,
		`refused|completed|default|m||json|undeclared_tool_call|31`,
		`completed|completed|default|m||sse||31`,
	} { // newest first
		turn := list[i]
		var got []string
		for _, key := range []string{"outcome", "upstream_outcome", "upstream", "model", "error", "transport", "refusal.reason", "tokens.input"} {
			got = append(got, turn.Get(key).String())
		}
		if diff := cmp.Diff(want, strings.Join(got, "|")); diff != "" {
			t.Errorf("turn %d (-want +got):\n%s", i, diff)
		}
		id := turn.Get("request_id").String()
		if id != ids[len(ids)-1-i] {
			t.Errorf("turn %d is %s, want %s", i, id, ids[len(ids)-1-i])
		}
		if alone := r.admin("GET", "/turns/"+id); alone.Code != http.StatusOK || strings.TrimSpace(alone.Body.String()) != turn.Raw {
			t.Errorf("by itself it is %d %s, want %s", alone.Code, alone.Body, turn.Raw)
		}
		if started, err := time.Parse(time.RFC3339, turn.Get("started").String()); err != nil || time.Since(started) < 0 || turn.Get("duration_ms").Int() < 0 {
			t.Errorf("times of %s", turn.Raw)
		}
		if strings.Contains(turn.Raw, "secret") {
			t.Errorf("more is shown than what happened: %s", turn.Raw)
		}
	}
	if name := list[2].Get("refusal.name").String(); name != "rm_all" || list[2].Get("refusal.request_id").String() != ids[1] || list[2].Get("refusal.upstream").String() != "default" {
		t.Errorf("refusal %s", list[2].Get("refusal"))
	}
	if list[3].Get("response_id").String() != "resp_1" || list[3].Get("first_event_ms").Type != gjson.Number || list[0].Get("first_event_ms").Type != gjson.Null {
		t.Errorf("%s\n%s", list[3], list[0])
	}
	if got := r.admin("GET", "/turns/req_unknown"); got.Code != http.StatusNotFound || !gjson.ValidBytes(got.Body.Bytes()) {
		t.Errorf("an unknown turn: %d %s", got.Code, got.Body)
	}
}

// TestTurnsLimitAndFilter reads a list of 1,500 turns, of which 1,000 are kept.
func TestTurnsLimitAndFilter(t *testing.T) {
	r := newRig(t, nil)
	const all = 1500
	for i := range all {
		outcome := outcomeCompleted
		if i%10 == 0 {
			outcome = outcomeRefused
		}
		started := time.Now().Add(-time.Hour)
		if i >= all-5 {
			started = time.Now()
		}
		r.proxy.recent.add(turnRecord{RequestID: fmt.Sprintf("req_%d", i), Outcome: string(outcome), Started: started})
	}
	for query, want := range map[string]struct{ n, first, last int }{
		"":                         {1000, 1499, 500},
		"?limit=":                  {1000, 1499, 500},
		"?limit=1":                 {1, 1499, 1499},
		"?limit=7":                 {7, 1499, 1493},
		"?limit=5000":              {1000, 1499, 500},
		"?outcome=refused":         {100, 1490, 500},
		"?outcome=refused&limit=3": {3, 1490, 1470},
		"?outcome=timeout":         {0, 0, 0},
		"?since=10m":               {5, 1499, 1495},
		"?since=10m&limit=2":       {2, 1499, 1498},
		"?since=2h":                {1000, 1499, 500},
	} {
		list := r.turns(query)
		if len(list) != want.n {
			t.Errorf("%s: %d turns, want %d", query, len(list), want.n)
			continue
		}
		if want.n == 0 {
			continue
		}
		first, last := list[0].Get("request_id").String(), list[want.n-1].Get("request_id").String()
		if first != fmt.Sprintf("req_%d", want.first) || last != fmt.Sprintf("req_%d", want.last) {
			t.Errorf("%s: from %s to %s, want %d to %d", query, first, last, want.first, want.last)
		}
	}
	for _, query := range []string{"?limit=0", "?limit=-1", "?limit=x", "?limit=1e3", "?since=x", "?since=-5m", "?since=0", "?since=5"} {
		if got := r.admin("GET", "/turns"+query); got.Code != http.StatusBadRequest || !gjson.ValidBytes(got.Body.Bytes()) {
			t.Errorf("%s: %d %s", query, got.Code, got.Body)
		}
	}
	for id, want := range map[string]int{"req_1499": 200, "req_500": 200, "req_499": 404, "req_0": 404} {
		if got := r.admin("GET", "/turns/"+id).Code; got != want {
			t.Errorf("%s: %d, want %d", id, got, want)
		}
	}
	if got := r.admin("GET", "/turns?outcome=timeout").Body.String(); strings.TrimSpace(got) != `{"turns":[]}` {
		t.Errorf("no turns are %s", got)
	}
}

// TestTurnsAreBounded: what strangers choose takes little room in the list.
func TestTurnsAreBounded(t *testing.T) {
	long := strings.Repeat("long\\u0007", 1<<17)
	r := newRig(t, nil, (&mock.Stream{ID: strings.Repeat("long", 1<<18)}).Created().Completed().Turn())
	r.post([]byte(`{"model":"`+long+`","stream":true}`), nil)
	r.stop()
	if got := r.turns("")[0]; len(got.Raw) > 2000 || !strings.HasPrefix(got.Get("model").String(), "long") || !strings.HasPrefix(got.Get("response_id").String(), "longlong") {
		t.Errorf("a record of %d bytes: %.300s", len(got.Raw), got.Raw)
	}
	if n := r.log.Len(); n > 3000 {
		t.Errorf("%d bytes were logged", n)
	}
}
