package guard

import (
	"bytes"
	"container/list"
	"hash/maphash"
	"sync"

	"turngate/guard/schema"
)

// Tools keeps what requests declare across turns. Requests of one session
// declare the same lists of tools again and again: a list is read once and then
// known by its bytes, and a schema is compiled once, at the first call that
// needs it. Make one with NewTools; it is safe for concurrent use.
type Tools struct {
	judge   *schema.Cache
	seed    maphash.Seed // of what turns remember by hash
	lists   known[*knownList]
	heads   heads // of lists
	schemas known[*Schema]
}

// Schema is one schema as a request gave it. It does not change.
type Schema struct {
	raw []byte

	describe sync.Once
	hash     string
	summary  []byte
}

// NewTools returns a store that keeps about limit bytes each of lists, of
// schemas, and of compiled schemas; 0 means 64 MiB.
func NewTools(limit int) *Tools {
	if limit <= 0 {
		limit = schema.DefaultCacheBytes
	}
	t := &Tools{judge: schema.NewCache(int64(limit)), seed: maphash.MakeSeed()}
	t.lists.init(limit)
	t.schemas.init(limit)
	return t
}

// schema returns the kept schema with these bytes.
func (t *Tools) schema(raw []byte) *Schema {
	if k, ok := t.schemas.get(raw); ok {
		return k
	}
	k := &Schema{raw: bytes.Clone(raw)}
	t.schemas.put(k.raw, k, 0)
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

// known finds values by the bytes that they were made of, the least recently
// used making room.
type known[V any] struct {
	mu    sync.Mutex
	seed  maphash.Seed
	byKey map[uint64]*list.Element // of *entry[V]
	order list.List                // most recently used first
	size  int
	limit int
}

type entry[V any] struct {
	key   uint64
	bytes []byte
	value V
	size  int
}

func (k *known[V]) init(limit int) {
	k.seed, k.byKey, k.limit = maphash.MakeSeed(), map[uint64]*list.Element{}, limit
}

func (k *known[V]) get(b []byte) (v V, ok bool) {
	key := maphash.Bytes(k.seed, b)
	k.mu.Lock()
	defer k.mu.Unlock()
	e, ok := k.byKey[key]
	if !ok || !bytes.Equal(e.Value.(*entry[V]).bytes, b) {
		return v, false
	}
	k.order.MoveToFront(e)
	return e.Value.(*entry[V]).value, true
}

// put keeps v, of extra bytes, under b, which must not change any more. Of two
// with one key the first stays.
func (k *known[V]) put(b []byte, v V, extra int) {
	key := maphash.Bytes(k.seed, b)
	k.mu.Lock()
	defer k.mu.Unlock()
	if _, ok := k.byKey[key]; ok || len(b)+extra > k.limit {
		return
	}
	k.byKey[key] = k.order.PushFront(&entry[V]{key, b, v, len(b) + extra})
	k.size += len(b) + extra
	for k.size > k.limit {
		old := k.order.Remove(k.order.Back()).(*entry[V])
		delete(k.byKey, old.key)
		k.size -= old.size
	}
}
