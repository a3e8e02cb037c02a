// Package bolt is a replay store in one file, for one process: the default. It
// needs no server, survives kill -9, and keeps what it acknowledged.
//
// Each record is written in a transaction that is on disk before Put returns;
// Puts that come within 2 ms of each other share one. Reads see the last
// committed state and never wait for a write to reach the disk.
//
// The file grows to its limit and does not shrink: the space of removed records
// is used again. Values are compressed; nothing is encrypted, so the file is
// made readable for its owner only.
package bolt

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"turngate/replay"
	"turngate/replay/internal/kit"
)

// Options of a Store. The zero value is ready to use.
type Options struct {
	// Limits bound the store. MaxBytes is what the file may grow to; the records
	// in it get three fifths of that, because a page file is never full to the
	// brim and deleting needs room too.
	Limits replay.Limits
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// OpenTimeout bounds the wait for another process that has the file open; 0
	// means 2 s.
	OpenTimeout time.Duration
	// SweepEvery is the real time between sweeps; 0 means a minute, less than 0
	// never. What is expired is never found, swept or not.
	SweepEvery time.Duration
}

// Store keeps records in a bbolt file. It implements [replay.Store].
type Store struct {
	db     *bbolt.DB
	base   kit.Base
	limits replay.Limits
	cap    int64 // bytes of records kept
	now    func() time.Time
	key    []byte

	slots chan struct{} // one for each call that may be in the database

	evictedTTL, evictedSize atomic.Int64
}

var _ replay.Store = (*Store)(nil)

// maxCalls bounds the calls in the database at once, also those whose caller
// gave up: each holds its record until a disk that hangs moves on.
const maxCalls = 512

// batchDelay is how long a Put waits for others to share its transaction.
const batchDelay = 2 * time.Millisecond

// Open opens the store in the file at path and makes it if need be, with mode
// 0600; missing folders are made with mode 0700. Only one process can have it
// open. The store must be closed.
func Open(path string, opts Options) (*Store, error) {
	if opts.OpenTimeout <= 0 {
		opts.OpenTimeout = 2 * time.Second
	}
	s := &Store{limits: opts.Limits.WithDefaults(), now: opts.Now, slots: make(chan struct{}, maxCalls)}
	if s.now == nil {
		s.now = time.Now
	}
	s.cap = s.limits.MaxBytes / 5 * 3
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	limit := s.limits.MaxBytes
	if fi, err := os.Stat(path); err == nil {
		limit = max(limit, fi.Size()) // the limit was lowered: what is there stays usable
	}
	var err error
	s.db, err = bbolt.Open(path, 0o600, &bbolt.Options{
		Timeout:      opts.OpenTimeout,
		FreelistType: bbolt.FreelistMapType,
		MaxSize:      int(limit),
	})
	if errors.Is(err, bolterrors.ErrTimeout) {
		return nil, fmt.Errorf("open store %s: in use by another process", path)
	}
	if err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	s.db.MaxBatchDelay = batchDelay
	s.db.AllocSize = int(min(max(s.limits.MaxBytes/64, 64<<10), 16<<20))
	if err := errors.Join(os.Chmod(path, 0o600), s.setUp()); err != nil {
		return nil, errors.Join(fmt.Errorf("open store: %w", err), s.db.Close())
	}
	if err := s.base.Start(opts.SweepEvery, s.Sweep); err != nil {
		return nil, errors.Join(fmt.Errorf("open store: %w", err), s.db.Close())
	}
	return s, nil
}

// setUp makes the buckets and the scope key, or reads it. A file that has them
// is not written to: it must open on a full disk too.
func (s *Store) setUp() error {
	err := s.db.View(func(tx *bbolt.Tx) error {
		meta := tx.Bucket(bucketMeta)
		if meta == nil {
			return nil
		}
		if v := meta.Get(metaFormat); len(v) != 1 || v[0] != format {
			return errors.New("the file has another format than this version reads")
		}
		s.key = bytes.Clone(meta.Get(metaScopeKey))
		return nil
	})
	if err != nil || s.key != nil {
		return err
	}
	s.key = make([]byte, 32)
	_, _ = rand.Read(s.key) // never fails, by its contract
	return s.db.Update(func(tx *bbolt.Tx) error {
		for _, name := range buckets {
			if _, err := tx.CreateBucket(name); err != nil {
				return err
			}
		}
		meta := tx.Bucket(bucketMeta)
		return errors.Join(meta.Put(metaFormat, []byte{format}), meta.Put(metaScopeKey, s.key))
	})
}

// do runs f, which uses the database, until it is done or ctx is; f goes on in
// the second case, so it must not touch what its caller owns.
func (s *Store) do(ctx context.Context, f func() error) error {
	if err := s.base.Enter(ctx); err != nil {
		return err
	}
	select {
	case s.slots <- struct{}{}:
	case <-ctx.Done():
		s.base.Leave()
		return fmt.Errorf("store is busy: %w", ctx.Err())
	}
	done := make(chan error, 1)
	go func() {
		defer s.base.Leave()
		defer func() { <-s.slots }()
		done <- f()
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return fmt.Errorf("store: %w", ctx.Err())
	}
}

// ScopeKey implements [replay.Store]. The key lives as long as the file.
func (s *Store) ScopeKey(ctx context.Context) ([]byte, error) {
	if err := s.base.Enter(ctx); err != nil {
		return nil, err
	}
	defer s.base.Leave()
	return s.key, nil
}

// Stats implements [replay.Store].
func (s *Store) Stats(ctx context.Context) (replay.Stats, error) {
	st, err := call(ctx, s, func() (st replay.Stats, err error) {
		err = s.db.View(func(tx *bbolt.Tx) error {
			t := readTotals(tx)
			st.Records, st.Bytes = t.records, t.bytes
			return nil
		})
		return st, err
	})
	st.EvictedTTL, st.EvictedSize = s.evictedTTL.Load(), s.evictedSize.Load()
	return st, err
}

// call is do for an f with a result.
func call[T any](ctx context.Context, s *Store, f func() (T, error)) (T, error) {
	result := make(chan T, 1)
	err := s.do(ctx, func() error {
		v, err := f()
		result <- v
		return err
	})
	select {
	case v := <-result:
		return v, err
	default:
		var zero T
		return zero, err
	}
}

// Close implements [replay.Store].
func (s *Store) Close() error { return s.base.Close(s.db) }
