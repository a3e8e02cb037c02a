package memory

import (
	"context"
	"slices"

	"turngate/replay"
	"turngate/replay/internal/kit"
)

// find returns the live node under key, or nil. s.mu is held.
func (s *Store) find(names map[kit.Key]*node, key kit.Key) *node {
	n := names[key]
	if n == nil || s.expired(n.tree, s.now()) {
		return nil
	}
	return n
}

// Chain implements [replay.Store].
func (s *Store) Chain(ctx context.Context, scope replay.Scope, id string) ([]replay.Record, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if err := s.usable(ctx); err != nil {
		return nil, err
	}
	n := s.find(s.names, kit.ResponseKey(scope, id))
	if n == nil {
		return nil, replay.ErrNotFound
	}
	chain := make([]replay.Record, 0, n.depth)
	for ; n != nil; n = n.parent {
		if n.deleted {
			return nil, replay.ErrNotFound
		}
		chain = append(chain, n.rec)
	}
	slices.Reverse(chain)
	return chain, nil
}

// Get implements [replay.Store].
func (s *Store) Get(ctx context.Context, scope replay.Scope, id string) (replay.Record, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if err := s.usable(ctx); err != nil {
		return replay.Record{}, err
	}
	n := s.find(s.names, kit.ResponseKey(scope, id))
	if n == nil {
		return replay.Record{}, replay.ErrNotFound
	}
	return n.rec, nil
}

// Delete implements [replay.Store].
func (s *Store) Delete(ctx context.Context, scope replay.Scope, id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.usable(ctx); err != nil {
		return err
	}
	n := s.find(s.names, kit.ResponseKey(scope, id))
	if n == nil {
		return replay.ErrNotFound
	}
	s.remove(n)
	return nil
}

// Items implements [replay.Store].
func (s *Store) Items(ctx context.Context, scope replay.Scope, ids []string) ([][]byte, error) {
	at := make([]int, len(ids))
	place := make(map[*node]int)
	var recs []replay.Record
	s.mu.RLock()
	err := s.usable(ctx)
	for i, id := range ids {
		n := s.find(s.items, kit.ItemKey(scope, id))
		if n == nil {
			at[i] = -1
			continue
		}
		if _, ok := place[n]; !ok {
			place[n] = len(recs)
			recs = append(recs, n.rec)
		}
		at[i] = place[n]
	}
	s.mu.RUnlock()
	if err != nil {
		return nil, err
	}
	return kit.PickItems(ids, at, recs), nil
}
