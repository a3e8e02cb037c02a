package proxy

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

// TestKH8ImagesGoThroughUnchanged sends 12 MB of images.
func TestKH8ImagesGoThroughUnchanged(t *testing.T) {
	image := make([]byte, 3<<20)
	rnd := rand.NewChaCha8([32]byte{7})
	rnd.Read(image)
	url := `"data:image\/png;base64,` + base64.StdEncoding.EncodeToString(image) + `"`
	item := `{"type":"input_image", "detail" : "auto","image_url":` + url + "}"
	body := []byte(`{"model":"m","stream":true,"input":[{"role":"user","content":[` + item + `,` + item + `,` + item + "]}]\n}")
	if len(body) < 12<<20 {
		t.Fatal("the body is too small")
	}
	r := newRig(t, nil, textTurn())
	if got := r.post(body, nil); got.status != http.StatusOK {
		t.Errorf("status %d", got.status)
	}
	if !bytes.Equal(r.asked().Body, body) {
		t.Error("the upstream got other bytes")
	}

	r = newRig(t, func(c *Config) { c.MaxRequestBytes = 12 << 20 }, textTurn())
	r.wantError(r.post(body, nil), http.StatusRequestEntityTooLarge, "request_too_large")
	r.notAsked()
}

// TestRequestSize has bodies of the limit and one byte more, with and without a
// length that says so beforehand.
func TestRequestSize(t *testing.T) {
	const limit = 100_000
	body := func(n int) []byte {
		const frame = `{"model":"m","input":""}`
		return []byte(strings.Replace(frame, `""`, `"`+strings.Repeat("x", n-len(frame))+`"`, 1))
	}
	r := newRig(t, func(c *Config) { c.MaxRequestBytes = limit }, textTurn())
	chunked := func(path string, b []byte) answer {
		req, err := http.NewRequest(http.MethodPost, r.base+path, io.MultiReader(bytes.NewReader(b)))
		if err != nil {
			t.Fatal(err)
		}
		resp, err := r.client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		a := answer{status: resp.StatusCode, header: resp.Header}
		a.body, a.err = io.ReadAll(resp.Body)
		return a
	}
	for _, path := range []string{"/responses", "/files"} {
		for _, got := range []answer{r.do(http.MethodPost, path, body(limit+1), nil), chunked(path, body(limit+1))} {
			r.wantError(got, http.StatusRequestEntityTooLarge, "request_too_large")
			r.wantHeader(got, "X-Should-Retry", "false")
			if !bytes.Contains(got.body, []byte("100000 bytes")) {
				t.Errorf("the limit is not named: %s", got.body)
			}
		}
	}
	r.notAsked()
	for _, got := range []answer{r.post(body(limit), nil), chunked("/responses", body(limit))} {
		if got.status != http.StatusOK {
			t.Errorf("a body of the limit's size: %d %s", got.status, got.body)
		}
	}
}

// TestE1RequestsThatCannotBeRead are 400 before anyone upstream hears of them.
func TestE1RequestsThatCannotBeRead(t *testing.T) {
	r := newRig(t, nil, textTurn())
	for body, says := range map[string]string{
		"":                                   "",
		" ":                                  "",
		"null":                               "object",
		"[]":                                 "object",
		`"x"`:                                "object",
		"{":                                  "",
		`{"model":"m",}`:                     "",
		`{"model":"m"} {}`:                   "behind",
		`{"model":"m"}x`:                     "behind",
		"\xEF\xBB\xBF{}":                     "",
		`{"model":"m"`:                       "",
		"data: {}":                           "",
		strings.Repeat("[", 6<<20):           "",
		`{"x":` + strings.Repeat("[", 6<<20): "",

		`{"model":"a","model":"b"}`:                                                          "model",
		`{"model":"a","mod\u0065l":"a"}`:                                                     "model",
		`{"stream":true,"stream":false}`:                                                     "stream",
		`{"tools":[],"input":"x","tools":null}`:                                              "tools",
		`{"input":"a","input":[]}`:                                                           "input",
		`{"previous_response_id":"a","x":1,"previous_response_id":"b"}`:                      "previous_response_id",
		`{"store":true,"store":true}`:                                                        "store",
		`{"tools":[{"type":"function","name":"a","name":"b"}]}`:                              "name",
		`{"tools":[{"type":"function","type":"custom","name":"b"}]}`:                         "type",
		`{"input":[{"type":"additional_tools","tools":[],"tools":[]}]}`:                      "tools",
		`{"input":[{"type":"message","type":"additional_tools"}]}`:                           "type",
		`{"tools":[{"type":"namespace","name":"n","tools":[{"name":"a","n\u0061me":"b"}]}]}`: "name",
	} {
		got := r.post([]byte(body), nil)
		r.wantError(got, http.StatusBadRequest, "invalid_json")
		r.wantHeader(got, "X-Should-Retry", "false")
		if message := gjson.GetBytes(got.body, "error.message").String(); !strings.Contains(message, says) || len(message) > 300 {
			t.Errorf("%.80q: the message is %q, want one about %q", body, message, says)
		}
		if typ := gjson.GetBytes(got.body, "error.type").String(); typ != "invalid_request_error" {
			t.Errorf("type %s", typ)
		}
		codex := r.post([]byte(body), map[string]string{"Originator": "codex_exec"})
		r.wantCodexError(codex, "invalid_json")
	}
	r.notAsked()
}

// TestRequestsThatAreOdd are none of turngate's business.
func TestRequestsThatAreOdd(t *testing.T) {
	for _, body := range []string{
		`{}`,
		" \r\n{\"model\":\"m\"}\n ",
		`{"model":7,"stream":"yes","tools":"x","input":{}}`,
		`{"x":1,"x":2,"metadata":{"a":1,"a":2}}`,                                     // acted upon by nobody here
		`{"model":"m","input":"\ud83d"}`,                                             // K-X3
		`{"model":"m","input":[{"type":"message","content":"cut \ud83d\"\\ud83d"}]}`, // K-X3
		"{\"model\":\"m\",\"input\":\"\xff\xfe\"}",
		`{"model":"m","input":"\u0000","temperature":1e400,"n":-0,"e":1.0E+2}`,
		`{"model":"` + strings.Repeat("m", 1<<20) + `"}`,
		`{"input":` + strings.Repeat("[", 9000) + strings.Repeat("]", 9000) + `}`,
	} {
		r := newRig(t, nil, textTurn())
		if got := r.post([]byte(body), nil); got.status != http.StatusOK {
			t.Errorf("%.80q: %d %s", body, got.status, got.body)
			continue
		}
		if got := r.asked().Body; string(got) != body {
			t.Errorf("%.80q: the upstream got %.80q", body, got)
		}
	}
}

// TestClientLeavesInMidBody: nobody upstream hears of half a request, and it is
// not counted as a wrong one, whatever the decoder says of it.
func TestClientLeavesInMidBody(t *testing.T) {
	zipped := string(encode(t, "gzip", bytes.Repeat([]byte("half of it"), 1000)))
	for name, head := range map[string]string{
		"length":  "Content-Length: 1000\r\n\r\n{\"model\":\"m\"",
		"chunked": "Transfer-Encoding: chunked\r\n\r\nc\r\n{\"model\":\"m\"\r\n",
		"chunk":   "Transfer-Encoding: chunked\r\n\r\nff\r\n{\"model\"",
		"gzip":    "Content-Encoding: gzip\r\nContent-Length: 1000\r\n\r\n" + zipped[:20],
		"header":  "Content-Encoding: gzip\r\nContent-Length: 1000\r\n\r\n" + zipped[:5],
		"zstd":    "Content-Encoding: zstd\r\nContent-Length: 1000\r\n\r\n" + string(zstdBomb(3)[:7]),
	} {
		for _, path := range []string{"/v1/responses", "/v1/files"} {
			t.Run(name+path, func(t *testing.T) {
				r := newRig(t, nil, textTurn())
				over := make(chan struct{})
				server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
					defer close(over)
					r.proxy.Handler().ServeHTTP(w, req)
				}))
				defer server.Close()
				conn, err := net.Dial("tcp", server.Listener.Addr().String())
				if err != nil {
					t.Fatal(err)
				}
				fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: h\r\n%s", path, head)
				conn.Close()
				<-over
				r.notAsked()
				if path == "/v1/responses" {
					if got := r.lastTurn(); got.Outcome != string(outcomeClientGone) {
						t.Errorf("outcome %s %s", got.Outcome, got.Error)
					}
				}
			})
		}
	}
}

// TestHalfClosedClientIsAnswered: a client that ends its half of the connection
// in mid-body must not take silence for a success.
func TestHalfClosedClientIsAnswered(t *testing.T) {
	r := newRig(t, nil, textTurn())
	conn, err := net.Dial("tcp", strings.TrimSuffix(strings.TrimPrefix(r.base, "http://"), "/v1"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprint(conn, "POST /v1/responses HTTP/1.1\r\nHost: h\r\nContent-Length: 100\r\n\r\n{")
	conn.(*net.TCPConn).CloseWrite()
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode < 400 || resp.Header.Get("X-Turngate-Error") == "" {
		t.Errorf("status %d", resp.StatusCode)
	}
	r.notAsked()
}
