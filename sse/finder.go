package sse

import "bytes"

// finder finds a byte in what grows at its end and is consumed at its start. It
// keeps what it has learnt: each byte is searched once, however the line ends
// of one kind lie among those of the other.
type finder struct {
	c    byte
	at   int // one is here, and none between what was asked last and it; -1: not known
	none int // up to here there is none from what was asked last on
}

func (f *finder) init(c byte) { f.c, f.at = c, -1 }

// next returns the index of the first such byte in b at or behind from, or -1.
// from does not go back.
func (f *finder) next(b []byte, from int) int {
	switch {
	case f.at >= from:
		return f.at
	case f.none >= len(b):
		return -1
	}
	return f.search(b, from)
}

// search is apart so that next is small enough to be inlined.
func (f *finder) search(b []byte, from int) int {
	start := max(from, f.none)
	f.at = bytes.IndexByte(b[start:], f.c)
	if f.at < 0 {
		f.none = len(b)
	} else {
		f.at += start
	}
	return f.at
}

// advance makes offsets count from n bytes further on.
func (f *finder) advance(n int) { f.at, f.none = f.at-n, f.none-n }
