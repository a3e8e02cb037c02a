// Package memory is a replay store that keeps everything in the memory of the
// process, for those who want nothing on disk. What it holds is gone when the
// process ends, and other processes do not see it.
package memory

import (
	"container/list"
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"sync"
	"time"

	"turngate/replay"
	"turngate/replay/internal/kit"
)

// Options of a Store. The zero value is ready to use.
type Options struct {
	Limits replay.Limits
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// SweepEvery is the real time between sweeps; 0 means a minute, less than 0
	// never. What is expired is never found, swept or not.
	SweepEvery time.Duration
}

// Store keeps records in memory, bounded by its limits. It implements
// [replay.Store]; records that it returns share their bytes with it.
type Store struct {
	limits  replay.Limits
	now     func() time.Time
	key     []byte
	sweeper *kit.Sweeper

	mu     sync.RWMutex
	closed bool
	names  map[kit.Key]*node // by response id
	items  map[kit.Key]*node // by item id
	trees  list.List         // of *tree, least recently extended first
	stats  replay.Stats
}

var _ replay.Store = (*Store)(nil)

// tree is all records of one root. Its fields are guarded by Store.mu.
type tree struct {
	place    *list.Element
	extended time.Time
	bytes    int64
	nodes    map[*node]struct{}
}

// node is one record. It does not change once it is in a tree, except deleted.
type node struct {
	rec     replay.Record
	keys    kit.Keys
	parent  *node
	tree    *tree
	depth   int   // records from the root to here
	total   int64 // their Size
	bytes   int64 // what this one counts for
	deleted bool
}

// overhead is what a record costs beside its bytes, about.
const overhead = 512

// New returns an empty store.
func New(opts Options) *Store {
	s := &Store{
		limits: opts.Limits.WithDefaults(),
		now:    opts.Now,
		key:    make([]byte, 32),
		names:  make(map[kit.Key]*node),
		items:  make(map[kit.Key]*node),
	}
	if s.now == nil {
		s.now = time.Now
	}
	_, _ = rand.Read(s.key) // never fails, by its contract
	s.sweeper = kit.StartSweeper(opts.SweepEvery, s.Sweep)
	return s
}

// ScopeKey implements [replay.Store]. The key lives as long as the store.
func (s *Store) ScopeKey(ctx context.Context) ([]byte, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.key, s.usable(ctx)
}

// usable says why no call can go on. s.mu is held.
func (s *Store) usable(ctx context.Context) error {
	if s.closed {
		return replay.ErrClosed
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("memory store: %w", err)
	}
	return nil
}

// Put implements [replay.Store].
func (s *Store) Put(ctx context.Context, scope replay.Scope, rec replay.Record) error {
	keys, err := kit.Prepare(scope, &rec, s.limits)
	if err != nil {
		return err
	}
	rec.Input, rec.Output, rec.Snapshot = slices.Clone(rec.Input), slices.Clone(rec.Output), slices.Clone(rec.Snapshot)
	n := &node{rec: rec, keys: keys, depth: 1, total: rec.Size()}
	n.bytes = rec.Size() + overhead + int64(len(keys.Items))*64

	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.usable(ctx); err != nil {
		return err
	}
	now := s.now()
	if rec.Created.IsZero() {
		n.rec.Created = now
	}
	s.expire(now)
	if rec.PreviousID != "" {
		parent := s.names[keys.Previous]
		if parent == nil {
			return fmt.Errorf("previous %w", replay.ErrNotFound)
		}
		n.parent, n.tree = parent, parent.tree
		n.depth, n.total = parent.depth+1, parent.total+n.total
		if err := kit.CheckChain(n.depth, n.total, s.limits); err != nil {
			return err
		}
	}
	n.keys.IDs = slices.DeleteFunc(slices.Clone(keys.IDs), func(k kit.Key) bool { return n.hasAncestor(s.names[k]) })
	if len(n.keys.IDs) == 0 {
		return replay.ErrInChain
	}
	if n.bytes > s.limits.MaxBytes || n.tree != nil && n.tree.bytes+n.bytes > s.limits.MaxBytes {
		return fmt.Errorf("%w: its chain does not fit the store", replay.ErrTooLarge)
	}
	s.add(n, now)
	s.shrink()
	return nil
}

func (n *node) hasAncestor(a *node) bool {
	if a == nil || a.tree != n.tree {
		return false
	}
	for p := n.parent; p != nil; p = p.parent {
		if p == a {
			return true
		}
	}
	return false
}

// add puts n into its tree, or a new one, and under its names. s.mu is held.
func (s *Store) add(n *node, now time.Time) {
	if n.tree == nil {
		n.tree = &tree{nodes: make(map[*node]struct{})}
		n.tree.place = s.trees.PushBack(n.tree)
	}
	n.tree.extended = now
	n.tree.nodes[n] = struct{}{}
	n.tree.bytes += n.bytes
	s.trees.MoveToBack(n.tree.place)
	for _, k := range n.keys.IDs {
		s.names[k] = n
	}
	for _, k := range n.keys.Items {
		s.items[k] = n
	}
	s.stats.Records++
	s.stats.Bytes += n.bytes
}

// remove takes n out of its tree and its names. s.mu is held.
func (s *Store) remove(n *node) {
	n.deleted = true
	for _, k := range n.keys.IDs {
		if s.names[k] == n {
			delete(s.names, k)
		}
	}
	for _, k := range n.keys.Items {
		if s.items[k] == n {
			delete(s.items, k)
		}
	}
	n.rec = replay.Record{} // its children still point here
	delete(n.tree.nodes, n)
	n.tree.bytes -= n.bytes
	s.stats.Records--
	s.stats.Bytes -= n.bytes
	if len(n.tree.nodes) == 0 {
		s.trees.Remove(n.tree.place)
	}
}

// removeTree removes all records of t and returns their number. s.mu is held.
func (s *Store) removeTree(t *tree) int64 {
	count := int64(len(t.nodes))
	for n := range t.nodes {
		s.remove(n)
	}
	return count
}

// expire removes the trees that are too old. s.mu is held.
func (s *Store) expire(now time.Time) {
	for e := s.trees.Front(); e != nil; e = s.trees.Front() {
		t := e.Value.(*tree)
		if !s.expired(t, now) {
			return
		}
		s.stats.EvictedTTL += s.removeTree(t)
	}
}

func (s *Store) expired(t *tree, now time.Time) bool {
	return now.Sub(t.extended) >= s.limits.TTL
}

// shrink removes the least recently extended trees until the rest fits; the
// tree extended last always does. s.mu is held.
func (s *Store) shrink() {
	for s.stats.Bytes > s.limits.MaxBytes && s.trees.Len() > 1 {
		s.stats.EvictedSize += s.removeTree(s.trees.Front().Value.(*tree))
	}
}

// Sweep implements [replay.Store].
func (s *Store) Sweep(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.usable(ctx); err != nil {
		return err
	}
	s.expire(s.now())
	s.shrink()
	return nil
}

// Stats implements [replay.Store].
func (s *Store) Stats(ctx context.Context) (replay.Stats, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.stats, s.usable(ctx)
}

// Close implements [replay.Store]. It drops everything.
func (s *Store) Close() error {
	s.sweeper.Stop()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	clear(s.names)
	clear(s.items)
	s.trees.Init()
	return nil
}
