package proxy

import (
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/klauspost/compress/zstd"

	"turngate/sse"
)

// readBody reads a request's body whole, decoded. It must be whole before it is
// sent on: net/http closes an unread body when the response starts, and kills
// the upstream connection with it (golang/go#40747). The caller owns the body.
func (ex *exchange) readBody() (*body, *failure) {
	limit := ex.cfg.MaxRequestBytes
	if ex.r.ContentLength > limit && limit > 0 {
		return nil, tooLarge(limit)
	}
	src := io.Reader(ex.r.Body)
	broken := unreadableBody
	size := int(max(ex.r.ContentLength, 0))
	switch enc := strings.ToLower(strings.TrimSpace(ex.r.Header.Get("Content-Encoding"))); enc {
	case "", "identity":
	case "gzip", "zstd":
		dec, err := decoder(enc, src)
		if err != nil {
			return nil, ex.unread(undecodable())
		}
		defer dec.Close()
		src, size, broken = dec, 4*size, undecodable
	default:
		return nil, unsupportedEncoding()
	}
	buf, n, err := readAll(&ex.p.buffers, src, size, limit)
	if err == nil {
		return &body{pool: &ex.p.buffers, buf: buf, bytes: buf.B[:n], refs: 1}, nil
	}
	ex.p.buffers.Put(buf)
	if errors.Is(err, errTooLarge) {
		return nil, tooLarge(limit)
	}
	return nil, ex.unread(broken())
}

// unread returns f, or that the client went away in the middle of its body,
// which a decoder's error does not tell.
func (ex *exchange) unread(f *failure) *failure {
	if ex.r.Context().Err() != nil {
		return clientGone()
	}
	return f
}

var errTooLarge = errors.New("over the size limit")

// maxTrusted is how much memory is taken because a sender says how much it is
// going to send.
const maxTrusted = 1 << 20

// readAll reads src into a buffer of the pool, expecting about size bytes and
// allowing at most limit (0: any number). It returns the buffer on errors too.
func readAll(pool *sse.Buffers, src io.Reader, size int, limit int64) (buf *sse.Buffer, n int, err error) {
	size = min(size, maxTrusted)
	if limit > 0 {
		size = int(min(int64(size), limit))
	}
	buf = pool.Get(size + 1) // room to see the end
	for {
		m, err := src.Read(buf.B[n:])
		n += m
		switch {
		case limit > 0 && int64(n) > limit:
			return buf, n, errTooLarge
		case err == io.EOF:
			return buf, n, nil
		case err != nil:
			return buf, n, err
		case n == len(buf.B):
			next := 2 * n
			if limit > 0 {
				next = int(min(int64(next), limit+1)) // n is at most limit here
			}
			bigger := pool.Get(next)
			copy(bigger.B, buf.B)
			pool.Put(buf)
			buf = bigger
		}
	}
}

// maxWindow bounds what a zstd stream may make its decoder remember; the format
// asks decoders to support 8 MiB.
const maxWindow = 8 << 20

// decoder reads a content encoding. What comes out is not bounded: that is for
// the reader to do (57 KB of zstd can open to 512 MB).
func decoder(encoding string, src io.Reader) (io.ReadCloser, error) {
	if encoding == "gzip" {
		return gzip.NewReader(src)
	}
	dec, err := zstd.NewReader(src, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
	if err != nil {
		return nil, err
	}
	return dec.IOReadCloser(), nil
}

// body is a request body in a pooled buffer. The transport may still be sending
// it when the response has begun, so the buffer goes back only when everyone
// who holds the body has released it.
type body struct {
	pool *sse.Buffers

	mu    sync.Mutex
	buf   *sse.Buffer
	bytes []byte
	refs  int
}

// retain takes one more hold on the body.
func (b *body) retain() {
	b.mu.Lock()
	b.refs++
	b.mu.Unlock()
}

// release gives up one hold on the body.
func (b *body) release() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.refs--
	if b.refs == 0 {
		b.pool.Put(b.buf)
		b.buf, b.bytes = nil, nil
	}
}

// reader returns the body as a request body; closing it releases its hold.
func (b *body) reader() io.ReadCloser {
	b.retain()
	return &bodyReader{body: b}
}

// bodyReader reads a body once. The transport may close it while it reads.
type bodyReader struct {
	body *body
	mu   sync.Mutex
	pos  int
	done bool
}

func (r *bodyReader) Read(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.done {
		return 0, http.ErrBodyReadAfterClose
	}
	n := copy(p, r.body.bytes[r.pos:])
	r.pos += n
	if r.pos == len(r.body.bytes) {
		return n, io.EOF
	}
	return n, nil
}

// send writes what is left of the body, at most limit bytes, to w. A Close does
// not wait for it: it has a hold of its own.
func (r *bodyReader) send(w io.Writer, limit int64) (int64, error) {
	r.mu.Lock()
	if r.done {
		r.mu.Unlock()
		return 0, http.ErrBodyReadAfterClose
	}
	b := r.body
	b.retain()
	defer b.release()
	rest := b.bytes[r.pos:]
	rest = rest[:min(int64(len(rest)), limit)]
	r.pos += len(rest)
	r.mu.Unlock()
	n, err := w.Write(rest)
	return int64(n), err
}

func (r *bodyReader) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.done {
		r.done = true
		r.body.release()
		r.body = nil
	}
	return nil
}
