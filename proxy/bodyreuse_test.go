package proxy

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"sync"
	"testing"

	"turngate/proxy/mock"
)

// TestRequestBufferIsNotReusedWhileSent is golang/go#40747 for pooled bodies:
// an upstream begins its answer at once, and reads the request only when others
// have sent theirs. What it then reads must be what this client sent, although
// the proxy has had its answer's head long before.
func TestRequestBufferIsNotReusedWhileSent(t *testing.T) {
	const early, others, size = 2, 3, 10 << 20 // more than sockets hold
	stream := new(mock.Stream).Created()
	created := stream.Len()
	answer := stream.Completed().Bytes()
	read := make(chan struct{})
	upstream := http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		rc := http.NewResponseController(w)
		if err := rc.EnableFullDuplex(); err != nil {
			t.Error(err)
		}
		w.Header().Set("Content-Type", "text/event-stream")
		if req.Header.Get("X-Early") != "" {
			w.Write(answer[:created])
			rc.Flush()
			<-read
		}
		got, err := io.ReadAll(req.Body)
		if want := bodyOf(req.Header.Get("X-Letter")[0], size); err != nil || !bytes.Equal(got, want) {
			t.Errorf("the request of %s came with other bytes (%v)", req.Header.Get("X-Letter"), err)
		}
		if req.Header.Get("X-Early") == "" {
			w.Write(answer[:created])
		}
		w.Write(answer[created:])
	})
	r := newRig(t, func(c *Config) { c.Upstreams[0].BaseURL = newServer(t, upstream) })
	var begun, ended sync.WaitGroup
	begun.Add(early)
	for i := range early {
		ended.Go(func() {
			req, err := http.NewRequest(http.MethodPost, r.base+"/responses", bytes.NewReader(bodyOf('a'+byte(i), size)))
			if err != nil {
				t.Error(err)
			}
			req.Header.Set("X-Early", "1")
			req.Header.Set("X-Letter", string('a'+rune(i)))
			resp, err := r.client.Do(req)
			begun.Done() // its head came with the first event
			if err != nil {
				t.Error(err)
				return
			}
			defer resp.Body.Close()
			if got, err := io.ReadAll(resp.Body); err != nil || !bytes.Equal(got, answer) {
				t.Errorf("the client got %q (%v)", got, err)
			}
		})
	}
	begun.Wait()
	for i := range others {
		got := r.post(bodyOf('n'+byte(i), size), map[string]string{"X-Letter": string('n' + rune(i))})
		if got.status != http.StatusOK || !bytes.Equal(got.body, answer) {
			t.Errorf("the client got %d %q", got.status, got.body)
		}
	}
	close(read)
	ended.Wait()
}

// TestUpstreamAnswersWithoutReading: a whole answer to a request that is still
// being sent reaches the client whole, and the connection is not used again.
func TestUpstreamAnswersWithoutReading(t *testing.T) {
	turn := textTurn()
	upstream := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		w.Write(turn.Body)
	})
	r := newRig(t, func(c *Config) { c.Upstreams[0].BaseURL = newServer(t, upstream) })
	for range 3 {
		if got := r.post(bodyOf('x', 200<<10), nil); got.status != http.StatusOK || !bytes.Equal(got.body, turn.Body) {
			t.Errorf("the client got %d %q", got.status, got.body)
		}
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
