package proxy

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"turngate/proxy/mock"
	"turngate/replay"
	"turngate/replay/memory"
)

// newReplayRig is newRig with an upstream that keeps no state, and a store in
// memory unless configure brings another.
func newReplayRig(t *testing.T, configure func(*Config), turns ...mock.Turn) *rig {
	t.Helper()
	store := memory.New(memory.Options{SweepEvery: -1})
	t.Cleanup(func() { store.Close() }) // after the rig's own
	return newRig(t, func(c *Config) {
		c.Upstreams[0].Replay, c.Store = true, store
		if configure != nil {
			configure(c)
		}
	}, turns...)
}

// sent returns the body of the upstream's n-th request.
func (r *rig) sent(n int) string {
	r.Helper()
	all := r.upstream.Requests()
	if len(all) <= n {
		r.Fatalf("the upstream got %d requests, want at least %d", len(all), n+1)
	}
	return string(all[n].Body)
}

// wantSent compares the whole of what the upstream got as its n-th request.
func (r *rig) wantSent(n int, want string) {
	r.Helper()
	if diff := cmp.Diff(want, r.sent(n)); diff != "" {
		r.Errorf("request %d upstream (-want +got):\n%s", n, diff)
	}
}

// wantRequests fails unless the upstream got n requests.
func (r *rig) wantRequests(n int) {
	r.Helper()
	if got := len(r.upstream.Requests()); got != n {
		r.Errorf("the upstream got %d requests, want %d", got, n)
	}
}

// ask sends a body that must be answered with status 200.
func (r *rig) ask(body string) answer {
	r.Helper()
	a := r.post([]byte(body), nil)
	if a.status != 200 || a.err != nil {
		r.Fatalf("status %d, error %v: %s\nfor %s", a.status, a.err, a.body, body)
	}
	return a
}

// wantErrorText checks an error of ours together with what it says, and about
// which parameter.
func (r *rig) wantErrorText(a answer, status int, code, param, message string) {
	r.Helper()
	r.wantError(a, status, code)
	e := gjson.GetBytes(a.body, "error")
	if diff := cmp.Diff([]string{param, message}, []string{e.Get("param").String(), e.Get("message").String()}); diff != "" {
		r.Errorf("error (-want +got):\n%s", diff)
	}
}

// wantUnknown checks that an id cannot be continued, and that the upstream is
// not asked.
func (r *rig) wantUnknown(id string, header map[string]string) {
	r.Helper()
	before := len(r.upstream.Requests())
	a := r.post([]byte(`{"model":"m","input":"more","previous_response_id":"`+id+`"}`), header)
	r.wantErrorText(a, 400, "previous_response_not_found", "previous_response_id", "Previous response with id '"+id+"' not found.")
	r.wantRequests(before)
}

// withStore makes a configuration use a store.
func withStore(s replay.Store) func(*Config) { return func(c *Config) { c.Store = s } }

// userText is the item that a string is as input.
func userText(text string) string {
	return `{"type":"message","role":"user","content":[{"type":"input_text","text":"` + text + `"}]}`
}

// said is the message that Stream.Text ends up with.
func said(text string) string {
	return string(mock.Message(text).With("id", "msg_0"))
}
