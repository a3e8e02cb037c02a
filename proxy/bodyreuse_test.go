package proxy

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
)

// TestRequestBufferIsNotReusedWhileSent is golang/go#40747 for pooled bodies:
// an upstream answers at once, and reads the request only after the client has
// its answer and others have sent theirs. What it then reads must be what this
// client sent, although the proxy's handler has returned long ago.
func TestRequestBufferIsNotReusedWhileSent(t *testing.T) {
	const clients, rounds, size = 8, 4, 1 << 19
	var late atomic.Int64 // bytes read after the answer
	upstream := http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		rc := http.NewResponseController(w)
		if err := rc.EnableFullDuplex(); err != nil {
			t.Error(err)
		}
		if req.Header.Get("X-Wait") != "" { // a whole answer, then the request
			w.Header().Set("Content-Length", "23")
		}
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, `{"object":"response"  }`)
		rc.Flush()
		want := bodyOf(req.Header.Get("X-Letter")[0], size)
		got, _ := io.ReadAll(req.Body) // it may be cut: the proxy need not send all
		if !bytes.HasPrefix(want, got) {
			t.Errorf("the upstream read another client's bytes in the request of %s", req.Header.Get("X-Letter"))
		}
		late.Add(int64(len(got)))
	})
	r := newRig(t, func(c *Config) { c.Upstreams[0].BaseURL = newServer(t, upstream) })
	r.client.Transport.(*http.Transport).MaxIdleConnsPerHost = clients
	var wg sync.WaitGroup
	for i := range clients {
		wg.Go(func() {
			for n := range rounds {
				letter := byte('a' + (i*rounds+n)%26)
				header := map[string]string{"X-Letter": string(letter)}
				if n%2 == 0 {
					header["X-Wait"] = "1"
				}
				got := r.post(bodyOf(letter, size), header)
				if got.status != http.StatusOK || string(got.body) != `{"object":"response"  }` {
					t.Errorf("the client got %d %s", got.status, got.body)
				}
			}
		})
	}
	wg.Wait()
	r.stop()
	if late.Load() == 0 {
		t.Error("nothing was read after an answer")
	}
}

// bodyOf is a request whose every place shows whose it is.
func bodyOf(letter byte, size int) []byte {
	return fmt.Appendf(nil, `{"model":"m","input":"%s"}`, bytes.Repeat([]byte{letter}, size))
}

// TestRequestBufferComesBack: a body whose reader is closed in mid-read, as the
// transport does, is given back once and not before.
func TestRequestBufferComesBack(t *testing.T) {
	r := newRig(t, nil)
	buf := r.proxy.buffers.Get(10)
	b := &body{pool: &r.proxy.buffers, buf: buf, bytes: append(buf.B[:0], "0123456789"...), refs: 1}
	first, second := b.reader(), b.reader()
	b.release()
	part := make([]byte, 4)
	if n, err := first.Read(part); n != 4 || err != nil || string(part) != "0123" {
		t.Errorf("read %q, %v", part[:n], err)
	}
	for range 2 { // twice is once
		if err := first.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := first.Read(part); err != http.ErrBodyReadAfterClose {
		t.Errorf("reading on: %v", err)
	}
	if b.buf == nil {
		t.Fatal("given back while a reader holds it")
	}
	if got, err := io.ReadAll(second); string(got) != "0123456789" || err != nil {
		t.Errorf("read %q, %v", got, err)
	}
	second.Close()
	if b.buf != nil || b.refs != 0 {
		t.Error("not given back")
	}
}
