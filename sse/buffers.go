package sse

import (
	"math/bits"
	"sync"
)

// Buffers lends byte slices by size class, so that a stream of large events
// does not leave a trail of grown slices behind. The zero value is ready; it is
// safe for concurrent use and must not be copied after first use.
type Buffers struct {
	classes [maxClass - minClass + 1]sync.Pool
}

const (
	minClass = 12 // 4 KiB
	maxClass = 25 // 32 MiB; larger ones are made and left to the collector
)

// Buffer is a lent slice. B has the length that was asked for or more; the
// borrower may reslice it but keeps its start.
type Buffer struct {
	B     []byte
	class int
}

// Get lends a buffer of at least n bytes. Its content is arbitrary.
func (p *Buffers) Get(n int) *Buffer {
	c := max(bits.Len(uint(max(n, 1)-1)), minClass)
	if c > maxClass {
		return &Buffer{B: make([]byte, n), class: c}
	}
	if b, ok := p.classes[c-minClass].Get().(*Buffer); ok {
		b.B = b.B[:cap(b.B)]
		return b
	}
	return &Buffer{B: make([]byte, 1<<c), class: c}
}

// Put takes a buffer back; nil is allowed. Nothing may refer to it afterwards.
func (p *Buffers) Put(b *Buffer) {
	if b != nil && b.class <= maxClass {
		p.classes[b.class-minClass].Put(b)
	}
}
