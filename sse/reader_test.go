package sse

import (
	"errors"
	"io"
	"strings"
	"testing"
)

var errBroken = errors.New("connection reset")

func TestErrorsComeAfterTheBytes(t *testing.T) {
	for _, withErr := range []bool{false, true} {
		src := &chunks{parts: [][]byte{[]byte("data: x\n\ndata: y")}, err: errBroken, withErr: withErr}
		frames, err := readAll(src, 0)
		if err != errBroken {
			t.Errorf("error = %v, want the source's own", err)
		}
		if len(frames) != 2 || frames[0].Cut || !frames[1].Cut || frames[1].Data != "y" {
			t.Errorf("frames = %+v, want x and a cut y", frames)
		}
	}
}

func TestErrorsAreFinal(t *testing.T) {
	for name, tt := range map[string]struct {
		src   io.Reader
		limit int
		want  error
	}{
		"end":         {whole("data: x\n\n"), 0, io.EOF},
		"broken":      {&chunks{err: errBroken}, 0, errBroken},
		"too long":    {whole("data: 123456\n\ndata: y\n\n"), 10, ErrFrameTooLong},
		"no progress": {&chunks{}, 0, io.ErrNoProgress},
	} {
		t.Run(name, func(t *testing.T) {
			r := NewReader(tt.src, &Buffers{}, tt.limit)
			var err error
			for err == nil {
				_, err = r.Next()
			}
			for range 3 {
				if err != tt.want {
					t.Fatalf("error = %v, want %v", err, tt.want)
				}
				if r.buf != nil {
					t.Fatal("a finished reader holds a buffer")
				}
				_, err = r.Next()
			}
		})
	}
}

// A few empty reads are allowed by io.Reader; they must not count up for ever.
func TestEmptyReads(t *testing.T) {
	src := &chunks{err: io.EOF}
	for range 30 {
		for range maxEmptyReads {
			src.parts = append(src.parts, nil)
		}
		src.parts = append(src.parts, []byte("data: x\n\n"))
	}
	if n := len(mustRead(t, src)); n != 30 {
		t.Errorf("%d frames, want 30", n)
	}
}

// Next after Release once read on with the offsets of a frame that was gone.
func TestRelease(t *testing.T) {
	for name, in := range map[string]string{
		"mid frame":     "data: x\n\ndata: y",
		"frame waiting": "data: x\n\ndata: y\n\n",
	} {
		t.Run(name, func(t *testing.T) {
			r := NewReader(&chunks{parts: [][]byte{[]byte(in), []byte("more\n\n")}, err: io.EOF}, &Buffers{}, 0)
			if _, err := r.Next(); err != nil {
				t.Fatal(err)
			}
			r.Ready()
			r.Release()
			r.Release()
			if r.Ready() {
				t.Error("ready after Release")
			}
			if f, err := r.Next(); err != io.ErrClosedPipe {
				t.Errorf("Next after Release = %q, %v; want io.ErrClosedPipe", f.Raw, err)
			}
		})
	}
	r := NewReader(&chunks{err: errBroken}, &Buffers{}, 0)
	r.Next()
	r.Release()
	if _, err := r.Next(); err != errBroken {
		t.Errorf("error after Release = %v, want the source's", err)
	}
}

// watched calls before ahead of every read.
type watched struct {
	io.Reader
	before func()
}

func (w *watched) Read(p []byte) (int, error) {
	w.before()
	return w.Reader.Read(p)
}

// A thousand idle streams must not cost a thousand buffers.
func TestNoBufferWhileIdle(t *testing.T) {
	big := "data: " + strings.Repeat("x", 100_000) + "\n\n"
	src := &watched{Reader: split(strings.Repeat(big, 3)+":c\n", len(big), 2*len(big), 3*len(big))}
	r := NewReader(src, &Buffers{}, 0)
	idle := 0
	src.before = func() {
		switch {
		case r.start != r.end:
		case r.buf != nil:
			t.Error("a buffer is held while the next frame has not begun")
		default:
			idle++
		}
	}
	for {
		if _, err := r.Next(); err != nil {
			break
		}
	}
	if idle != 5 {
		t.Errorf("%d idle reads, want 5: one before each frame and one at the end", idle)
	}
}

// What Ready cuts ahead leaves earlier frames alone, joined data too.
func TestReadyKeepsEarlierFrames(t *testing.T) {
	r := NewReader(whole("data: a\ndata: b\n\ndata: c\ndata: d\n\ndata: e\n\n"), &Buffers{}, 0)
	var frames []Frame
	var then []got
	for {
		f, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		frames, then = append(frames, *f), append(then, keep(f))
		if !r.Ready() {
			break
		}
	}
	if len(frames) != 3 {
		t.Fatalf("%d frames without reading, want 3", len(frames))
	}
	for i, f := range frames {
		if now := keep(&f); now != then[i] {
			t.Errorf("frame %d is now %+v, was %+v", i, now, then[i])
		}
	}
}

// Appending to Data must not write over the bytes behind it.
func TestDataCannotGrowIntoRaw(t *testing.T) {
	r := NewReader(whole("data: a\n\ndata: b\n\n"), &Buffers{}, 0)
	f, _ := r.Next()
	_ = append(f.Data, "overwritten"...)
	if got := string(f.Raw); got != "data: a\n\n" {
		t.Errorf("Raw = %q", got)
	}
}
