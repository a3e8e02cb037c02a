package sse

import (
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// counted counts reads, and how much room each had.
type counted struct {
	chunks
	rooms []int
}

func (c *counted) Read(p []byte) (int, error) {
	c.rooms = append(c.rooms, len(p))
	return c.chunks.Read(p)
}

// An event that comes alone takes one read; events that come together are one
// batch, though the reader waits for them with a small buffer.
func TestFirstRead(t *testing.T) {
	few, many := delta, strings.Repeat(delta, 15)
	src := &counted{chunks: chunks{err: io.EOF}}
	reads := []string{many, many, few, few, few, many, many}
	for _, s := range reads {
		src.parts = append(src.parts, []byte(s))
	}
	w := &wire{}
	if err := Tee(NewReader(src, &Buffers{}, 0), pass, nil, w); err != io.EOF {
		t.Fatal(err)
	}
	// The first of many after few cannot be known to be that.
	if diff := cmp.Diff([]int{1, 14, 15, 1, 1, 1, 1, 14, 15}, w.events); diff != "" {
		t.Errorf("events in each batch (-want +got):\n%s", diff)
	}
	small := len(Reader{}.small)
	var waits []int
	for _, room := range src.rooms {
		if room <= small {
			waits = append(waits, room)
		}
	}
	const first = firstRead
	if diff := cmp.Diff([]int{small, first, first, small, small, small, first, first}, waits); diff != "" { // the last finds the end
		t.Errorf("reads into the small buffer (-want +got):\n%s", diff)
	}
}

// TestPrepend: what was read before is the start of the stream, whatever it is.
func TestPrepend(t *testing.T) {
	in := ": x\n" + delta + "data: " + strings.Repeat("y", 1000) + "\n\n" + delta + "data: cut"
	want := mustRead(t, whole(in))
	for n := range len(in) + 1 {
		r := NewReader(every(in[n:], 100), &Buffers{}, 0)
		head := []byte(in[:n])
		r.Prepend(head)
		clear(head) // it was copied
		var frames []got
		for {
			f, err := r.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			frames = append(frames, keep(f))
		}
		if diff := cmp.Diff(want, frames); diff != "" {
			t.Fatalf("%d bytes before the rest (-want +got):\n%s", n, diff)
		}
	}
}

// TestPrependKeepsTheLimit: a frame is too long wherever its bytes came from.
func TestPrependKeepsTheLimit(t *testing.T) {
	in := "data: 0123456789\n\n"
	for n := range len(in) + 1 {
		for limit, want := range map[int]error{len(in): nil, len(in) - 1: ErrFrameTooLong} {
			r := NewReader(whole(in[n:]), &Buffers{}, limit)
			r.Prepend([]byte(in[:n]))
			if _, err := r.Next(); err != want {
				t.Errorf("%d bytes before the rest, limit %d: %v, want %v", n, limit, err, want)
			}
		}
	}
}
