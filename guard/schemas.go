package guard

import (
	"bytes"
	"container/list"
	"hash/maphash"
	"slices"
	"sync"

	"turngate/guard/schema"
)

// Schemas keeps the schemas of tools across turns: requests of one session
// declare the same ones again and again, so a turn holds a reference and not a
// copy, and each is compiled once, at the first call that needs it. Make one
// with NewSchemas; it is safe for concurrent use.
type Schemas struct {
	judge *schema.Cache

	mu    sync.Mutex
	seed  maphash.Seed
	kept  map[uint64]*list.Element // of *Schema
	order *list.List               // most recently used first
	size  int
	limit int
}

// Schema is one schema as a request gave it. It does not change.
type Schema struct {
	raw []byte
	key uint64

	describe sync.Once
	hash     string
	summary  []byte
}

// NewSchemas returns a store that keeps about limit bytes of schemas, and as
// much again of compiled ones; 0 means 64 MiB.
func NewSchemas(limit int) *Schemas {
	if limit <= 0 {
		limit = schema.DefaultCacheBytes
	}
	return &Schemas{
		judge: schema.NewCache(int64(limit)), seed: maphash.MakeSeed(),
		kept: map[uint64]*list.Element{}, order: list.New(), limit: limit,
	}
}

// keep returns the kept schema with these bytes, copying them if there is none.
func (s *Schemas) keep(raw []byte) *Schema {
	key := maphash.Bytes(s.seed, raw)
	s.mu.Lock()
	defer s.mu.Unlock()
	if e, ok := s.kept[key]; ok {
		if k := e.Value.(*Schema); bytes.Equal(k.raw, raw) {
			s.order.MoveToFront(e)
			return k
		}
		return &Schema{raw: bytes.Clone(raw)} // a collision: good for this turn
	}
	k := &Schema{raw: bytes.Clone(raw), key: key}
	s.kept[key] = s.order.PushFront(k)
	s.size += len(raw)
	for s.size > s.limit && s.order.Len() > 1 {
		old := s.order.Remove(s.order.Back()).(*Schema)
		delete(s.kept, old.key)
		s.size -= len(old.raw)
	}
	return k
}

// Hash is the schema's hash for people and metrics (rule A4).
func (k *Schema) Hash() string {
	k.describe.Do(k.work)
	return k.hash
}

// Summary is the bounded description of the schema as JSON (rule A4); it must
// not be changed.
func (k *Schema) Summary() []byte {
	k.describe.Do(k.work)
	return k.summary
}

func (k *Schema) work() { k.hash, k.summary = schema.Hash(k.raw), schema.Summary(k.raw) }

// declared is a schema as it was declared, still in the body's bytes.
type declared struct {
	id  identity
	raw []byte
}

// Keep makes the catalog independent of the bodies that it was read from: what
// it needs of them goes to s, or is dropped if s is nil. Until then the bodies
// must stay as they are.
func (c *Catalog) Keep(s *Schemas) {
	if s != nil {
		for _, d := range c.pending {
			if c.schemas == nil {
				c.schemas = make(map[identity][]*Schema, len(c.pending))
			}
			if k := s.keep(d.raw); len(c.schemas[d.id]) < maxDeclarations && !slices.Contains(c.schemas[d.id], k) {
				c.schemas[d.id] = append(c.schemas[d.id], k)
			}
		}
	}
	c.pending = nil
}

// maxDeclarations bounds the schemas of one name. Several come from a tool that
// is declared again with another schema in mid-session.
const maxDeclarations = 8

// ofServer is the identity under which the schema of an MCP server's tool is
// kept. No namespace of a declaration has a NUL in front.
func ofServer(label, name string) identity { return identity{"\x00" + label, name} }
