package sse

import (
	"strings"
	"testing"
)

// loop serves the same bytes again and again, n of them a read.
type loop struct {
	s  string
	at int
	n  int
}

func (l *loop) Read(p []byte) (int, error) {
	n := copy(p[:min(len(p), l.n)], l.s[l.at:])
	l.at = (l.at + n) % len(l.s)
	return n, nil
}

// delta is an event of 270 bytes, as most of a turn's are.
var delta = "event: response.output_text.delta\ndata: " +
	`{"type":"response.output_text.delta","sequence_number":42,"item_id":"msg_` + strings.Repeat("a", 50) +
	`","output_index":0,"content_index":0,"delta":" word","logprobs":[],"obfuscation":"` + strings.Repeat("x", 21) + "\"}\n\n"

func TestDeltaIsOfTheSizeThatTheBenchmarksClaim(t *testing.T) {
	if len(delta) != 270 {
		t.Errorf("delta has %d bytes", len(delta))
	}
}

// S1, the hot path: a frame and a batch cost no allocation.
func TestReaderDoesNotAllocate(t *testing.T) {
	if raceEnabled {
		t.Skip("sync.Pool drops at random under the race detector")
	}
	for name, src := range map[string]*loop{
		"a frame a read":       {s: delta, n: len(delta)},
		"many frames a read":   {s: delta, n: 16 << 10},
		"many reads a frame":   {s: delta, n: 10},
		"comments":             {s: ": ping\n\n", n: 8},
		"CRLF":                 {s: strings.ReplaceAll(delta, "\n", "\r\n"), n: 1000},
		"CR":                   {s: strings.ReplaceAll(delta, "\n", "\r"), n: 1000},
		"large, buffer reused": {s: "data: " + strings.Repeat("x", 1<<20) + "\n\n", n: 64 << 10},
	} {
		t.Run(name, func(t *testing.T) {
			r := NewReader(src, &Buffers{}, 0)
			n := testing.AllocsPerRun(100, func() {
				if _, err := r.Next(); err != nil {
					t.Fatal(err)
				}
			})
			if n != 0 {
				t.Errorf("%v allocations a frame, want 0", n)
			}
		})
	}
}

// devNull is a Sink that ends Tee after so many batches.
type devNull struct{ left int }

func (d *devNull) Relay([]byte, int) error {
	if d.left--; d.left < 0 {
		return errStop
	}
	return nil
}

func TestTeeDoesNotAllocate(t *testing.T) {
	if raceEnabled {
		t.Skip("sync.Pool drops at random under the race detector")
	}
	for name, n := range map[string]int{"a frame a batch": len(delta), "many frames a batch": 16 << 10, "half frames": 100} {
		t.Run(name, func(t *testing.T) {
			r := NewReader(&loop{s: delta, n: n}, &Buffers{}, 0)
			dst := &devNull{}
			run := func(batches int) float64 {
				return testing.AllocsPerRun(20, func() {
					dst.left = batches
					if err := Tee(r, pass, nil, dst); err != errStop {
						t.Fatal(err)
					}
				})
			}
			if few, many := run(10), run(1000); few != many {
				t.Errorf("%v allocations for 10 batches, %v for 1000; want the same", few, many)
			}
		})
	}
}
