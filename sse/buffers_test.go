package sse

import (
	"math/rand/v2"
	"sync"
	"testing"
)

func TestBufferSizes(t *testing.T) {
	var p Buffers
	for _, n := range []int{-1, 0, 1, 4095, 4096, 4097, 16 << 10, 1<<20 + 1, 1 << maxClass, 1<<maxClass + 1} {
		b := p.Get(n)
		if len(b.B) < n {
			t.Errorf("Get(%d) has length %d", n, len(b.B))
		}
		if n > 1<<minClass && n <= 1<<maxClass && len(b.B) >= 2*n {
			t.Errorf("Get(%d) has length %d: more than twice what was asked for", n, len(b.B))
		}
		p.Put(b)
	}
	p.Put(nil)
}

// What a borrower cut off is there again for the next one.
func TestBufferComesBackWhole(t *testing.T) {
	var p Buffers
	for range 10 { // the pool may forget one
		b := p.Get(5000)
		b.B = b.B[:3]
		p.Put(b)
		if b = p.Get(8000); len(b.B) < 8000 {
			t.Fatalf("length %d, want 8000 or more", len(b.B))
		}
		p.Put(b)
	}
}

// No byte is lent to two at a time. Each borrower signs its whole buffer and
// finds its signature when it gives it back.
func TestBuffersNeverAlias(t *testing.T) {
	var p Buffers
	var wg sync.WaitGroup
	for who := range 4 {
		wg.Go(func() {
			rnd := rand.New(rand.NewPCG(uint64(who), 3))
			var held []*Buffer
			var signs []byte
			for i := range 2000 {
				if len(held) < 5 && rnd.IntN(2) == 0 {
					b, sign := p.Get(rnd.IntN(20_000)), byte(who<<6|i&63)
					for j := range b.B {
						b.B[j] = sign
					}
					held, signs = append(held, b), append(signs, sign)
				} else if n := len(held); n > 0 {
					k := rnd.IntN(n)
					for j, c := range held[k].B {
						if c != signs[k] {
							t.Errorf("borrower %d: byte %d is %x, want %x", who, j, c, signs[k])
							return
						}
					}
					p.Put(held[k])
					held[k], signs[k] = held[n-1], signs[n-1]
					held, signs = held[:n-1], signs[:n-1]
				}
			}
		})
	}
	wg.Wait()
}

// Readers that share a pool do not see each other's bytes, the frames that an
// error leaves behind included.
func TestReadersShareBuffers(t *testing.T) {
	var p Buffers
	var wg sync.WaitGroup
	for who := range 4 {
		wg.Go(func() {
			in := ""
			for i := range 200 {
				in += "data: " + string(rune('a'+who)) + string(make([]byte, i*97%5000)) + "\n\n"
			}
			want := mustRead(t, whole(in))
			for seed := range uint64(5) {
				r := NewReader(randomly(in, seed, 9000), &p, 0)
				for i := range want {
					f, err := r.Next()
					if err != nil || string(f.Raw) != want[i].Raw {
						t.Errorf("reader %d: frame %d = %.20q, %v; want %.20q", who, i, f.Raw, err, want[i].Raw)
						return
					}
				}
				r.Release()
			}
		})
	}
	wg.Wait()
}
