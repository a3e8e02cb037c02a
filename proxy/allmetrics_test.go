package proxy

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"turngate/guard"
	"turngate/proxy/mock"
	"turngate/replay/memory"
)

// exercised is a rig in which every metric has seen something.
func exercised(t *testing.T) *traced {
	t.Helper()
	store := memory.New(memory.Options{})
	t.Cleanup(func() { store.Close() })
	odd := new(mock.Stream).Created().Done(0, mock.CTC("read_file", "x")).Call(1, mock.FC("read_file", `{"a":1}`)).Completed()
	r := newTraced(t, func(c *Config) {
		u := c.Upstreams[0]
		u.Name, u.Replay, u.Arguments = "main", true, guard.Report
		bad := u
		bad.Name, bad.Models = "bad", []string{"bad"}
		c.Upstreams, c.Store = []Upstream{u, bad}, store
		c.Record, c.RecordMaxBytes = t.TempDir(), 1<<20
		c.ClientKeys = []ClientKey{{Name: "alice", Hash: sha256.Sum256([]byte(aliceKey))}}
	}, mock.Turn{Name: "m", Body: odd.Bytes()}, mock.Turn{Name: "bad", Status: http.StatusBadGateway, Body: []byte("{}")})
	post := func(body string) answer {
		return r.post([]byte(body), map[string]string{"Authorization": "Bearer " + aliceKey})
	}
	tool := func(model, schema, more string) string {
		return `{"model":"` + model + `","stream":true,"input":"hi","tools":[{"type":"function","name":"read_file","parameters":` + schema + `}]` + more + `}`
	}
	post(tool("m", `{"type":"object","required":["path"]}`, ""))
	post(tool("m", `{"type":"object","required":["file"]}`, "")) // drift
	post(tool("m", `{"$ref":"http://elsewhere.example"}`, ""))   // unjudged
	post(tool("m", `{}`, `,"previous_response_id":"resp_none"`))
	post(strings.ReplaceAll(tool("m", `{}`, ""), "read_file", "other")) // refused
	post(tool("bad", `{}`, ""))
	r.stop()
	return r
}

// TestO2EveryMetric: each metric that the page and the contract name has a
// value once everything has happened.
func TestO2EveryMetric(t *testing.T) {
	r := exercised(t)
	shown := map[string]bool{}
	for s := range r.series() {
		name, _, _ := strings.Cut(s, "{")
		shown["turngate_"+name] = true
	}
	for name := range registeredMetrics() {
		if !shown[name] {
			t.Errorf("%s has no value", name)
		}
	}
}

// TestO7TenThousandNames: however many models and tools strangers invent, the
// series are those that there were after the first hundred.
func TestO7TenThousandNames(t *testing.T) {
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		// The tool has the name of the turn, which the client put into a header.
		_, _ = w.Write(new(mock.Stream).Created().Call(0, mock.FC(r.Header.Get("X-Name"), "{}")).Completed().Bytes())
	}))
	defer up.Close()
	r := newRig(t, func(c *Config) {
		base, err := url.Parse(up.URL + "/v1")
		if err != nil {
			t.Fatal(err)
		}
		c.Upstreams[0].BaseURL = base
	})
	early := 0
	for i := range 10_000 {
		name := fmt.Sprintf("name_%d", i)
		declared := name
		if i%2 == 0 {
			declared = "other_" + name // refused
		}
		r.post([]byte(`{"model":"`+name+`","stream":true,"tools":[{"type":"function","name":"`+declared+`"}]}`), map[string]string{"X-Name": name})
		if i == 99 {
			early = len(r.series())
		}
	}
	r.stop()
	if got := len(r.series()); got != early || early == 0 {
		t.Errorf("%d series after 10,000 names, %d after 100", got, early)
	}
	if got := r.metric("turngate_turns_total", "outcome", "refused"); got != 5000 {
		t.Errorf("%v turns were refused", got)
	}
}
