package proxy

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync/atomic"
	"testing"

	"turngate/guard"
	"turngate/proxy/mock"
)

// TestReloadUnderLoad changes upstream and mode while turns are running: those
// end under the old settings, and new ones begin under the new.
func TestReloadUnderLoad(t *testing.T) {
	stream := new(mock.Stream).Created()
	at := stream.Len()
	resume := make(chan struct{})
	old := mock.Turn{Body: stream.Call(0, mock.FC("rm_all", "{}")).Completed().Bytes(), Fault: mock.Stall, At: at, Resume: resume}
	next, nextURL := newUpstream(t, old)
	var cfg Config
	r := newRig(t, func(c *Config) {
		c.Upstreams[0].Undeclared = guard.Report
		c.Upstreams[0].Name = "old"
		cfg = *c
	}, old)
	const running = 20
	body := requestBody(t, "one-tool", true)
	var before, after []func() answer
	for range running {
		before = append(before, r.start(t.Context(), body))
	}
	r.wait(func(c mock.Counts) bool { return c.Received == running })

	cfg.Upstreams = []Upstream{{Name: "new", BaseURL: nextURL, Undeclared: guard.Refuse, IdleTimeout: cfg.Upstreams[0].IdleTimeout}}
	if err := r.proxy.Reload(cfg); err != nil {
		t.Fatal(err)
	}
	cfg.Upstreams[0].Undeclared = guard.Off // the value was copied
	for range running {
		after = append(after, r.start(t.Context(), body))
	}
	if err := next.Wait(t.Context(), func(c mock.Counts) bool { return c.Received == running }); err != nil {
		t.Fatal(err)
	}
	close(resume)
	for i := range running {
		if got := before[i](); got.err != nil || !bytes.Equal(got.body, stream.Bytes()) {
			t.Errorf("a running turn got %q (%v)", got.body, got.err)
		}
		if got := after[i](); got.err != nil || !bytes.Contains(got.body, []byte("response.failed")) || bytes.Contains(got.body, []byte("response.output_item")) {
			t.Errorf("a new turn got %q (%v)", got.body, got.err)
		}
	}
	if n := r.upstream.Counts().Received; n != running {
		t.Errorf("the old upstream was asked %d times", n)
	}
	r.stop()
	for _, want := range []struct{ upstream, outcome string }{{"old", "completed"}, {"new", "refused"}} {
		if n := r.metric("turngate_turns_total", "upstream", want.upstream, "outcome", want.outcome); n != running {
			t.Errorf("%v turns of %s %s", n, want.upstream, want.outcome)
		}
	}
}

// TestReloadOfNonsenseChangesNothing: what cannot work is named, and the proxy
// goes on as it was.
func TestReloadOfNonsenseChangesNothing(t *testing.T) {
	turn := textTurn()
	var cfg Config
	r := newRig(t, func(c *Config) { cfg = *c }, turn)
	for says, change := range map[string]func(*Config){
		"no upstream":        func(c *Config) { c.Upstreams = nil },
		`"x": no base URL`:   func(c *Config) { c.Upstreams = []Upstream{c.Upstreams[0], {Name: "x"}} },
		`pattern "a[": `:     func(c *Config) { c.Upstreams[0].Models = []string{"ok", "a["} },
		`pattern "[z-a]x\`:   func(c *Config) { c.Upstreams[0].HostedCalls = []string{`[z-a]x\`} },
		`"default": no base`: func(c *Config) { c.Upstreams[0].BaseURL = nil },
	} {
		bad := cfg
		bad.Upstreams = append([]Upstream(nil), cfg.Upstreams...)
		change(&bad)
		err := r.proxy.Reload(bad)
		if err == nil || !bytes.Contains(fmt.Append(nil, err), []byte(says)) {
			t.Errorf("error %v, want one with %s", err, says)
		}
		if _, err := New(bad); err == nil {
			t.Errorf("%s: New takes it", says)
		}
		if got := r.post([]byte(`{"model":"m","stream":true}`), nil); !bytes.Equal(got.body, turn.Body) {
			t.Errorf("%s: the client got %d %q", says, got.status, got.body)
		}
	}
}

// TestReloadKeepsConnections: with connections of their own, settings left those
// of running turns behind at each reload, idle for a minute and a half.
func TestReloadKeepsConnections(t *testing.T) {
	turn := textTurn()
	var dialled atomic.Int32
	up := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		w.Write(turn.Body)
	}))
	up.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			dialled.Add(1)
		}
	}
	up.Start()
	defer up.Close()
	base, err := url.Parse(up.URL + "/v1")
	if err != nil {
		t.Fatal(err)
	}
	var cfg Config
	r := newRig(t, func(c *Config) { c.Upstreams[0].BaseURL = base; cfg = *c }, turn)
	for range 3 {
		if got := r.post([]byte(`{"model":"m","stream":true}`), nil); !bytes.Equal(got.body, turn.Body) {
			t.Fatalf("the client got %d %q", got.status, got.body)
		}
		if err := r.proxy.Reload(cfg); err != nil {
			t.Fatal(err)
		}
	}
	if n := dialled.Load(); n != 1 {
		t.Errorf("%d connections for turns one after the other, want 1", n)
	}
}
