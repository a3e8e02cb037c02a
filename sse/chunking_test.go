package sse

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

// corpus is what the chunking tests and the fuzz seeds cut up.
var corpus = []string{
	"",
	"\n", "\r", "\r\n", "\r\r\n\n",
	"data: x\n\n",
	"event: a\r\ndata: x\r\n\r\ndata: y\r\n\r\n",
	"event: a\rdata: x\r\rdata: y\r\r",
	"data: x\n\rdata: y\r\n\rdata: z\r\r\n\ndata\n\n",
	"\xEF\xBB\xBF:c\n:d\r\n:e\rdata: é\ndata: 😀\nid: 1\n:f\n\n[DONE]\n\ndata: [DONE]",
	"\xEF\xBB\xBFdata: x\r\n\r\n\xEF\xBB\xBFdata: y\r",
	": c\rdata: x\r\rdata: y\n\ndata: z\r\n\r\ndata: end\n",
	"data\n\ndata\ndata:\n\nevent: x\nevent\nretry: 1\n\r",
}

// Every frame, Raw included, is the same however the bytes arrive (G12).
func TestChunkingDoesNotMatter(t *testing.T) {
	for _, in := range corpus {
		want := mustRead(t, whole(in))
		if raw := rawOf(want); raw != in {
			t.Fatalf("concatenated Raw = %q, want %q", raw, in)
		}
		check := func(how string, src io.Reader) {
			t.Helper()
			if diff := cmp.Diff(want, mustRead(t, src)); diff != "" {
				t.Errorf("%q %s (-whole +chunked):\n%s", in, how, diff)
			}
		}
		for i := range len(in) {
			check("split in two", split(in, i))
			for j := i + 1; j < len(in); j++ {
				check("split in three", split(in, i, j))
			}
		}
		check("byte by byte", every(in, 1))
		for seed := range uint64(50) {
			check("at random", randomly(in, seed, 7))
		}
		last := every(in, 3)
		last.withErr = true
		check("last bytes together with EOF", last)
		check("half reads", iotest.HalfReader(strings.NewReader(in)))
		check("data with EOF", iotest.DataErrReader(strings.NewReader(in)))
	}
}

// A stream without lone carriage returns never waits for a byte beyond a frame
// that ends in a line feed; nor does one of nothing but carriage returns, once
// it is known for one (S1).
func TestFramesDoNotWait(t *testing.T) {
	for name, tt := range map[string]struct {
		in   string
		want int // frames that must be out before the source is read again
	}{
		"LF":                          {":c\n\ndata: x\n\ndata: y\n\n", 4},
		"CRLF":                        {":c\r\n\r\ndata: x\r\n\r\n", 3},
		"CR":                          {"data: x\r\r:c\r\rdata: y\r\r", 4},
		"half a CRLF waits":           {"data: x\r\n\r\ndata: y\r\n\r", 1},
		"half a comment's CRLF waits": {"data: x\n\n:c\r", 1},
	} {
		t.Run(name, func(t *testing.T) {
			blocked := errors.New("read on")
			r := NewReader(&chunks{parts: [][]byte{[]byte(tt.in)}, err: blocked}, &Buffers{}, 0)
			frames := 0
			for r.err == nil {
				if _, err := r.Next(); err != nil {
					break
				}
				if r.err == nil {
					frames++
				}
			}
			if frames != tt.want {
				t.Errorf("%d frames before the next read, want %d", frames, tt.want)
			}
		})
	}
}

// The limit falls on the same byte under any chunking.
func TestFrameTooLong(t *testing.T) {
	for name, tt := range map[string]struct {
		frames []string // the last one is the longest
		cut    bool     // and has no end
	}{
		"LF":             {frames: []string{"data: x\n\n", "event: a\ndata: long\n\n"}},
		"CRLF":           {frames: []string{"data: x\r\n\r\n", "data: long\r\n\r\n"}},
		"CR":             {frames: []string{"data: x\r\r", "data: long\r\r"}},
		"CR CRLF":        {frames: []string{"data: x\n\n", "data: long\r\r", "\n"}},
		"comment":        {frames: []string{"\n", ": a long comment\n"}},
		"no end":         {frames: []string{"\n", "data: abc"}, cut: true},
		"half a CRLF":    {frames: []string{"\n", "data: abc\r\n\r"}, cut: true},
		"mark":           {frames: []string{"\xEF\xBB\xBFdata: long\n\n"}},
		"over tiny read": {frames: []string{"data: " + strings.Repeat("x", 500) + "\n\n"}},
	} {
		t.Run(name, func(t *testing.T) {
			in, longest := strings.Join(tt.frames, ""), 0
			for _, f := range tt.frames {
				longest = max(longest, len(f))
			}
			for i := range min(len(in), 40) {
				for _, mk := range []func() *chunks{
					func() *chunks { return split(in, i) },
					func() *chunks { return every(in, i+1) },
					func() *chunks { return split(in, len(in)-i) },
				} {
					if frames, err := readAll(mk(), longest); err != io.EOF || rawOf(frames) != in {
						t.Fatalf("at the limit: error = %v, %d frames; want all and io.EOF", err, len(frames))
					}
					frames, err := readAll(mk(), longest-1)
					if !errors.Is(err, ErrFrameTooLong) {
						t.Fatalf("one over: error = %v, want ErrFrameTooLong", err)
					}
					before, _, _ := strings.Cut(in, longestOf(tt.frames))
					if raw := rawOf(frames); raw != before {
						t.Fatalf("one over: frames before = %q, want %q", raw, before)
					}
				}
			}
		})
	}
}

func longestOf(ss []string) (longest string) {
	for _, s := range ss {
		if len(s) > len(longest) {
			longest = s
		}
	}
	return longest
}
