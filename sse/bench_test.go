package sse

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// benchReader reads s over and over, a frame an operation.
func benchReader(b *testing.B, s string, perRead int) {
	b.Helper()
	r := NewReader(&loop{s: s, n: perRead}, &Buffers{}, 0)
	b.ReportAllocs()
	n, bytes := 0, 0
	for b.Loop() {
		f, err := r.Next()
		if err != nil {
			b.Fatal(err)
		}
		n++
		bytes += len(f.Raw)
	}
	b.SetBytes(int64(bytes / n))
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "frames/s")
}

func BenchmarkReader(b *testing.B) {
	for name, perRead := range map[string]int{"a frame a read": len(delta), "10-byte reads": 10} {
		b.Run(name, func(b *testing.B) { benchReader(b, delta, perRead) })
	}
	b.Run("4 KB reads", func(b *testing.B) { benchReader(b, strings.Repeat(delta, 64), 4<<10) })
	b.Run("CRLF", func(b *testing.B) { benchReader(b, strings.ReplaceAll(delta, "\n", "\r\n"), 4<<10) })
	b.Run("CR", func(b *testing.B) { benchReader(b, strings.ReplaceAll(delta, "\n", "\r"), 4<<10) })
}

func BenchmarkReaderLarge(b *testing.B) {
	large := "event: response.completed\ndata: " + strings.Repeat("x", 500<<10) + "\n\n"
	for name, perRead := range map[string]int{"16 KB reads": 16 << 10, "1400-byte reads": 1400, "100-byte reads": 100} {
		b.Run(name, func(b *testing.B) { benchReader(b, large, perRead) })
	}
}

// The MB/s of a kind must not fall from 1 MB to 8 MB.
func BenchmarkReaderHostile(b *testing.B) {
	for _, name := range slices.Sorted(maps.Keys(hostile(100))) {
		for _, mb := range []int{1, 8} {
			in := hostile(mb << 20)[name]
			b.Run(fmt.Sprintf("%s/%dMB", name, mb), func(b *testing.B) {
				b.SetBytes(int64(len(in)))
				b.ReportAllocs()
				for b.Loop() {
					r := NewReader(&loop{s: in, n: 100}, &Buffers{}, 0)
					for n := 0; n < len(in); {
						f, err := r.Next()
						if err != nil {
							b.Fatal(err)
						}
						n += len(f.Raw)
					}
				}
			})
		}
	}
}

func BenchmarkTee(b *testing.B) {
	for name, frames := range map[string]int{"a frame a batch": 1, "15 frames a batch": 15, "60 frames a batch": 60} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(delta)))
			b.ReportAllocs()
			left := b.N
			err := Tee(NewReader(&loop{s: strings.Repeat(delta, frames), n: frames * len(delta)}, &Buffers{}, 0), func(f *Frame, _ func() error) ([]byte, error) {
				if left--; left < 0 {
					return nil, errStop
				}
				return f.Raw, nil
			}, nil, &devNull{left: b.N})
			if err != errStop {
				b.Fatal(err)
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "frames/s")
		})
	}
}
