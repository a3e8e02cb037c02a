package bolt

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"turngate/replay"
	"turngate/replay/internal/kit"
)

// put is a record on its way in. A transaction that several share may run it
// more than once, and all but the last time count for nothing.
type put struct {
	keys    kit.Keys
	linked  bool // has a PreviousID
	size    int64
	now     time.Time
	encoded []byte

	refused error // why it was not recorded, if that is no fault of the database
	freed   evicted
}

// Put implements [replay.Store]. It returns when the record is on disk.
func (s *Store) Put(ctx context.Context, scope replay.Scope, rec replay.Record) error {
	keys, err := kit.Prepare(scope, &rec, s.limits)
	if err != nil {
		return err
	}
	p := &put{keys: keys, linked: rec.PreviousID != "", size: rec.Size(), now: s.now()}
	if rec.Created.IsZero() {
		rec.Created = p.now
	}
	if err := s.base.Enter(ctx); err != nil {
		return err
	}
	defer s.base.Leave()
	p.encoded = s.base.Codec.Append(nil, &rec)
	return s.do(ctx, func() error {
		err := s.commit(p)
		if errors.Is(err, bolterrors.ErrMaxSizeReached) {
			// The estimate of what fits was off. Make room and try once more.
			if err := s.reclaimTo(context.Background(), s.cap/2); err != nil {
				return fmt.Errorf("put record: %w", err)
			}
			err = s.commit(p)
		}
		if err != nil {
			return fmt.Errorf("put record: %w", err)
		}
		s.count(p.freed)
		return p.refused
	})
}

func (s *Store) commit(p *put) error {
	return s.db.Batch(func(tx *bbolt.Tx) error {
		p.refused, p.freed = nil, evicted{}
		grown, err := s.insert(tx, p)
		if err != nil || p.refused != nil {
			return err
		}
		// Each Put removes more than it adds, as long as there is too much.
		p.freed, err = s.reclaim(tx, p.now, s.cap, 2*grown+64<<10)
		return err
	})
}

// insert writes the record and returns what it costs. If it refuses to, it has
// changed nothing, so that others in the transaction are not rolled back for it.
func (s *Store) insert(tx *bbolt.Tx, p *put) (grown int64, err error) {
	h := header{depth: 1, total: p.size}
	var old root
	var id uint64
	if p.linked {
		parent, ok := lookUp(tx, p.keys.Previous)
		if ok {
			id = parent.root()
			old, ok = readRoot(tx, id)
		}
		v := tx.Bucket(bucketRecords).Get(parent[:])
		if !ok || v == nil || s.expired(old, p.now) {
			p.refused = fmt.Errorf("previous %w", replay.ErrNotFound)
			return 0, nil
		}
		ph, _, _, err := readHeader(v)
		if err != nil {
			return 0, err
		}
		h.parent, h.depth, h.total = parent.seq(), ph.depth+1, ph.total+p.size
		if p.refused = kit.CheckChain(int(h.depth), h.total, s.limits); p.refused != nil {
			return 0, nil
		}
	}
	ids := slices.Clone(p.keys.IDs)
	ids = slices.DeleteFunc(ids, func(name kit.Key) bool {
		k, ok := lookUp(tx, name)
		return ok && p.linked && k.root() == id && isAncestor(tx, makeKey(id, h.parent), k)
	})
	if len(ids) == 0 {
		p.refused = replay.ErrInChain
		return 0, nil
	}
	h.names = slices.Concat(ids, p.keys.Items)
	value := append(h.append(nil), p.encoded...)
	grown = cost(len(value), len(h.names))
	if old.bytes+grown > s.cap {
		p.refused = fmt.Errorf("%w: its chain does not fit the store", replay.ErrTooLarge)
		return 0, nil
	}

	if !p.linked {
		if id, err = tx.Bucket(bucketRoots).NextSequence(); err != nil {
			return 0, err
		}
	}
	now := root{extended: max(p.now.UnixNano(), old.extended), bytes: old.bytes + grown, records: old.records + 1, seq: old.seq + 1}
	key := makeKey(id, now.seq)
	if err := writeRoot(tx, id, old, now); err != nil {
		return 0, err
	}
	if err := tx.Bucket(bucketRecords).Put(key[:], value); err != nil {
		return 0, err
	}
	for _, name := range h.names {
		if err := tx.Bucket(bucketNames).Put(name[:], key[:]); err != nil {
			return 0, err
		}
	}
	t := readTotals(tx)
	return grown, writeTotals(tx, totals{t.records + 1, t.bytes + grown})
}

// isAncestor reports whether k is the record at from or one before it.
func isAncestor(tx *bbolt.Tx, from, k recordKey) bool {
	for {
		if from == k {
			return true
		}
		v := tx.Bucket(bucketRecords).Get(from[:])
		h, _, _, err := readHeader(v)
		if err != nil || h.parent == 0 {
			return false
		}
		from = makeKey(from.root(), h.parent)
	}
}

// Delete implements [replay.Store].
func (s *Store) Delete(ctx context.Context, scope replay.Scope, id string) error {
	name, now := kit.ResponseKey(scope, id), s.now()
	return s.do(ctx, func() error {
		var missing error
		err := s.db.Batch(func(tx *bbolt.Tx) error {
			missing = nil
			k, ok := lookUp(tx, name)
			if !ok {
				missing = replay.ErrNotFound
				return nil
			}
			r, ok := readRoot(tx, k.root())
			if !ok || s.expired(r, now) || tx.Bucket(bucketRecords).Get(k[:]) == nil {
				missing = replay.ErrNotFound
				return nil
			}
			freed, err := removeRecord(tx, k)
			if err != nil {
				return err
			}
			left := r
			left.bytes, left.records = r.bytes-freed, r.records-1
			if left.records == 0 {
				return removeRoot(tx, k.root(), r)
			}
			return writeRoot(tx, k.root(), r, left)
		})
		if err != nil {
			return fmt.Errorf("delete record: %w", err)
		}
		return missing
	})
}
