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
// 32 KiB for every request: here the buffer is lent, and large enough to send
// most bodies with one system call. (On a TLS connection net/http does not ask.)
type conn struct {
	net.Conn
	pool *sse.Buffers
}

var _ io.ReaderFrom = (*conn)(nil)

// maxCopy bounds the buffer that a body is copied through.
const maxCopy = 256 << 10

// ReadFrom sends all of r.
func (c *conn) ReadFrom(r io.Reader) (n int64, err error) {
	size := maxCopy
	if l, ok := r.(*io.LimitedReader); ok {
		size = int(min(l.N, maxCopy))
	}
	buf := c.pool.Get(size)
	defer c.pool.Put(buf)
	for {
		m, readErr := r.Read(buf.B)
		if m > 0 {
			w, err := c.Conn.Write(buf.B[:m])
			n += int64(w)
			if err != nil {
				return n, err
			}
		}
		if readErr == io.EOF {
			return n, nil
		}
		if readErr != nil {
			return n, readErr
		}
	}
}

// dialer returns how connections to upstreams are made.
func dialer(pool *sse.Buffers) func(ctx context.Context, network, addr string) (net.Conn, error) {
	d := &net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		c, err := d.DialContext(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		return &conn{Conn: c, pool: pool}, nil
	}
}
