package schema

import (
	"container/list"
	"crypto/sha256"
	"sync"
)

// DefaultCacheBytes is the limit of a cache that was given none.
const DefaultCacheBytes = 64 << 20

// Cache judges calls and remembers the schemas it has compiled for that, the
// least recently used ones until its limit is reached. Schemas are told apart by
// SHA-256 over their bytes as they come, not by [Hash], which a stranger could
// make collide.
//
// The zero value is ready for use and has the default limit. A Cache is safe for
// concurrent use and must not be copied.
type Cache struct {
	limit int64

	mu      sync.Mutex
	entries map[[sha256.Size]byte]*list.Element
	recent  list.List // of *entry, the latest first
	size    int64     // of the entries that have been compiled
}

// entry is a schema in the cache. Its key never changes; value is set once.
type entry struct {
	key   [sha256.Size]byte
	once  sync.Once
	value *compiled

	settled bool // counted in size; under the cache's lock
}

// NewCache returns a cache that keeps about limit bytes of compiled schemas; 0
// or less means [DefaultCacheBytes]. A schema larger than the limit is still
// compiled and used, but not kept.
func NewCache(limit int64) *Cache {
	return &Cache{limit: limit}
}

// Len returns how many schemas the cache remembers, rejected ones included.
func (c *Cache) Len() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.entries)
}

// get returns the compiled form of a schema.
func (c *Cache) get(schema []byte) *compiled {
	e := c.entry(sha256.Sum256(schema))
	e.once.Do(func() {
		e.value = compile(schema)
		c.settle(e)
	})
	return e.value
}

// entry finds or makes the entry for a key and makes it the latest.
func (c *Cache) entry(key [sha256.Size]byte) *entry {
	c.mu.Lock()
	defer c.mu.Unlock()
	if at, ok := c.entries[key]; ok {
		c.recent.MoveToFront(at)
		return at.Value.(*entry)
	}
	if c.entries == nil {
		c.entries = map[[sha256.Size]byte]*list.Element{}
	}
	e := &entry{key: key}
	c.entries[key] = c.recent.PushFront(e)
	return e
}

// settle counts an entry that has just been compiled and makes room for it.
// Entries that are still being compiled have no size yet and are passed over:
// there are only as many as there are callers waiting.
func (c *Cache) settle(e *entry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e.settled = true
	c.size += int64(e.value.bytes)
	limit := c.limit
	if limit <= 0 {
		limit = DefaultCacheBytes
	}
	for at := c.recent.Back(); at != nil && c.size > limit; {
		old, before := at.Value.(*entry), at.Prev()
		if old.settled {
			c.size -= int64(old.value.bytes)
			delete(c.entries, old.key)
			c.recent.Remove(at)
		}
		at = before
	}
}
