package proxy

import (
	"context"
	"net"
	"net/http"

	"turngate/sse"
)

// clientConn is a connection from a client. It differs from what it wraps in
// that it can hold back what is written for a moment: net/http sends a chunk of
// more than 4 KiB in three system calls, and they are most of what relaying a
// fast stream costs. One goroutine at a time may write.
type clientConn struct {
	*net.TCPConn
	pool *sse.Buffers
	held *sse.Buffer // nil: nothing is held back
	n    int         // bytes in held
}

// What is relayed at once is held back if net/http would cut it, and copying it
// costs less than two system calls.
const (
	minHeld = 4000
	maxHeld = 64 << 10
	// chunking is at most what net/http adds to a chunk.
	chunking = 32
)

// hold makes the connection keep what is written, until release is called, if
// size bytes of an answer are worth it. It may be called on nil.
func (c *clientConn) hold(size int) {
	if c != nil && size >= minHeld && size <= maxHeld {
		c.held = c.pool.Get(size + chunking)
	}
}

// release sends what was held back.
func (c *clientConn) release() error {
	if c == nil || c.held == nil {
		return nil
	}
	err := c.send()
	c.pool.Put(c.held)
	c.held = nil
	return err
}

// Write implements net.Conn. An error in sending what is held back is one of the
// release.
func (c *clientConn) Write(b []byte) (int, error) {
	if c.held == nil {
		return c.TCPConn.Write(b)
	}
	if len(b) > len(c.held.B)-c.n { // an answer's head comes before the first chunk
		if err := c.send(); err != nil {
			return 0, err
		}
	}
	if len(b) > len(c.held.B) {
		return c.TCPConn.Write(b)
	}
	c.n += copy(c.held.B[c.n:], b)
	return len(b), nil
}

func (c *clientConn) send() error {
	_, err := c.TCPConn.Write(c.held.B[:c.n])
	c.n = 0
	return err
}

// Listener returns l with connections that the proxy can write to with fewer
// system calls, if the server's ConnContext is the function of that name.
func (p *Proxy) Listener(l net.Listener) net.Listener { return &listener{l, &p.buffers} }

type listener struct {
	net.Listener
	pool *sse.Buffers
}

// Accept implements net.Listener.
func (l *listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if tcp, ok := c.(*net.TCPConn); ok {
		return &clientConn{TCPConn: tcp, pool: l.pool}, err
	}
	return c, err
}

// ConnContext is for an http.Server that serves a Listener of a proxy.
func ConnContext(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, clientConnKey{}, c)
}

type clientConnKey struct{}

// clientConnOf returns the connection that a request came on, nil if it is none
// of a Listener, or not the request's alone: under TLS and HTTP/2 other
// goroutines than the turn's write to it, and what was held back for a turn
// would be another's, or be waited for.
func clientConnOf(r *http.Request) *clientConn {
	c, _ := r.Context().Value(clientConnKey{}).(*clientConn) // under TLS it is a tls.Conn
	if r.ProtoMajor != 1 {
		return nil
	}
	return c
}
