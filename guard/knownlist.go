package guard

import (
	"bytes"
	"hash/maphash"
	"sync/atomic"

	"github.com/go-json-experiment/json/jsontext"
)

// headSize is how many bytes of a list of tools are looked at to guess which it
// is; maxHead bounds the lists that are found so.
const (
	headSize = 64
	maxHead  = 256 << 10
)

// heads finds a list of tools by its first bytes, so that one that was read
// before need not even be gone through to its end: the same bytes are the same
// JSON. One list has a place at a time; what is not found is read as usual.
type heads [256]atomic.Pointer[knownList]

type knownList struct {
	raw          []byte
	declarations *declarations
}

// at returns the known list that b begins with, or nil.
func (h *heads) at(b []byte, seed maphash.Seed) *knownList {
	if len(b) < headSize {
		return nil
	}
	k := h[maphash.Bytes(seed, b[:headSize])%uint64(len(h))].Load()
	if k == nil || !bytes.HasPrefix(b, k.raw) {
		return nil
	}
	return k
}

func (h *heads) put(k *knownList, seed maphash.Seed) {
	if len(k.raw) >= headSize && len(k.raw) <= maxHead && k.raw[0] == '[' {
		h[maphash.Bytes(seed, k.raw[:headSize])%uint64(len(h))].Store(k)
	}
}

// list returns what is known of a list of tools, or nil.
func (t *Tools) list(raw []byte) *declarations {
	k, ok := t.lists.get(raw)
	if !ok {
		return nil
	}
	t.heads.put(k, t.seed)
	return k.declarations
}

// learn keeps what raw declares.
func (t *Tools) learn(raw []byte, d *declarations) {
	k := &knownList{bytes.Clone(raw), d}
	t.lists.put(k.raw, k, d.count*toolSize)
	t.heads.put(k, t.seed)
}

// toolSize is about what a tool takes in the maps of its declarations.
const toolSize = 256

// list consumes a list of tools and keeps its bytes in raw.
func (r *requestReader) list(raw *jsontext.Value) error {
	r.peek()
	if r.known != nil {
		if k := r.known.heads.at(r.b[r.i:], r.known.seed); k != nil {
			*raw = r.b[r.i : r.i+len(k.raw) : r.i+len(k.raw)]
			r.i += len(k.raw)
			r.ahead = k
			return nil
		}
	}
	r.ahead = nil
	return r.value(raw, r.skip)
}
