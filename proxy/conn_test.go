package proxy

import (
	"bytes"
	"io"
	"net"
	"testing"

	"turngate/sse"
)

// A body reaches the connection whole, whether it lies in memory (as those of
// turns do) or comes from anywhere.
func TestConnReadFrom(t *testing.T) {
	for _, size := range []int{0, 1, 4 << 10, copySize, copySize + 1, 3*copySize + 7} {
		want := bytes.Repeat([]byte("0123456789abcdef"), size/16+1)[:size]
		for name, src := range map[string]io.Reader{
			"any":    bytes.NewReader(append(bytes.Clone(want), "behind"...)),
			"a body": newBody(want).reader(),
		} {
			near, far := tcpPair(t)
			c := &conn{TCPConn: near, pool: &sse.Buffers{}}
			got := make(chan []byte)
			go func() {
				b, _ := io.ReadAll(far)
				got <- b
			}()
			// net/http has read the first part of a body when it asks for the rest.
			head := make([]byte, size/3)
			io.ReadFull(src, head)
			rest := &io.LimitedReader{R: src, N: int64(size - len(head))}
			n, err := c.ReadFrom(rest)
			c.Close()
			if b := append(head, <-got...); err != nil || n != int64(size-len(head)) || rest.N != 0 || !bytes.Equal(b, want) {
				t.Errorf("%s, %d bytes: sent %d, %v; %d arrived", name, size, n, err, len(b))
			}
		}
	}
}

// The transport closes a body while it is still being sent, when the response
// comes early: the bytes stay the body's until the write is over.
func TestConnBodyClosedWhileSent(t *testing.T) {
	near, far := tcpPair(t)
	c := &conn{TCPConn: near, pool: &sse.Buffers{}}
	near.SetWriteBuffer(4 << 10)
	far.SetReadBuffer(4 << 10)
	all := bytes.Repeat([]byte("all of it"), 128<<10) // more than the sockets take
	b := newBody(all)
	r := b.reader()
	b.release()
	sent := make(chan error)
	go func() {
		_, err := c.ReadFrom(&io.LimitedReader{R: r, N: int64(len(all))})
		sent <- err
	}()
	got := make([]byte, len(all))
	if _, err := io.ReadFull(far, got[:1]); err != nil { // the write has begun
		t.Fatal(err)
	}
	r.Close()
	if b.held() != 1 {
		t.Errorf("%d holds on the body while it is sent, want the sender's", b.held())
	}
	if _, err := io.ReadFull(far, got[1:]); err != nil {
		t.Fatal(err)
	}
	if err := <-sent; err != nil || !bytes.Equal(got, all) {
		t.Errorf("something else was sent, or %v", err)
	}
	if b.held() != 0 {
		t.Error("the body is still held")
	}
	if _, err := c.ReadFrom(&io.LimitedReader{R: r, N: 9}); err == nil {
		t.Error("a closed body was sent")
	}
}

// tcpPair returns the two ends of a connection.
func tcpPair(t *testing.T) (near, far *net.TCPConn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	d, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close(); d.Close() })
	return c.(*net.TCPConn), d.(*net.TCPConn)
}

func newBody(content []byte) *body {
	pool := &sse.Buffers{}
	buf := pool.Get(len(content))
	return &body{pool: pool, buf: buf, bytes: buf.B[:copy(buf.B, content)], refs: 1}
}

func (b *body) held() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.refs
}
