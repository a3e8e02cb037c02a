package bolt

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"time"

	"go.etcd.io/bbolt"

	"turngate/replay"
	"turngate/replay/internal/kit"
)

// find returns the value of the live record that name points at, valid for the
// transaction, or ErrNotFound.
func (s *Store) find(tx *bbolt.Tx, name kit.Key, now time.Time) (recordKey, []byte, error) {
	k, ok := lookUp(tx, name)
	if !ok {
		return k, nil, replay.ErrNotFound
	}
	r, ok := readRoot(tx, k.root())
	if !ok || s.expired(r, now) {
		return k, nil, replay.ErrNotFound
	}
	v := tx.Bucket(bucketRecords).Get(k[:])
	if v == nil {
		return k, nil, replay.ErrNotFound
	}
	return k, v, nil
}

// Chain implements [replay.Store]. It copies the compressed records in one
// transaction and opens them after it, so that a long chain does not keep the
// database from using freed pages again.
func (s *Store) Chain(ctx context.Context, scope replay.Scope, id string) ([]replay.Record, error) {
	name, now := kit.ResponseKey(scope, id), s.now()
	chain, err := call(ctx, s, func() ([]replay.Record, error) {
		var values [][]byte
		err := s.db.View(func(tx *bbolt.Tx) error {
			k, v, err := s.find(tx, name, now)
			if err != nil {
				return err
			}
			for {
				h, _, rec, err := readHeader(v)
				if err != nil {
					return err
				}
				values = append(values, bytes.Clone(rec))
				if h.parent == 0 {
					return nil
				}
				k = makeKey(k.root(), h.parent)
				if v = tx.Bucket(bucketRecords).Get(k[:]); v == nil {
					return replay.ErrNotFound // one before it was deleted
				}
			}
		})
		if err != nil {
			return nil, err
		}
		chain := make([]replay.Record, len(values))
		for i, v := range values {
			if chain[i], err = s.base.Codec.Decode(v); err != nil {
				return nil, err
			}
		}
		slices.Reverse(chain)
		return chain, nil
	})
	if err != nil {
		return nil, fmt.Errorf("read chain: %w", err)
	}
	return chain, nil
}

// Get implements [replay.Store].
func (s *Store) Get(ctx context.Context, scope replay.Scope, id string) (replay.Record, error) {
	name, now := kit.ResponseKey(scope, id), s.now()
	rec, err := call(ctx, s, func() (replay.Record, error) {
		var value []byte
		err := s.db.View(func(tx *bbolt.Tx) error {
			_, v, err := s.find(tx, name, now)
			if err != nil {
				return err
			}
			_, _, rec, err := readHeader(v)
			value = bytes.Clone(rec)
			return err
		})
		if err != nil {
			return replay.Record{}, err
		}
		return s.base.Codec.Decode(value)
	})
	if err != nil {
		return replay.Record{}, fmt.Errorf("get record: %w", err)
	}
	return rec, nil
}

// Items implements [replay.Store].
func (s *Store) Items(ctx context.Context, scope replay.Scope, ids []string) ([][]byte, error) {
	now := s.now()
	names := make([]kit.Key, len(ids))
	for i, id := range ids {
		names[i] = kit.ItemKey(scope, id)
	}
	ids = slices.Clone(ids)
	items, err := call(ctx, s, func() ([][]byte, error) {
		at := make([]int, len(names))
		place := make(map[recordKey]int)
		var values [][]byte
		err := s.db.View(func(tx *bbolt.Tx) error {
			for i, name := range names {
				k, v, err := s.find(tx, name, now)
				if err != nil {
					at[i] = -1
					continue
				}
				if _, ok := place[k]; !ok {
					_, _, rec, err := readHeader(v)
					if err != nil {
						return err
					}
					place[k] = len(values)
					values = append(values, bytes.Clone(rec))
				}
				at[i] = place[k]
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		recs := make([]replay.Record, len(values))
		for i, v := range values {
			if recs[i], err = s.base.Codec.Decode(v); err != nil {
				return nil, err
			}
		}
		return kit.PickItems(ids, at, recs), nil
	})
	if err != nil {
		return nil, fmt.Errorf("look up items: %w", err)
	}
	return items, nil
}
