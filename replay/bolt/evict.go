package bolt

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"time"

	"go.etcd.io/bbolt"

	"turngate/replay/internal/kit"
)

// Causes, as the bucket of doomed roots has them.
const (
	causeTTL  = 't'
	causeSize = 's'
)

// evicted counts removed records by cause, and the bytes of all.
type evicted struct{ ttl, size, bytes int64 }

func (s *Store) count(e evicted) {
	s.evictedTTL.Add(e.ttl)
	s.evictedSize.Add(e.size)
}

// reclaim dooms the roots that are expired, and of the others those extended
// least recently as long as the store holds more than limit, and removes records
// of doomed roots worth about budget bytes. A root that is doomed is gone at
// once for all readers; its records may be removed over many transactions, so
// that none of them is large.
func (s *Store) reclaim(tx *bbolt.Tx, now time.Time, limit, budget int64) (done evicted, err error) {
	for done.bytes < budget {
		id, cause, ok := doomedRoot(tx)
		if !ok {
			if ok, err = s.doom(tx, now, limit); err != nil || !ok {
				return done, err
			}
			continue
		}
		n, freed, err := removeRecords(tx, id, budget-done.bytes)
		if err != nil {
			return done, err
		}
		done.bytes += freed
		if cause == causeTTL {
			done.ttl += n
		} else {
			done.size += n
		}
	}
	return done, nil
}

func doomedRoot(tx *bbolt.Tx) (id uint64, cause byte, ok bool) {
	k, v := tx.Bucket(bucketDoomed).Cursor().First()
	if len(k) != 8 || len(v) != 1 {
		return 0, 0, false
	}
	return binary.BigEndian.Uint64(k), v[0], true
}

// doom takes one root out of reach, if there is one to take.
func (s *Store) doom(tx *bbolt.Tx, now time.Time, limit int64) (bool, error) {
	k, _ := tx.Bucket(bucketAge).Cursor().First()
	if len(k) != 16 {
		return false, nil
	}
	id := binary.BigEndian.Uint64(k[8:])
	r, ok := readRoot(tx, id)
	if !ok {
		return true, tx.Bucket(bucketAge).Delete(bytes.Clone(k))
	}
	cause := byte(causeTTL)
	if !s.expired(r, now) {
		if readTotals(tx).bytes <= limit {
			return false, nil
		}
		cause = causeSize
	}
	if err := removeRoot(tx, id, r); err != nil {
		return false, err
	}
	return true, tx.Bucket(bucketDoomed).Put(rootID(id), []byte{cause})
}

// removeRecords removes records of a doomed root, worth about budget bytes, and
// with the last of them the root. It returns their number and bytes.
func removeRecords(tx *bbolt.Tx, id uint64, budget int64) (n, freed int64, err error) {
	prefix := rootID(id)
	for freed < budget {
		// A cursor does not survive a deletion, so look again each time.
		k, _ := tx.Bucket(bucketRecords).Cursor().Seek(prefix)
		if len(k) != len(recordKey{}) || !bytes.HasPrefix(k, prefix) {
			return n, freed, tx.Bucket(bucketDoomed).Delete(prefix)
		}
		b, err := removeRecord(tx, recordKey(k))
		if err != nil {
			return n, freed, err
		}
		n, freed = n+1, freed+b
	}
	return n, freed, nil
}

// removeRecord removes the record at k, the names that still point at it, and
// its share of the totals, and returns what it cost.
func removeRecord(tx *bbolt.Tx, k recordKey) (int64, error) {
	records, names := tx.Bucket(bucketRecords), tx.Bucket(bucketNames)
	v := records.Get(k[:])
	_, list, _, err := readHeader(v)
	if err != nil {
		return 0, err
	}
	freed := cost(len(v), len(list)/len(kit.Key{}))
	list = bytes.Clone(list)
	for ; len(list) > 0; list = list[len(kit.Key{}):] {
		name := list[:len(kit.Key{})]
		if !bytes.Equal(names.Get(name), k[:]) {
			continue
		}
		if err := names.Delete(name); err != nil {
			return 0, err
		}
	}
	if err := records.Delete(k[:]); err != nil {
		return 0, err
	}
	t := readTotals(tx)
	return freed, writeTotals(tx, totals{t.records - 1, t.bytes - freed})
}

// sweepStep is about what one transaction of a sweep removes, in bytes.
const sweepStep = 1 << 20

// Sweep implements [replay.Store].
func (s *Store) Sweep(ctx context.Context) error {
	if err := s.do(ctx, func() error { return s.reclaimTo(ctx, s.cap) }); err != nil {
		return fmt.Errorf("sweep: %w", err)
	}
	return nil
}

// reclaimTo reclaims in small transactions until the store holds at most limit
// bytes and nothing that is expired.
func (s *Store) reclaimTo(ctx context.Context, limit int64) error {
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		idle, err := s.nothingToReclaim(limit)
		if err != nil || idle {
			return err
		}
		var e evicted
		if err := s.db.Update(func(tx *bbolt.Tx) (err error) {
			e, err = s.reclaim(tx, s.now(), limit, sweepStep)
			return err
		}); err != nil {
			return err
		}
		s.count(e)
	}
}

// nothingToReclaim looks without writing: a sweep of a store at rest costs no
// transaction.
func (s *Store) nothingToReclaim(limit int64) (idle bool, err error) {
	err = s.db.View(func(tx *bbolt.Tx) error {
		if k, _ := tx.Bucket(bucketDoomed).Cursor().First(); k != nil {
			return nil
		}
		k, _ := tx.Bucket(bucketAge).Cursor().First()
		if len(k) != 16 {
			idle = true
			return nil
		}
		r, ok := readRoot(tx, binary.BigEndian.Uint64(k[8:]))
		idle = ok && !s.expired(r, s.now()) && readTotals(tx).bytes <= limit
		return nil
	})
	return idle, err
}
