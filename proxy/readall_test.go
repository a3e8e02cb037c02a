package proxy

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"turngate/sse"
)

// spaces is a body of blanks without an end.
type spaces struct{}

func (spaces) Read(p []byte) (int, error) { return len(p), nil }

// TestO4ReadAllTakesNoMoreThanItMust: the limit bounds the memory, not only what
// is let through, and what a sender says of its length takes none.
func TestO4ReadAllTakesNoMoreThanItMust(t *testing.T) {
	for _, tc := range []struct {
		size  int
		limit int64
		most  int // of the buffer; the pool's are powers of two
	}{
		{0, 4 << 20, 8 << 20},
		{0, 3 << 20, 4 << 20},
		{1 << 40, 4<<20 - 1, 4 << 20},
		{0, 64 << 20, 64<<20 + 1},
		{1 << 40, 10, 4 << 10},
	} {
		var pool sse.Buffers
		buf, n, err := readAll(&pool, spaces{}, tc.size, tc.limit)
		if !errors.Is(err, errTooLarge) || int64(n) <= tc.limit {
			t.Errorf("%+v: read %d, %v", tc, n, err)
		}
		if len(buf.B) > tc.most {
			t.Errorf("%+v: took %d bytes", tc, len(buf.B))
		}
	}
	var pool sse.Buffers
	buf, n, err := readAll(&pool, strings.NewReader("x"), 1<<40, 0)
	if n != 1 || err != nil || len(buf.B) > 2*maxTrusted {
		t.Errorf("a promise of much: read %d, %v, took %d bytes", n, err, len(buf.B))
	}
}

// TestReadAllReadsAll whatever was expected and however it comes.
func TestReadAllReadsAll(t *testing.T) {
	for _, size := range []int{0, 1, 4095, 4096, 4097, 10_000} {
		want := bytes.Repeat([]byte("0123456789"), size/10+1)[:size]
		for _, expected := range []int{0, 1, size - 1, size, size + 1, 100_000} {
			for name, src := range map[string]io.Reader{
				"whole": bytes.NewReader(want), "bytes": iotest.OneByteReader(bytes.NewReader(want)),
				"end with data": iotest.DataErrReader(bytes.NewReader(want)),
			} {
				for _, limit := range []int64{0, int64(max(size, 1)), 1 << 20} {
					if s, ok := src.(io.Seeker); ok {
						s.Seek(0, io.SeekStart)
					} else if limit > 0 {
						continue // it was read
					}
					var pool sse.Buffers
					buf, n, err := readAll(&pool, src, max(expected, 0), limit)
					if err != nil || !bytes.Equal(buf.B[:n], want) {
						t.Errorf("%s of %d, expected %d, limit %d: read %d (%v)", name, size, expected, limit, n, err)
					}
				}
			}
		}
	}
}
