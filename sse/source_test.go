package sse

import (
	"bytes"
	"io"
	"math/rand/v2"
	"testing"
)

// chunks is a source that serves one chunk a read (less if it does not fit),
// then err; a last chunk comes together with err if withErr is set.
type chunks struct {
	parts   [][]byte
	err     error
	withErr bool
}

func (c *chunks) Read(p []byte) (int, error) {
	if len(c.parts) == 0 {
		return 0, c.err
	}
	n := copy(p, c.parts[0])
	if c.parts[0] = c.parts[0][n:]; len(c.parts[0]) == 0 {
		c.parts = c.parts[1:]
	}
	if c.withErr && len(c.parts) == 0 {
		return n, c.err
	}
	return n, nil
}

func whole(in string) *chunks { return split(in) }

// split cuts in at the given offsets.
func split(in string, at ...int) *chunks {
	c, from := &chunks{err: io.EOF}, 0
	for _, to := range append(at, len(in)) {
		if from < to {
			c.parts = append(c.parts, []byte(in[from:to]))
			from = to
		}
	}
	return c
}

func every(in string, n int) *chunks {
	var at []int
	for i := n; i < len(in); i += n {
		at = append(at, i)
	}
	return split(in, at...)
}

func randomly(in string, seed uint64, most int) *chunks {
	rnd := rand.New(rand.NewPCG(seed, 1))
	var at []int
	for i := 0; i < len(in); {
		i += 1 + rnd.IntN(most)
		at = append(at, min(i, len(in)))
	}
	return split(in, at...)
}

// got is a Frame that outlives its reader.
type got struct {
	Raw, Event, Data string
	Is, LoneCR, Cut  bool
	Closing          string
	NoEvent          bool
}

func keep(f *Frame) got {
	return got{
		Raw: string(f.Raw), Event: string(f.Event), Data: string(f.Data),
		Is: f.IsEvent(), LoneCR: f.LoneCR, Cut: f.Cut, Closing: f.Closing(),
		NoEvent: f.Event == nil,
	}
}

// readAll returns what a reader makes of src, and the error that ended it.
func readAll(src io.Reader, limit int) ([]got, error) {
	r := NewReader(src, &Buffers{}, limit)
	var frames []got
	for {
		f, err := r.Next()
		if err != nil {
			return frames, err
		}
		frames = append(frames, keep(f))
	}
}

func mustRead(t testing.TB, src io.Reader) []got {
	t.Helper()
	frames, err := readAll(src, 0)
	if err != io.EOF {
		t.Fatalf("error = %v, want io.EOF", err)
	}
	return frames
}

func rawOf(frames []got) string {
	var b bytes.Buffer
	for _, f := range frames {
		b.WriteString(f.Raw)
	}
	return b.String()
}
