package main

import (
	"bytes"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestSlowHead sends the head of a request and never ends it. The connection is
// closed at the limit (rule O4).
func TestSlowHead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, conn := net.Pipe()
		srv := newHTTPServer(http.NotFoundHandler(), slog.New(slog.DiscardHandler))
		ln := &pipeListener{conns: make(chan net.Conn, 1), closed: make(chan struct{})}
		ln.conns <- conn
		go srv.Serve(ln)
		defer srv.Close()

		start := time.Now()
		if _, err := io.WriteString(client, "GET / HTTP/1.1\r\nHost: turngate\r\n"); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadAll(client); err != nil {
			t.Fatal(err)
		}
		if got := time.Since(start); got != headerTimeout {
			t.Errorf("closed after %v, want %v", got, headerTimeout)
		}
	})
}

// pipeListener hands out connections that were made elsewhere.
type pipeListener struct {
	conns  chan net.Conn
	closed chan struct{}
}

func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *pipeListener) Close() error {
	close(l.closed)
	return nil
}

func (l *pipeListener) Addr() net.Addr { return &net.TCPAddr{} }

func TestHeaderSize(t *testing.T) {
	in := startServe(t, nil)
	for size, want := range map[int]int{
		64 << 10: http.StatusNotFound, // of the path, so the head was read
		1 << 20:  http.StatusRequestHeaderFieldsTooLarge,
	} {
		req, err := http.NewRequest(http.MethodGet, in.url+"/nonsense", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("X-Long", strings.Repeat("x", size))
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != want {
			t.Errorf("a head of %d bytes: status %d, want %d", size, resp.StatusCode, want)
		}
	}
}

func TestLogger(t *testing.T) {
	level := new(slog.LevelVar)
	for format, want := range map[string]string{
		"":     `"msg":"shown"`, // a buffer is no terminal
		"json": `"msg":"shown"`,
		"text": `msg=shown`,
	} {
		var buf bytes.Buffer
		log := newLogger(&buf, format, level)
		log.Debug("hidden")
		log.Info("shown")
		if got := buf.String(); !strings.Contains(got, want) || strings.Contains(got, "hidden") {
			t.Errorf("format %q: %s", format, got)
		}
	}
}
