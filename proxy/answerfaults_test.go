package proxy

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"turngate/proxy/mock"
)

// TestS7bAnswersThatAreNone sends, in place of a response, what must not pass
// for one. Nothing was relayed yet, so each gets a status of its own.
func TestS7bAnswersThatAreNone(t *testing.T) {
	answer := new(mock.Stream).CompletedWith(mock.Message("hello")).JSON()
	protocol := ending{502, "upstream_error", "http_error", "protocol", "", "upstream_protocol_error"}
	for _, tc := range []struct {
		name string
		turn mock.Turn
		code string
		ending
	}{
		{"K-B1 login page", mock.Turn{Body: []byte("<!doctype html><title>Sign in to secret-host</title>"), ContentType: "text/html"}, "", protocol},
		{"page as event stream", mock.Turn{Body: []byte("<html>secret-host</html>"), ContentType: "text/event-stream"}, "", protocol},
		{"plain text", mock.Turn{Body: []byte("secret-host is busy"), ContentType: "text/plain"}, "", protocol},
		{"empty", mock.Turn{ContentType: "text/event-stream"}, "", protocol},
		{"empty JSON", mock.Turn{ContentType: "application/json"}, "", protocol},
		{"204", mock.Turn{Status: 204}, "", protocol},
		{"JSON that is no response", mock.Turn{Body: []byte(`{"secret-host":1}`)}, "", protocol},
		{"JSON list", mock.Turn{Body: []byte(`["secret-host"]`)}, "", protocol},
		{"broken JSON", mock.Turn{Body: []byte(`{"output":[`)}, "", protocol},
		{"K-B2 rate limit as JSON", mock.Turn{Body: []byte(`{"error":{"code":"rate_limit_exceeded","message":"slow down"}}`)}, "rate_limit_exceeded",
			ending{429, "upstream_error", "http_error", "error_body", "", "upstream_error"}},
		{"K-B2 other error as JSON", mock.Turn{Body: []byte(`{"error":{"code":"model_overloaded","message":"busy"}}`)}, "model_overloaded",
			ending{502, "upstream_error", "http_error", "error_body", "", "upstream_error"}},
		{"stall before the first event", mock.Turn{Body: []byte("data: x\n\n"), Fault: mock.Stall, At: 0}, "upstream_timeout",
			ending{504, "timeout", "timeout", "timeout", "idle timeout", "upstream_timeout"}},
		{"stall inside the first event", mock.Turn{Body: []byte("data: x\n\n"), Fault: mock.Stall, At: 7}, "upstream_timeout",
			ending{504, "timeout", "timeout", "timeout", "idle timeout", "upstream_timeout"}},
		{"stall in JSON", mock.Turn{Body: answer, Fault: mock.Stall, At: 20}, "upstream_timeout",
			ending{504, "timeout", "timeout", "timeout", "idle timeout", "upstream_timeout"}},
		{"reset before the first event", mock.Turn{Body: []byte("data: x\n\n"), Fault: mock.Reset, At: 0}, "upstream_unreachable",
			ending{502, "upstream_error", "truncated", "reset", "reset by peer", "upstream_unreachable"}},
		{"reset in JSON", mock.Turn{Body: answer, Fault: mock.Reset, At: 20}, "upstream_unreachable",
			ending{502, "upstream_error", "truncated", "reset", "reset by peer", "upstream_unreachable"}},
		{"JSON without its final chunk", mock.Turn{Body: answer, Fault: mock.Abort, At: 20}, "upstream_unreachable",
			ending{502, "upstream_error", "truncated", "reset", "unexpected EOF", "upstream_unreachable"}},
		{"no answer, connection closed", mock.Turn{Fault: mock.Abort, At: -1}, "upstream_unreachable",
			ending{502, "upstream_error", "unreachable", "reset", "EOF", "upstream_unreachable"}},
		{"no answer, connection reset", mock.Turn{Fault: mock.Reset, At: -1}, "upstream_unreachable",
			ending{502, "upstream_error", "unreachable", "reset", "reset by peer", "upstream_unreachable"}},
		{"no head in time", mock.Turn{Fault: mock.Stall, At: -1}, "upstream_timeout",
			ending{504, "timeout", "timeout", "timeout", "header timeout", "upstream_timeout"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			withRig(t, tc.turn, func(rig *rig) {
				got := rig.post(requestBody(rig.T, "one-tool", true), nil)
				if got.err != nil {
					rig.Error(got.err)
				}
				if tc.ending.code != "upstream_error" {
					if code := errorCode(rig, got); code != tc.ending.code {
						rig.Errorf("error code %q, want %q", code, tc.ending.code)
					}
				} else if string(got.body) != string(tc.turn.Body) {
					rig.Errorf("the error's body did not pass: %q", got.body)
				}
				record := rig.check(got, tc.ending, "secret-host", "Sign in")
				if tc.turn.Fault == mock.Stall && record.DurationMS != 30_000 {
					rig.Errorf("the turn took %d ms, want the limit", record.DurationMS)
				}
			})
		})
	}
}

// cannedUpstream is a server that reads a request and answers each connection with
// these bytes.
func cannedUpstream(t *testing.T, reply string) *url.URL {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			if req, err := http.ReadRequest(bufio.NewReader(conn)); err == nil {
				io.Copy(io.Discard, req.Body) // a close with bytes unread would be a reset
			}
			io.WriteString(conn, reply)
			conn.Close()
		}
	}()
	t.Cleanup(func() {
		l.Close()
		<-done
	})
	return &url.URL{Scheme: "http", Host: l.Addr().String(), Path: "/v1"}
}

// TestE2BrokenHTTP answers with what is not HTTP, or not the HTTP that was asked
// for.
func TestE2BrokenHTTP(t *testing.T) {
	clean := string(new(mock.Stream).Created().Completed().Bytes())
	whole := "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n" + clean
	unreachable := func(kind string) ending {
		return ending{502, "upstream_error", "unreachable", kind, "", "upstream_unreachable"}
	}
	for _, tc := range []struct {
		name, reply string
		ending
	}{
		{"control: a whole answer", whole, ending{200, "completed", "completed", "", "", ""}},
		{"103 before the answer", "HTTP/1.1 103 Early Hints\r\nLink: </secret-host>\r\n\r\n" + whole, ending{200, "completed", "completed", "", "", ""}},
		{"garbage", "SSH-2.0-secret-host\r\n", unreachable("protocol")},
		{"half a head", "HTTP/1.1 200 OK\r\nX-Host: secret-host", unreachable("reset")},
		{"closed", "", unreachable("reset")},
		{"101", "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nX-Host: secret-host\r\n\r\n" + clean,
			ending{502, "upstream_error", "http_error", "protocol", "101", "upstream_protocol_error"}},
		{"endless 1xx", strings.Repeat("HTTP/1.1 103 Early Hints\r\n\r\n", 20_000) + whole, unreachable("protocol")},
		{"less than its Content-Length", "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{\"output\":",
			ending{502, "upstream_error", "truncated", "reset", "unexpected EOF", "upstream_unreachable"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			rig := newRig(t, func(c *Config) { c.Upstreams[0].BaseURL = cannedUpstream(t, tc.reply) })
			got := rig.post(requestBody(t, "one-tool", true), nil)
			if tc.ending.code != "" && errorCode(rig, got) != tc.ending.code {
				t.Errorf("got %q", got.body)
			}
			if tc.ending.code == "" && string(got.body) != clean {
				t.Errorf("got %q", got.body)
			}
			rig.check(got, tc.ending, "secret-host", "SSH")
		})
	}
}

// TestKB6ClosedPort has nobody behind the base URL.
func TestKB6ClosedPort(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	base := &url.URL{Scheme: "http", Host: l.Addr().String(), Path: "/v1"}
	l.Close()
	rig := newRig(t, func(c *Config) { c.Upstreams[0].BaseURL = base })
	got := rig.post(requestBody(t, "one-tool", true), nil)
	if code := errorCode(rig, got); code != "upstream_unreachable" {
		t.Errorf("error code %q", code)
	}
	rig.check(got, ending{http.StatusBadGateway, "upstream_error", "unreachable", "connect", "connection refused", "upstream_unreachable"})
}
