package proxy

import (
	"net/http"
	"net/url"
	"testing"

	"turngate/proxy/mock"
)

// TestUpstreamBaseURL gives the upstream's base URL a path, a query, a slash at
// its end: requests go below it, and the client's query comes last.
func TestUpstreamBaseURL(t *testing.T) {
	for _, tc := range []struct{ base, path, wantPath, wantQuery string }{
		{"/v1", "/responses", "/v1/responses", ""},
		{"/v1/", "/responses?a=1", "/v1/responses", "a=1"},
		{"", "/responses", "/responses", ""},
		{"/", "/responses", "/responses", ""},
		{"/api/open%20ai/v1", "/models/a%2Fb", "/api/open%20ai/v1/models/a%2Fb", ""},
		{"/x%2Fy/v1", "/models", "/x%2Fy/v1/models", ""},
		{"/openai?api-version=2", "/responses", "/openai/responses", "api-version=2"},
		{"/openai/?api-version=2", "/responses?a=b&c=%2F", "/openai/responses", "api-version=2&a=b&c=%2F"},
		{"/a//b/../c", "/responses", "/a/c/responses", ""},
	} {
		t.Run(tc.base, func(t *testing.T) {
			r := newRig(t, func(c *Config) {
				u, err := url.Parse("http://" + c.Upstreams[0].BaseURL.Host + tc.base)
				if err != nil {
					t.Fatal(err)
				}
				c.Upstreams[0].BaseURL = u
			}, textTurn())
			r.do(http.MethodPost, tc.path, []byte(`{"model":"m","stream":true}`), nil)
			if got := r.asked(); got.Path != tc.wantPath || got.Query != tc.wantQuery {
				t.Errorf("asked for %s?%s, want %s?%s", got.Path, got.Query, tc.wantPath, tc.wantQuery)
			}
		})
	}
}

// TestModelsPassed hands the list of models back as it came, and the errors
// about it too.
func TestModelsPassed(t *testing.T) {
	const list = `{ "models" : [ {"slug":"a"} ] }` + "\n"
	r := newRig(t, withKey, mock.Turn{Route: "GET /v1/models", Body: []byte(list), Header: http.Header{"Etag": {`"7"`}}},
		mock.Turn{Route: "GET /v1/models/x", Status: 404, Body: []byte(`{"error":{"message":"no x"}}`)})
	got := r.do(http.MethodGet, "/models?client_version=0.171.0", nil, nil)
	if got.status != http.StatusOK || string(got.body) != list || got.header.Get("Etag") != `"7"` {
		t.Errorf("%d %q %v", got.status, got.body, got.header)
	}
	got = r.do(http.MethodGet, "/models/x", nil, nil)
	if got.status != http.StatusNotFound || string(got.body) != `{"error":{"message":"no x"}}` || got.header.Get("X-Turngate-Error") != "" {
		t.Errorf("%d %q %v", got.status, got.body, got.header)
	}
}
