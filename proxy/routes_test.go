package proxy

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"turngate/proxy/mock"
)

// anyTurn answers whatever path is asked for, so that what arrives upstream is
// seen by its path.
func anyTurn(method, path string) mock.Turn {
	return mock.Turn{Route: method + " " + path, Body: []byte(`{"object":"thing"}`)}
}

// TestRoutesPassed walks the contract's table of endpoints, with the client's
// own credentials and with a key of the operator's.
func TestRoutesPassed(t *testing.T) {
	for _, tc := range []struct {
		method, path string
		withKey      bool // goes upstream then too
	}{
		{"GET", "/responses/resp_1", true},
		{"GET", "/responses/resp_1?include=a&include=b", true},
		{"DELETE", "/responses/resp_1", true},
		{"GET", "/responses/resp_1/input_items", true},
		{"GET", "/responses/resp_1/input_items?after=x&limit=2", true},
		{"POST", "/responses/resp_1/cancel", true},
		{"POST", "/responses/compact", true}, // K-H3
		{"POST", "/responses/input_tokens", true},
		{"GET", "/models", true},
		{"GET", "/models?client_version=0.171.0", true},
		{"GET", "/models/vendor/model:free", true},
		{"HEAD", "/models", true},
		{"GET", "/responses/a%2Fb", true},
		{"GET", "/responses/a%2Fb/input_items", true},

		{"GET", "/responses", false},
		{"HEAD", "/responses", false},
		{"PUT", "/responses", false},
		{"POST", "/models", false},
		{"DELETE", "/models/m", false},
		{"POST", "/responses/resp_1", false},
		{"GET", "/responses/resp_1/cancel", false},
		{"GET", "/responses/resp_1/x", false},
		{"GET", "/responses/resp_1/input_items/x", false},
		{"GET", "/files", false},
		{"POST", "/chat/completions", false},
		{"POST", "/images/generations", false},
		{"DELETE", "/files/f_1?x=1", false},
		{"OPTIONS", "/responses", false},
	} {
		path, query, _ := strings.Cut(tc.path, "?")
		for name, configure := range map[string]func(*Config){
			"client": nil,
			"key":    withKey,
			"user":   func(c *Config) { c.Upstreams[0].BaseURL.User = url.UserPassword("u", "p") },
		} {
			t.Run(fmt.Sprintf("%s %s %s", tc.method, tc.path, name), func(t *testing.T) {
				r := newRig(t, configure, anyTurn(tc.method, "/v1"+path))
				got := r.do(tc.method, tc.path, nil, nil)
				if !tc.withKey && configure != nil {
					r.notAsked()
					if tc.method != http.MethodHead { // which has no body to look at
						r.wantError(got, http.StatusNotFound, "not_found")
					}
					return
				}
				if got.status != http.StatusOK || tc.method != http.MethodHead && string(got.body) != `{"object":"thing"}` {
					t.Errorf("the client got %d %q", got.status, got.body)
				}
				if asked := r.asked(); asked.Method != tc.method || asked.Path != "/v1"+path || asked.Query != query {
					t.Errorf("the upstream was asked %s %s?%s", asked.Method, asked.Path, asked.Query)
				}
				if got.header.Get("X-Turngate-Request-Id") == "" || got.header.Get("X-Turngate-Error") != "" {
					t.Errorf("headers %v", got.header)
				}
			})
		}
	}
}

// raw sends a request with this target as it is: http.Client cleans some.
func (r *rig) raw(method, target, header, body string) int {
	r.Helper()
	base, err := url.Parse(r.base)
	if err != nil {
		r.Fatal(err)
	}
	conn, err := net.Dial("tcp", base.Host)
	if err != nil {
		r.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "%s %s HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Length: %d\r\n%s\r\n%s", method, target, len(body), header, body)
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		r.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.Header.Get("X-Turngate-Request-Id") == "" {
		r.Error("no request id")
	}
	return resp.StatusCode
}

// TestRouteToTurnsIsGuarded sends an undeclared call back on every way to the
// turn endpoint: each is refused, or is no way (G12).
func TestRouteToTurnsIsGuarded(t *testing.T) {
	call := new(mock.Stream).Created().Call(0, mock.FC("rm_all", `{}`)).Completed()
	for target, status := range map[string]int{
		"/v1/responses":                 502,
		"/v1//responses":                502,
		"//v1/responses":                502,
		"/v1/x/../responses":            502,
		"/v1/responses/":                502,
		"/v1/responses/.":               502,
		"/v1/responses/x/..":            502,
		"/v1/%72esponses":               502,
		"/v1%2fresponses":               502,
		"/v1/x%2f..%2Fresponses":        502,
		"/v1/responses%2F":              502,
		"/v1/responses?x=/v1/models":    502,
		"http://other/v1/responses":     502,
		"/v1/Responses":                 404,
		"/v1/responses;x=1":             404,
		"/v1/responses%00":              404,
		"/v1/responses%20":              404,
		"/V1/responses":                 404,
		"/responses":                    404,
		"/v1":                           404,
		"/":                             404,
		"/v1/../responses":              404,
		"/v1/responses/..%2F..%2Fadmin": 404,
		"/metrics":                      404,
		"/turns":                        404,
	} {
		t.Run(target, func(t *testing.T) {
			r := newRig(t, nil, call.JSONTurn())
			if got := r.raw("POST", target, "", string(requestBody(t, "one-tool", false))); got != status {
				t.Errorf("status %d, want %d", got, status)
			}
			if status == 404 {
				r.notAsked()
				return
			}
			if asked := r.asked(); asked.Path != "/v1/responses" {
				t.Errorf("the upstream was asked for %s", asked.Path)
			}
			if got := r.lastTurn(); got.Outcome != string(outcomeRefused) {
				t.Errorf("outcome %s", got.Outcome)
			}
		})
	}
}

// TestKH1Upgrade answers WebSocket at once, so that Codex uses HTTP, and takes
// no other offer for one.
func TestKH1Upgrade(t *testing.T) {
	r := newRig(t, nil, textTurn(), modelsTurn())
	websocket := map[string]string{"Connection": "keep-alive, Upgrade", "Upgrade": "WebSocket",
		"Sec-Websocket-Key": "dGhlIHNhbXBsZSBub25jZQ==", "Sec-Websocket-Version": "13"}
	r.wantError(r.do("GET", "/responses", nil, websocket), http.StatusUpgradeRequired, "websocket_unsupported")
	r.wantError(r.do("GET", "//responses/", nil, websocket), http.StatusUpgradeRequired, "websocket_unsupported")
	r.notAsked()

	// Java's HTTP client offers HTTP/2 on each request.
	h2c := "Upgrade: h2c\r\nHTTP2-Settings: AAEAAEAAAAIAAAABAAMAAABkAAQBAAAAAAUAAEAA\r\nConnection: Upgrade, HTTP2-Settings\r\n"
	if got := r.raw("POST", "/v1/responses", h2c, `{"model":"m","stream":true}`); got != http.StatusOK {
		t.Errorf("status %d for a turn that offers an upgrade", got)
	}
	if got := r.raw("GET", "/v1/models", "Upgrade: websocket\r\n", ""); got != http.StatusOK {
		t.Errorf("status %d for models", got)
	}
	for _, asked := range r.upstream.Requests() {
		for _, k := range []string{"Upgrade", "Http2-Settings", "Connection"} {
			if v, ok := asked.Header[k]; ok {
				t.Errorf("the upstream got %s: %q", k, v)
			}
		}
	}
}
