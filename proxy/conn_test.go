package proxy

import (
	"bytes"
	"io"
	"net"
	"testing"

	"turngate/sse"
)

// A body reaches the connection whole, through a lent buffer: net/http would
// make a new one of 32 KiB for each request.
func TestConnReadFrom(t *testing.T) {
	for _, size := range []int{0, 1, 4 << 10, maxCopy, maxCopy + 1, 3*maxCopy + 7} {
		body := bytes.Repeat([]byte("0123456789abcdef"), size/16+1)[:size]
		near, far := net.Pipe()
		c := &conn{Conn: near, pool: &sse.Buffers{}}
		got := make(chan []byte)
		go func() {
			b, _ := io.ReadAll(far)
			got <- b
		}()
		n, err := c.ReadFrom(io.LimitReader(bytes.NewReader(append(body, "behind"...)), int64(size)))
		c.Close()
		if b := <-got; err != nil || n != int64(size) || !bytes.Equal(b, body) {
			t.Errorf("%d bytes: sent %d, %v; %d arrived", size, n, err, len(b))
		}
	}
}
