package proxy

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"turngate/proxy/mock"
)

// modelsTurn answers GET /v1/models.
func modelsTurn() mock.Turn {
	return mock.Turn{Route: "GET /v1/models", Body: []byte(`{"models":[]}`)}
}

// textTurn is a turn that every client takes.
func textTurn() mock.Turn { return new(mock.Stream).Created().Text("hello").Completed().Turn() }

// withKey gives the only upstream a key.
func withKey(c *Config) { c.Upstreams[0].Key = "sk-operator-1796" }

// newUpstream starts one more server that plays an upstream. Call it from the
// configure function of newRig, so that it outlives the rig.
func newUpstream(t *testing.T, turns ...mock.Turn) (*mock.Upstream, *url.URL) {
	t.Helper()
	up := mock.New(turns...)
	return up, newServer(t, up)
}

// newServer starts a server and returns the base URL of an upstream there.
func newServer(t *testing.T, h http.Handler) *url.URL {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	u, err := url.Parse(server.URL + "/v1")
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// asked returns the only request that the upstream got.
func (r *rig) asked() mock.Request {
	r.Helper()
	all := r.upstream.Requests()
	if len(all) != 1 {
		r.Fatalf("the upstream got %d requests, want 1", len(all))
	}
	return all[0]
}

// notAsked fails if the upstream got any request.
func (r *rig) notAsked() {
	r.Helper()
	if n := len(r.upstream.Requests()); n != 0 {
		r.Errorf("the upstream got %d requests, want none", n)
	}
}

// wantError fails unless a is an error of turngate's own in the form that
// clients in general get: this status and code, and what contract.md says of
// every such error.
func (r *rig) wantError(a answer, status int, code string) {
	r.Helper()
	if a.err != nil || a.status != status {
		r.Errorf("status %d (%v), want %d: %s", a.status, a.err, status, a.body)
	}
	r.wantHeader(a, "X-Turngate-Error", code)
	r.wantHeader(a, "Content-Type", "application/json")
	id := a.header.Get("X-Turngate-Request-Id")
	if id == "" {
		r.Error("no request id")
	}
	root := gjson.ParseBytes(a.body)
	for path, want := range map[string]string{"code": code, "request_id": id} {
		if got := root.Get("error." + path).String(); got != want {
			r.Errorf("error.%s is %q, want %q", path, got, want)
		}
	}
	if root.Get("error.message").String() == "" {
		r.Errorf("no message: %s", a.body)
	}
	if got := root.Get("@keys").String(); got != `["error"]` {
		r.Errorf("keys %s", got)
	}
	if got := root.Get("error.@keys").String(); got != `["message","type","param","code","request_id"]` {
		r.Errorf("keys of the error are %s", got)
	}
}

// wantHeader fails unless a header has one value, or none if it is "".
func (r *rig) wantHeader(a answer, key, want string) {
	r.Helper()
	if got := a.header.Values(key); len(got) > 1 || a.header.Get(key) != want {
		r.Errorf("header %s is %q, want %q", key, got, want)
	}
}

// wantCodexError fails unless a is an error of turngate's own that no retry can
// cure, in the form in which Codex shows it once and stops (E3b).
func (r *rig) wantCodexError(a answer, code string) {
	r.Helper()
	if a.status != http.StatusBadRequest {
		r.Errorf("status %d, want 400: %s", a.status, a.body)
	}
	r.wantHeader(a, "X-Turngate-Error", code)
	r.wantHeader(a, "X-Should-Retry", "false")
	e := gjson.GetBytes(a.body, "error")
	if e.Get("code").String() != "invalid_prompt" || e.Get("type").String() != code || e.Get("message").String() == "" {
		r.Errorf("error %s", e.Raw)
	}
}

// wantErrorType fails unless the error has the type that its status says, and
// names this parameter; "" is null.
func (r *rig) wantErrorType(a answer, param string) {
	r.Helper()
	e := gjson.GetBytes(a.body, "error")
	want := "invalid_request_error"
	if a.status >= 500 {
		want = "server_error"
	}
	if got := e.Get("type").String(); got != want {
		r.Errorf("type %q, want %q", got, want)
	}
	if got := e.Get("param"); got.String() != param || (param == "") != (got.Type == gjson.Null) {
		r.Errorf("param %s, want %q", got.Raw, param)
	}
}

// wantCodexFailed fails unless a is a stream of one failed response with this
// code, as Codex needs it to say the message (S3).
func (r *rig) wantCodexFailed(a answer, code, message string) {
	r.Helper()
	if a.err != nil || a.status != http.StatusOK || !strings.HasPrefix(a.header.Get("Content-Type"), "text/event-stream") {
		r.Fatalf("the client got %d %v (%v): %s", a.status, a.header, a.err, a.body)
	}
	frames := strings.Split(string(a.body), "\n\n")
	if len(frames) != 4 || frames[2] != "data: [DONE]" || frames[3] != "" {
		r.Fatalf("the client got %q", frames)
	}
	var ids [2]string
	for i, event := range []string{"response.created", "response.failed"} {
		data, ok := strings.CutPrefix(frames[i], "event: "+event+"\ndata: ")
		if !ok || !gjson.Valid(data) || gjson.Get(data, "type").String() != event || gjson.Get(data, "sequence_number").Raw != strconv.Itoa(i) {
			r.Errorf("event %d is %q", i, frames[i])
		}
		ids[i] = gjson.Get(data, "response.id").String()
	}
	if ids[0] == "" || ids[0] != ids[1] {
		r.Errorf("ids %q", ids)
	}
	_, data, _ := strings.Cut(frames[1], "data: ")
	response := gjson.Get(data, "response")
	if response.Get("status").String() != "failed" || response.Get("output").Raw != "[]" {
		r.Errorf("the response is %s", response.Raw)
	}
	e := response.Get("error")
	if e.Get("code").String() != code || e.Get("request_id").String() != a.header.Get("X-Turngate-Request-Id") || !strings.Contains(e.Get("message").String(), message) {
		r.Errorf("the error is %s, want code %s and a message with %q", e.Raw, code, message)
	}
	if e.Get("type").String() == "" || e.Get("type").String() != a.header.Get("X-Turngate-Error") {
		r.Errorf("type %s beside x-turngate-error %s", e.Get("type"), a.header.Get("X-Turngate-Error"))
	}
}
