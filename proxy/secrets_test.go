package proxy

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"turngate/guard"
	"turngate/proxy/mock"
)

// secretsTurns says a secret in every place of an answer, with every fate.
func secretsTurns() []mock.Turn {
	item := mock.FC("rm_all", `{"a":"S3CRET-arguments"}`)
	stream := new(mock.Stream).Created().Text("S3CRET-text").Completed()
	refused := new(mock.Stream).Created().Call(0, item).Completed()
	header := http.Header{"Set-Cookie": {"S3CRET-cookie"}, "X-Up": {"S3CRET-header"}}
	return []mock.Turn{
		stream.Turn(), stream.JSONTurn(), refused.Turn(), refused.JSONTurn(),
		{Body: new(mock.Stream).Created().Text("S3CRET-text").Bytes()},
		{Body: new(mock.Stream).Created().Error("x", "S3CRET-message").Bytes()},
		{Body: new(mock.Stream).Created().Failed("x", "S3CRET-message").Bytes()},
		{Body: []byte("<html>S3CRET-page"), ContentType: "text/html"},
		{Body: []byte(`{"error":{"message":"S3CRET-message"}}`), Header: header},
		{Body: []byte(`{"S3CRET-body":1}`)},
		{Body: []byte("S3CRET-body"), Header: http.Header{"Content-Encoding": {"gzip"}}},
		{Status: 400, Body: []byte(`{"error":{"message":"S3CRET-message sk-S3CRET-operator"}}`), Header: header},
		{Status: 401, Body: []byte(`{"error":{"message":"S3CRET-message"}}`)},
		{Status: 500, Body: []byte("S3CRET-body")},
		{Redirect: "http://u:S3CRET-password@elsewhere.example/"},
		{Body: new(mock.Stream).Created().Raw("data: {\"type\":\"response.output_item.done\",\"item\":{\"type\":\"function_call\",\"arguments\":\"S3CRET\"\n\n").Bytes()},
		{Fault: mock.Reset, At: -1},
		{Fault: mock.Stall, At: -1},
	}
}

// TestE7NothingSecretIsLogged goes through every fate of a turn with secrets in
// every place, at debug level, and looks at each byte that was logged (K-I6).
func TestE7NothingSecretIsLogged(t *testing.T) {
	for name, configure := range map[string]func(*testing.T, *Config){
		"client": func(*testing.T, *Config) {},
		"report": func(_ *testing.T, c *Config) { c.Upstreams[0].Undeclared = guard.Report },
		"key":    func(_ *testing.T, c *Config) { c.Upstreams[0].Key = "sk-S3CRET-operator" },
		"user":   func(_ *testing.T, c *Config) { c.Upstreams[0].BaseURL.User = url.UserPassword("u", "S3CRET-password") },
		"dead": func(_ *testing.T, c *Config) {
			c.Upstreams[0].BaseURL.User = url.UserPassword("u", "S3CRET-password")
			c.Upstreams[0].BaseURL.Scheme = "https"
			c.Upstreams[0].BaseURL.RawQuery = "key=S3CRET-query"
		},
		"line":   rawUpstream("S3CRET-line\r\n\r\n"),
		"header": rawUpstream("HTTP/1.1 200 OK\r\nS3CRET-header\r\n\r\n"),
		"status": rawUpstream("HTTP/1.1 S3CRET\r\n\r\n"),
		"length": rawUpstream("HTTP/1.1 200 OK\r\nContent-Length: S3CRET\r\n\r\n"),
		"chunk":  rawUpstream("HTTP/1.1 200 OK\r\nTransfer-Encoding: S3CRET\r\n\r\n"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			turns := secretsTurns()
			r := newRig(t, func(c *Config) {
				configure(t, c)
				c.HeaderTimeout = time.Second // ends the last turn
			}, turns...)
			header := map[string]string{"Authorization": "Bearer S3CRET-client", "Api-Key": "S3CRET-api", "X-Api-Key": "S3CRET-xapi",
				"Cookie": "S3CRET-cookie", "X-Codex-Turn-Metadata": "S3CRET-metadata", "Proxy-Authorization": "S3CRET-proxy"}
			body := []byte(strings.Replace(string(requestBody(t, "one-tool", true)), `"hi"`, `"S3CRET-input"`, 1))
			for i := range turns {
				if i%2 == 0 {
					delete(header, "X-Codex-Turn-Metadata")
				}
				r.post(body, header)
			}
			// What is wrong before anyone upstream is asked, and what is no turn.
			r.do("POST", "/responses?key=S3CRET-query", []byte("{S3CRET-broken"), header)
			r.do("POST", "/responses", []byte(`{"S3CRET-body":"S3CRET","model":1,"model":2}`), header)
			r.do("GET", "/files/S3CRET-path?key=S3CRET-query", nil, header)
			r.do("GET", "/models?key=S3CRET-query", nil, header)
			r.stop()
			if got := strings.Count(r.log.String(), `"msg":"turn"`); got != len(turns)+2 {
				t.Errorf("%d turns were logged, want %d", got, len(turns)+2)
			}
			for line := range strings.Lines(r.log.String()) {
				for _, secret := range []string{"S3CRET", "s3cret", "UzNDUkVU", "dTpTM0NSRVQ"} { // and in base 64
					if strings.Contains(line, secret) {
						t.Errorf("logged: %s", line)
					}
				}
			}
			series := r.admin("GET", "/metrics").Body.String() + r.admin("GET", "/turns").Body.String()
			if strings.Contains(series, "S3CRET") {
				t.Error("the admin listener shows a secret")
			}
		})
	}
}

// TestE2CauseIsLogged: what a client is not told, the operator finds under the
// same request id.
func TestE2CauseIsLogged(t *testing.T) {
	r := newRig(t, func(c *Config) { c.Upstreams[0].BaseURL.Scheme = "https" })
	ids := []string{
		r.post([]byte(`{"model":"m"}`), nil).header.Get("X-Turngate-Request-Id"),
		r.do("GET", "/models", nil, nil).header.Get("X-Turngate-Request-Id"),
	}
	r.stop()
	for _, id := range ids {
		found := false
		for line := range strings.Lines(r.log.String()) {
			if strings.Contains(line, `"request_id":"`+id+`"`) {
				found = strings.Contains(line, `"cause":"`) && strings.Contains(line, "tls")
			}
		}
		if !found {
			t.Errorf("no cause under %s in\n%s", id, r.log)
		}
	}
}
