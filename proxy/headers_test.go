package proxy

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"turngate/proxy/mock"
)

// clientHeaders are what a Codex sends, with what must not pass mixed in.
func clientHeaders() map[string]string {
	return map[string]string{
		"X-Codex-Beta-Features": "remote_compaction_v2", "X-Codex-Window-Id": "w:0", "X-Codex-Turn-Metadata": `{"a":"b"}`,
		"X-Client-Request-Id": "t", "Session-Id": "s", "Thread-Id": "t", "Originator": "codex_exec", "User-Agent": "codex_exec/0.171.0",
		"X-Openai-Internal-Codex-Responses-Lite": "true", "Openai-Beta": "responses=v1", "Idempotency-Key": "k", "X-Request-Id": "mine",
		"Accept": "text/event-stream", "Content-Type": "application/json", "Traceparent": "00-1-2-01",
	}
}

// TestKH7RequestHeaders sends headers of every kind to an upstream that gets
// the client's own credentials, and to ones that get the operator's.
func TestKH7RequestHeaders(t *testing.T) {
	credentials := map[string]string{
		"Authorization": "Bearer sk-client", "Api-Key": "c1", "X-Api-Key": "c2", "Chatgpt-Account-Id": "acc",
		"Openai-Organization": "org", "Openai-Project": "proj",
	}
	dropped := map[string]string{
		"Connection": "close, X-Hop", "X-Hop": "1", "Keep-Alive": "timeout=5", "Proxy-Connection": "close",
		"Proxy-Authorization": "Basic Zm9v", "Te": "trailers", "Cookie": "session=1", "Accept-Encoding": "zstd,gzip",
		"Expect": "100-continue", "X-Unwanted": "x",
	}
	const basic = "Basic dTpwJXc=" // u:p%w
	for name, tc := range map[string]struct {
		configure func(*Upstream)
		auth      string
		own       bool
	}{
		"client": {func(*Upstream) {}, "Bearer sk-client", true},
		"key":    {func(u *Upstream) { u.Key = "sk-operator" }, "Bearer sk-operator", false},
		"user":   {func(u *Upstream) { u.BaseURL.User = url.UserPassword("u", "p%w") }, basic, false},
		"both":   {func(u *Upstream) { u.Key, u.BaseURL.User = "sk-operator", url.User("u") }, "Bearer sk-operator", false},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, func(c *Config) {
				c.Upstreams[0].DropHeaders = []string{"x-UNWANTED", "absent"}
				tc.configure(&c.Upstreams[0])
			}, textTurn())
			sent := clientHeaders()
			for k, v := range credentials {
				sent[k] = v
			}
			for k, v := range dropped {
				sent[k] = v
			}
			body := requestBody(t, "codex-lite", true)
			if got := r.post(body, sent); got.status != http.StatusOK {
				t.Fatalf("status %d: %s", got.status, got.body)
			}
			want := http.Header{"Accept-Encoding": {"identity"}, "Content-Length": {strconv.Itoa(len(body))}, "Authorization": {tc.auth}}
			for k, v := range clientHeaders() {
				want.Set(k, v)
			}
			for k, v := range credentials {
				if tc.own {
					want.Set(k, v)
				}
			}
			asked := r.asked()
			if diff := cmp.Diff(want, asked.Header); diff != "" {
				t.Errorf("headers upstream (-want +got):\n%s", diff)
			}
			if strings.Contains(r.base, asked.Host) {
				t.Errorf("the upstream was asked as %s, which is the proxy", asked.Host)
			}
		})
	}
}

// TestRequestHeadersNothingAdded shows that the proxy has no voice of its own
// upstream beyond what HTTP needs.
func TestRequestHeadersNothingAdded(t *testing.T) {
	r := newRig(t, nil, textTurn(), modelsTurn())
	r.raw(http.MethodGet, "/v1/models", "", "")
	if diff := cmp.Diff(http.Header{"Accept-Encoding": {"identity"}}, r.asked().Header); diff != "" {
		t.Errorf("headers upstream (-want +got):\n%s", diff)
	}
}

// responseHeaders are what upstreams send that clients need.
func responseHeaders() map[string]string {
	return map[string]string{
		"X-Codex-Primary-Used-Percent": "12", "X-Codex-Turn-State": "ts", "X-Models-Etag": `W/"7"`, "X-Request-Id": "req_up",
		"X-Ratelimit-Remaining-Requests": "9", "X-Ratelimit-Reset-Tokens": "6ms", "Retry-After": "7", "Retry-After-Ms": "7000",
		"Openai-Model": "m-2026", "Openai-Processing-Ms": "5", "Openai-Version": "2020-10-01", "X-Should-Retry": "true",
		"X-Reasoning-Included": "true", "Www-Authenticate": "Bearer",
	}
}

// TestKH7ResponseHeaders gets headers of every kind from an upstream, with each
// form of answer.
func TestKH7ResponseHeaders(t *testing.T) {
	stream := new(mock.Stream).Created().Text("x").Completed()
	for name, tc := range map[string]struct {
		turn mock.Turn
		own  map[string]string
	}{
		"stream": {stream.Turn(), map[string]string{ // K-H5
			"Cache-Control": "no-cache, no-transform", "X-Accel-Buffering": "no", "Content-Type": "text/event-stream"}},
		"json":  {stream.JSONTurn(), map[string]string{"Cache-Control": "max-age=60", "Content-Type": "application/json"}},
		"error": {mock.Turn{Status: 429, Body: []byte(`{"error":{"message":"slow"}}`)}, map[string]string{"Cache-Control": "max-age=60"}},
		"error without a body": {mock.Turn{Status: 404, ContentType: "text/plain"}, map[string]string{
			"Content-Type": "application/json", "X-Turngate-Error": "upstream_error"}},
	} {
		t.Run(name, func(t *testing.T) {
			h := http.Header{
				"Connection": {"X-Hop"}, "X-Hop": {"1"}, "Keep-Alive": {"timeout=5"}, "Proxy-Authenticate": {"Basic"},
				"Upgrade": {"h2c"}, "Proxy-Connection": {"close"},
				"Set-Cookie": {"a=1", "b=2"}, "Location": {"http://elsewhere.example/"}, "Alt-Svc": {`h3="elsewhere.example:443"`},
				"X-Turngate-Request-Id": {"req_forged"}, "X-Turngate-Error": {"forged"}, "X-Turngate-Other": {"forged"},
				"Cache-Control": {"max-age=60"},
			}
			for k, v := range responseHeaders() {
				h.Set(k, v)
			}
			tc.turn.Header = h
			r := newRig(t, nil, tc.turn)
			got := r.post([]byte(`{"model":"m"}`), nil)
			for k, v := range responseHeaders() {
				r.wantHeader(got, k, v)
			}
			for k, v := range tc.own {
				r.wantHeader(got, k, v)
			}
			for _, k := range []string{"X-Hop", "Keep-Alive", "Proxy-Authenticate", "Upgrade", "Proxy-Connection", "Set-Cookie", "Location", "Alt-Svc", "X-Turngate-Other"} {
				r.wantHeader(got, k, "")
			}
			if tc.own["X-Turngate-Error"] == "" {
				r.wantHeader(got, "X-Turngate-Error", "")
			}
			if id := got.header.Get("X-Turngate-Request-Id"); !strings.HasPrefix(id, "req_") || id == "req_forged" {
				t.Errorf("request id %q", id)
			}
			if id := r.lastTurn().RequestID; got.header.Get("X-Turngate-Request-Id") != id {
				t.Errorf("request id is %s in the list of turns", id)
			}
		})
	}
}

// TestResponseHeadersNothingAdded holds that openai-model and the like are not
// made up.
func TestResponseHeadersNothingAdded(t *testing.T) {
	r := newRig(t, nil, new(mock.Stream).Completed().JSONTurn())
	got := r.post([]byte(`{"model":"m"}`), nil)
	want := []string{"Content-Length", "Content-Type", "Date", "X-Turngate-Request-Id"}
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(got.header))); diff != "" {
		t.Errorf("headers (-want +got):\n%s", diff)
	}
}
