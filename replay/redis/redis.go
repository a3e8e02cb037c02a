// Package redis is a replay store in Redis or Valkey, a cluster included, for
// many proxies at once: a chain that one began another continues.
//
// All records of a root are one hash, so they live on one node, are read in one
// round trip, expire as one, and are removed as one. To find the hash from an id
// takes one round trip before that.
//
// How durable an acknowledged record is, is up to the server: with appendfsync
// everysec a crash of the server can lose the last second. The server's own
// eviction (maxmemory-policy) does no harm beyond what it removes: a root goes
// as a whole, and a missing index entry means not found.
package redis

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"turngate/replay"
	"turngate/replay/internal/kit"
)

// Options of a Store. The zero value is ready to use.
type Options struct {
	// Limits bound the store. All processes that share it should have the same.
	Limits replay.Limits
	// Now is the clock; nil means time.Now. The clocks of the processes that
	// share a store may differ by much less than the TTL.
	Now func() time.Time
	// Prefix begins every key; empty means "turngate". Stores with different
	// prefixes have nothing in common.
	Prefix string
	// SweepEvery is the real time between sweeps; 0 means a minute, less than 0
	// never. What is expired is never found, swept or not.
	SweepEvery time.Duration
}

// Store keeps records in Redis. It implements [replay.Store].
type Store struct {
	client  redis.UniversalClient
	base    kit.Base
	limits  replay.Limits
	now     func() time.Time
	keys    keys
	scripts scripts

	scopeKey atomic.Pointer[[]byte]

	evictedTTL, evictedSize atomic.Int64
}

var _ replay.Store = (*Store)(nil)

// Open returns the store at a URL:
//
//	redis://[[user]:password@]host[:port][/db]          rediss: with TLS
//	redis+cluster://[[user]:password@]host[:port],...   rediss+cluster: with TLS
//
// It does not connect: a server that is down makes calls fail, and they work
// again when it is back. Errors do not quote the URL. The store must be closed.
func Open(url string, opts Options) (*Store, error) {
	client, err := newClient(url)
	if err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	s := &Store{client: client, limits: opts.Limits.WithDefaults(), now: opts.Now, keys: keys(opts.Prefix), scripts: newScripts()}
	if s.now == nil {
		s.now = time.Now
	}
	if s.keys == "" {
		s.keys = "turngate"
	}
	if err := s.base.Start(opts.SweepEvery, s.Sweep); err != nil {
		return nil, errors.Join(fmt.Errorf("open store: %w", err), client.Close())
	}
	return s, nil
}

// ScopeKey implements [replay.Store]. The first process to ask makes the key.
func (s *Store) ScopeKey(ctx context.Context) ([]byte, error) {
	if err := s.base.Enter(ctx); err != nil {
		return nil, err
	}
	defer s.base.Leave()
	if k := s.scopeKey.Load(); k != nil {
		return *k, nil
	}
	key := make([]byte, 32)
	_, _ = rand.Read(key) // never fails, by its contract
	return s.agree(ctx, key)
}

// agree offers a scope key and takes the one that the server has.
func (s *Store) agree(ctx context.Context, key []byte) ([]byte, error) {
	if err := s.client.SetNX(ctx, s.keys.scopeKey(), key, 0).Err(); err != nil {
		return nil, fmt.Errorf("make scope key: %w", err)
	}
	got, err := s.client.Get(ctx, s.keys.scopeKey()).Bytes()
	if err != nil {
		return nil, fmt.Errorf("read scope key: %w", err)
	}
	s.scopeKey.Store(&got)
	return got, nil
}

// Stats implements [replay.Store].
func (s *Store) Stats(ctx context.Context) (replay.Stats, error) {
	st := replay.Stats{EvictedTTL: s.evictedTTL.Load(), EvictedSize: s.evictedSize.Load()}
	if err := s.base.Enter(ctx); err != nil {
		return st, err
	}
	defer s.base.Leave()
	var total struct {
		Records int64 `redis:"r"`
		Bytes   int64 `redis:"b"`
	}
	if err := s.client.HMGet(ctx, s.keys.total(), "r", "b").Scan(&total); err != nil {
		return st, fmt.Errorf("read totals: %w", err)
	}
	st.Records, st.Bytes = total.Records, total.Bytes
	return st, nil
}

// Close implements [replay.Store].
func (s *Store) Close() error { return s.base.Close(s.client) }
