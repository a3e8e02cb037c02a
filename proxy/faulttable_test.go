package proxy

import (
	"crypto/tls"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"turngate/proxy/mock"
)

// fault is a way in which a turn goes wrong, and what clients are told of it.
type fault struct {
	configure func(*testing.T, *Config)
	turn      mock.Turn
	body      string // "" is a plain request for a stream
	header    map[string]string

	status     int    // for clients in general, with code
	code       string // of turngate's own error; "" means that the upstream's body comes verbatim
	param      string
	retry      bool   // a retry may cure it
	retryAfter string // for clients in general

	codex   string // error.code to a Codex
	inJSON  bool   // to a Codex HTTP 400, else 200 and response.failed
	message string // part of the message, to both
	kind    string // in turngate_upstream_errors_total
	outcome outcome
}

// upstreamIs makes a handler the upstream.
func upstreamIs(h http.HandlerFunc) func(*testing.T, *Config) {
	return func(t *testing.T, c *Config) { c.Upstreams[0].BaseURL = newServer(t, h) }
}

// rawUpstream answers every connection with these bytes, then closes it.
func rawUpstream(text string) func(*testing.T, *Config) {
	return upstreamIs(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			panic(err)
		}
		io.WriteString(conn, text)
		conn.Close()
	})
}

func faults() map[string]fault {
	errorBody := func(code, message string) []byte {
		return []byte(`{ "error": {"message":"` + message + `","type":"t","code":"` + code + `"}, "more":1}`)
	}
	key := func(_ *testing.T, c *Config) { withKey(c) }
	return map[string]fault{
		"invalid_json":  {body: `{`, status: 400, code: "invalid_json", codex: "invalid_prompt", inJSON: true, outcome: outcomeLocalError},
		"duplicate key": {body: `{"model":1,"model":1}`, status: 400, code: "invalid_json", param: "model", codex: "invalid_prompt", inJSON: true, outcome: outcomeLocalError},
		"encoding":      {header: map[string]string{"Content-Encoding": "br"}, status: 415, code: "unsupported_content_encoding", codex: "invalid_prompt", inJSON: true, outcome: outcomeLocalError},
		"too large": {configure: func(_ *testing.T, c *Config) { c.MaxRequestBytes = 3 }, status: 413, code: "request_too_large",
			codex: "invalid_prompt", inJSON: true, outcome: outcomeLocalError},
		"model": {configure: func(_ *testing.T, c *Config) { c.Upstreams[0].Models = []string{"other-*"} }, status: 404, code: "model_not_found",
			param: "model", codex: "invalid_prompt", inJSON: true, message: `takes the model \"m\"`, outcome: outcomeLocalError},

		"K-B6 port closed": {configure: func(t *testing.T, c *Config) {
			ln, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			c.Upstreams[0].BaseURL.Host = ln.Addr().String()
			ln.Close()
		}, status: 502, code: "upstream_unreachable", retry: true, codex: "server_error", kind: "connect", outcome: outcomeUpstreamError},
		"TLS": {configure: func(_ *testing.T, c *Config) { c.Upstreams[0].BaseURL.Scheme = "https" },
			status: 502, code: "upstream_unreachable", retry: true, codex: "server_error", kind: "tls", outcome: outcomeUpstreamError},
		"certificate": {configure: func(t *testing.T, c *Config) {
			s := httptest.NewUnstartedServer(http.NotFoundHandler())
			s.Config.ErrorLog = log.New(io.Discard, "", 0)
			s.TLS = &tls.Config{MinVersion: tls.VersionTLS13}
			s.StartTLS()
			t.Cleanup(s.Close)
			c.Upstreams[0].BaseURL.Scheme, c.Upstreams[0].BaseURL.Host = "https", s.Listener.Addr().String()
		}, status: 502, code: "upstream_unreachable", retry: true, codex: "server_error", kind: "tls", outcome: outcomeUpstreamError},
		"reset":       {turn: mock.Turn{Fault: mock.Reset, At: -1}, status: 502, code: "upstream_unreachable", retry: true, codex: "server_error", kind: "reset", outcome: outcomeUpstreamError},
		"close":       {turn: mock.Turn{Fault: mock.Abort, At: -1}, status: 502, code: "upstream_unreachable", retry: true, codex: "server_error", kind: "reset", outcome: outcomeUpstreamError},
		"no HTTP":     {configure: rawUpstream("SECRET says 127.0.0.1:1\r\n\r\n"), status: 502, code: "upstream_unreachable", retry: true, codex: "server_error", kind: "protocol", outcome: outcomeUpstreamError},
		"half a head": {configure: rawUpstream("HTTP/1.1 200 OK\r\nContent-Type: text"), status: 502, code: "upstream_unreachable", retry: true, codex: "server_error", kind: "reset", outcome: outcomeUpstreamError},
		"head too large": {configure: rawUpstream("HTTP/1.1 200 OK\r\nX: " + strings.Repeat("SECRET", 50_000) + "\r\n\r\n"),
			status: 502, code: "upstream_unreachable", retry: true, codex: "server_error", kind: "protocol", outcome: outcomeUpstreamError},
		"bad chunk": {configure: rawUpstream("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nSECRET\r\n{\r\n"),
			status: 502, code: "upstream_unreachable", retry: true, codex: "server_error", kind: "reset", outcome: outcomeUpstreamError},
		"cut answer": {configure: rawUpstream("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{\"object\":\"response\"}"),
			status: 502, code: "upstream_unreachable", retry: true, codex: "server_error", kind: "reset", outcome: outcomeUpstreamError},
		"no head in time": {configure: func(_ *testing.T, c *Config) { c.HeaderTimeout = 20 * time.Millisecond }, turn: mock.Turn{Fault: mock.Stall, At: -1},
			status: 504, code: "upstream_timeout", retry: true, codex: "server_error", kind: "timeout", outcome: outcomeTimeout},
		"silent body": {configure: func(_ *testing.T, c *Config) { c.Upstreams[0].IdleTimeout = 20 * time.Millisecond }, turn: mock.Turn{Fault: mock.Stall, Body: []byte(`{"object"`), At: 9},
			status: 504, code: "upstream_timeout", retry: true, codex: "upstream_timeout", kind: "timeout", outcome: outcomeTimeout},
		"silent encoding": {configure: func(_ *testing.T, c *Config) { c.Upstreams[0].IdleTimeout = 20 * time.Millisecond },
			turn:   mock.Turn{Fault: mock.Stall, ContentType: "text/event-stream", Header: http.Header{"Content-Encoding": {"gzip"}}},
			status: 504, code: "upstream_timeout", retry: true, codex: "upstream_timeout", kind: "timeout", outcome: outcomeTimeout},

		"K-X1 redirect": {turn: mock.Turn{Redirect: "http://SECRET.example/v1/responses"}, status: 502, code: "upstream_protocol_error", codex: "invalid_prompt", inJSON: true, kind: "protocol", outcome: outcomeUpstreamError},
		"303":           {turn: mock.Turn{Status: 303, Redirect: "/v1/SECRET"}, status: 502, code: "upstream_protocol_error", codex: "invalid_prompt", inJSON: true, kind: "protocol", outcome: outcomeUpstreamError},
		"304":           {turn: mock.Turn{Status: 304}, status: 502, code: "upstream_protocol_error", codex: "invalid_prompt", inJSON: true, kind: "protocol", outcome: outcomeUpstreamError},
		"K-B1 page":     {turn: mock.Turn{Body: []byte("<html>SECRET login"), ContentType: "text/html"}, status: 502, code: "upstream_protocol_error", codex: "invalid_prompt", inJSON: true, kind: "protocol", outcome: outcomeUpstreamError},
		"K-B1 empty":    {turn: mock.Turn{}, status: 502, code: "upstream_protocol_error", codex: "invalid_prompt", inJSON: true, kind: "protocol", outcome: outcomeUpstreamError},
		"other JSON":    {turn: mock.Turn{Body: []byte(`{"SECRET":1}`)}, status: 502, code: "upstream_protocol_error", codex: "invalid_prompt", inJSON: true, kind: "protocol", outcome: outcomeUpstreamError},
		"unknown encoding": {turn: mock.Turn{Body: []byte(`{}`), Header: http.Header{"Content-Encoding": {"SECRET"}}}, status: 502, code: "upstream_protocol_error",
			codex: "invalid_prompt", inJSON: true, kind: "protocol", outcome: outcomeUpstreamError},

		"E3a 401": {configure: key, turn: mock.Turn{Status: 401, Body: errorBody("invalid_api_key", "Incorrect API key: SECRET***1796")},
			status: 502, code: "upstream_unauthorized", codex: "invalid_prompt", kind: "unauthorized", outcome: outcomeUpstreamError},
		"E3a 403": {configure: key, turn: mock.Turn{Status: 403, Body: []byte("<SECRET>")},
			status: 502, code: "upstream_unauthorized", codex: "invalid_prompt", kind: "unauthorized", outcome: outcomeUpstreamError},
		"400 with the key": {configure: key, turn: mock.Turn{Status: 418, Body: errorBody("x", "SECRET sk-operator-1796 is wrong")},
			status: 418, code: "upstream_error", retry: true, codex: "", kind: "http_4xx", outcome: outcomeUpstreamError},
		"500 with the key": {configure: key, turn: mock.Turn{Status: 500, Body: errorBody("x", "SECRET sk-operator-1796 is wrong")},
			status: 500, code: "upstream_error", retry: true, codex: "server_error", kind: "http_5xx", outcome: outcomeUpstreamError},

		"E3 400":       {turn: mock.Turn{Status: 400, Body: errorBody("bad", "no such thing")}, status: 400, kind: "http_4xx", outcome: outcomeUpstreamError},
		"E3 401":       {turn: mock.Turn{Status: 401, Body: errorBody("invalid_api_key", "your own")}, status: 401, kind: "http_4xx", outcome: outcomeUpstreamError},
		"E3 429":       {turn: mock.Turn{Status: 429, Body: errorBody("rate_limit_exceeded", "slow"), Header: http.Header{"Retry-After": {"9"}}}, status: 429, retryAfter: "9", kind: "http_4xx", outcome: outcomeUpstreamError},
		"E3 text":      {turn: mock.Turn{Status: 404, Body: []byte("SECRET page"), ContentType: "text/html"}, status: 404, code: "upstream_error", retry: true, message: "404 Not Found", kind: "http_4xx", outcome: outcomeUpstreamError},
		"E3 broken":    {turn: mock.Turn{Status: 400, Body: []byte(`{"error":"SECRET`)}, status: 400, code: "upstream_error", retry: true, kind: "http_4xx", outcome: outcomeUpstreamError},
		"E3 nothing":   {turn: mock.Turn{Status: 503, Body: nil}, status: 503, code: "upstream_error", retry: true, codex: "server_error", kind: "http_5xx", outcome: outcomeUpstreamError},
		"K-X8 503":     {turn: mock.Turn{Status: 503, Body: errorBody("overloaded_error", "come back later")}, status: 503, codex: "server_error", message: "come back later", kind: "http_5xx", outcome: outcomeUpstreamError},
		"E3 500 text":  {turn: mock.Turn{Status: 500, Body: []byte("<html>SECRET"), ContentType: "text/html"}, status: 500, code: "upstream_error", retry: true, codex: "server_error", kind: "http_5xx", outcome: outcomeUpstreamError},
		"E3 stalled":   {configure: func(_ *testing.T, c *Config) { c.Upstreams[0].IdleTimeout = 20 * time.Millisecond }, turn: mock.Turn{Status: 502, Body: []byte(`{"error":`), Fault: mock.Stall, At: 5}, status: 502, code: "upstream_error", retry: true, codex: "server_error", kind: "http_5xx", outcome: outcomeUpstreamError},
		"K-B2 limited": {turn: mock.Turn{Body: errorBody("rate_limit_exceeded", "slow down")}, status: 429, codex: "rate_limit_exceeded", message: "slow down", kind: "error_body", outcome: outcomeUpstreamError},
		"K-B2 other":   {turn: mock.Turn{Body: errorBody("strange", "it broke")}, status: 502, codex: "strange", message: "it broke", kind: "error_body", outcome: outcomeUpstreamError},
		"K-B2 key": {configure: key, turn: mock.Turn{Body: errorBody("strange", "SECRET sk-operator-1796")}, status: 502, code: "upstream_protocol_error",
			codex: "invalid_prompt", inJSON: true, kind: "protocol", outcome: outcomeUpstreamError},
	}
}
