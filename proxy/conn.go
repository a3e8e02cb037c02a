package proxy

import (
	"context"
	"io"
	"net"
	"time"

	"turngate/sse"
)

// conn is a connection to an upstream. It differs from what it wraps only in how
// it takes a request's body from net/http, which copies through a new buffer of
// 32 KiB for every request: here a body goes from where it lies, with one system
// call. (On a TLS connection net/http does not ask.)
type conn struct {
	*net.TCPConn // not a net.Conn: each read would go through one more call
	pool         *sse.Buffers
}

var _ io.ReaderFrom = (*conn)(nil)

// copySize is the buffer that a body is copied through which lies nowhere.
const copySize = 32 << 10

// ReadFrom sends all of r.
func (c *conn) ReadFrom(r io.Reader) (n int64, err error) {
	if l, ok := r.(*io.LimitedReader); ok {
		if b, ok := l.R.(*bodyReader); ok {
			n, err = b.send(c.TCPConn, l.N)
			l.N -= n
			return n, err
		}
	}
	buf := c.pool.Get(copySize)
	defer c.pool.Put(buf)
	return io.CopyBuffer(struct{ io.Writer }{c.TCPConn}, struct{ io.Reader }{r}, buf.B)
}

// dialer returns how connections to upstreams are made.
func dialer(pool *sse.Buffers) func(ctx context.Context, network, addr string) (net.Conn, error) {
	d := &net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		c, err := d.DialContext(ctx, network, addr)
		if tcp, ok := c.(*net.TCPConn); ok {
			return &conn{TCPConn: tcp, pool: pool}, nil
		}
		return c, err
	}
}
