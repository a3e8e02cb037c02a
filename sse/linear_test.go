package sse

import (
	"io"
	"slices"
	"strings"
	"testing"
)

// hostile streams invite quadratic work: a frame that arrives in many reads,
// line ends of one kind only, many tiny lines.
func hostile(size int) map[string]string {
	return map[string]string{
		"one line":        "data: " + strings.Repeat("x", size) + "\n\n",
		"CR only":         strings.Repeat("data: x\r", size/8) + "\r",
		"bare CR frames":  strings.Repeat("\r", size),
		"CR in comments":  strings.Repeat(":\r", size/2),
		"one-byte lines":  strings.Repeat("d\n", size/2) + "\n",
		"tiny comments":   strings.Repeat(":\n", size/2),
		"tiny data lines": strings.Repeat("data\n", size/5) + "\n",
		"CR, then two LF": strings.Repeat("d\r", size/2) + "\n\n",
		"LF, then one CR": strings.Repeat("d\n", size/2) + "\r\r",
		"CRLF":            strings.Repeat("d\r\n", size/3) + "\r\n",
	}
}

// movesOf serves s in reads of 100 bytes and watches the reader that reads it.
type movesOf struct {
	s     string
	r     *Reader
	buf   *Buffer // the reader's, after the read before
	end   int
	moved int // bytes that were copied within buffers or between them
	again int // bytes that will be searched a second time
}

func (m *movesOf) Read(p []byte) (int, error) {
	r := m.r
	if r.buf != nil && (r.buf != m.buf || r.end != m.end) {
		m.moved += r.end - r.start
	}
	for _, f := range []finder{r.cut.lf, r.cut.cr} {
		if f.at < r.cut.pos {
			m.again += r.end - r.start - max(f.none, r.cut.pos)
		}
	}
	if m.s == "" {
		return 0, io.EOF
	}
	n := copy(p, m.s[:min(100, len(m.s))])
	m.s = m.s[n:]
	m.buf, m.end = r.buf, r.end+n
	return n, nil
}

// The bytes that a reader moves are a small multiple of those it reads, however
// small the reads, and after a read it goes on where it was.
func TestMovesFewBytes(t *testing.T) {
	size := 4 << 20
	if raceEnabled {
		size = 1 << 20
	}
	for name, in := range hostile(size) {
		t.Run(name, func(t *testing.T) {
			src := &movesOf{s: in}
			src.r = NewReader(src, &Buffers{}, 0)
			for err := error(nil); err == nil; {
				_, err = src.r.Next()
			}
			if src.moved > 3*len(in) {
				t.Errorf("%d bytes moved for %d read", src.moved, len(in))
			}
			if src.again > 0 {
				t.Errorf("%d bytes searched again", src.again)
			}
			t.Logf("%.3f bytes moved for each byte read", float64(src.moved)/float64(len(in)))
		})
	}
}

// lineEnd looks at each byte once for line feeds and once for carriage returns,
// though it is called for each line and after each read: a stream of carriage
// returns was otherwise searched to its end for each of them.
func TestLineEndLooksTwice(t *testing.T) {
	for name, in := range hostile(1 << 16) {
		for _, step := range []int{1, 100, len(in)} {
			var c cutter
			c.init()
			b := []byte(in)
			looked := 0
			look := func(f *finder, b []byte) int {
				start, known := max(c.pos, f.none), f.at >= c.pos
				at := f.next(b, c.pos)
				switch {
				case known:
				case at < 0:
					looked += len(b) - start
				default:
					looked += at + 1 - start
				}
				return at
			}
			for end := 0; end < len(b); {
				end = min(end+step, len(b))
				for c.pos < end {
					lf, cr := look(&c.lf, b[:end]), look(&c.cr, b[:end])
					eol := c.lineEnd(b[:end])
					if want := slices.Min(append(slices.DeleteFunc([]int{lf, cr}, func(i int) bool { return i < 0 }), end)); eol != want && !(eol < 0 && want == end) {
						t.Fatalf("%s: line end at %d, want %d", name, eol, want)
					}
					if eol < 0 {
						break
					}
					c.pos = eol + 1
				}
			}
			if looked > 2*len(in) {
				t.Errorf("%s in reads of %d: looked at %d bytes, want at most 2 × %d", name, step, looked, len(in))
			}
		}
	}
}
