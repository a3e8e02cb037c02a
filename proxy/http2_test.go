package proxy

import (
	"bytes"
	"crypto/tls"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// A TLS connection is written to by more than the goroutine of a turn: by the
// other turns of HTTP/2, by its flow control, by TLS itself. What was held back
// there for one turn corrupted the others, or waited for what it held itself.
func TestTurnsShareAnHTTP2Connection(t *testing.T) {
	stream := opening + strings.Repeat("event: x\ndata: {\"type\":\"x\",\"text\":\""+strings.Repeat("x", 30_000)+"\"}\n\n", 20) + closing
	r := newRig(t, func(c *Config) {
		c.Upstreams[0].BaseURL = newServer(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			io.WriteString(w, stream)
		}))
	})
	server := httptest.NewUnstartedServer(r.proxy.Handler())
	server.Listener = r.proxy.Listener(server.Listener)
	server.Config.ConnContext = ConnContext
	server.EnableHTTP2 = true
	server.StartTLS()
	t.Cleanup(server.Close)
	client := &http.Client{Transport: &http.Transport{
		ForceAttemptHTTP2: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true},
		HTTP2: &http.HTTP2Config{MaxReceiveBufferPerStream: 16 << 10},
	}}
	t.Cleanup(client.CloseIdleConnections)
	turn := func() {
		resp, err := client.Post(server.URL+"/v1/responses", "application/json", bytes.NewReader(requestBody(t, "one-tool", true)))
		if err != nil {
			t.Error(err)
			return
		}
		defer resp.Body.Close()
		got, err := io.ReadAll(resp.Body)
		if err != nil || string(got) != stream || resp.ProtoMajor != 2 {
			t.Errorf("%s: %d bytes of %d, %v", resp.Proto, len(got), len(stream), err)
		}
	}
	turn()
	var all sync.WaitGroup
	for range 4 {
		all.Go(turn)
	}
	all.Wait()
}
