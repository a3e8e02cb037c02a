package redis

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"turngate/replay"
)

// Delete implements [replay.Store].
func (s *Store) Delete(ctx context.Context, scope replay.Scope, id string) error {
	if err := s.base.Enter(ctx); err != nil {
		return err
	}
	defer s.base.Leave()
	if err := s.delete(ctx, scope, id); err != nil {
		return fmt.Errorf("delete record: %w", err)
	}
	return nil
}

func (s *Store) delete(ctx context.Context, scope replay.Scope, id string) error {
	at, err := s.find(ctx, scope, id)
	if err != nil {
		return err
	}
	now := s.now()
	reply, err := s.scripts.delete.Run(ctx, s.client, []string{s.keys.tree(at.root)},
		at.seq, ms(now), millis(s.limits.TTL)).StringSlice()
	if errors.Is(err, redis.Nil) {
		return replay.ErrNotFound
	}
	if err != nil {
		return err
	}
	if err := s.unname(ctx, reply[0], at.String()); err != nil {
		return err
	}
	// Time zero: a deletion makes nothing young.
	return s.scripts.account.Run(ctx, s.client, s.keys.index(), at.root, 0, "-"+reply[1], -1).Err()
}

// unname removes those of the names that point at what begins with target.
func (s *Store) unname(ctx context.Context, names, target string) error {
	return s.eachName(ctx, splitNames(names), func(p redis.Pipeliner, name string) {
		s.scripts.unname.Eval(ctx, p, []string{name}, target)
	})
}

// Sweep implements [replay.Store]. Several processes may sweep at once; each
// counts what it removed itself. It also gives a server that lost its data the
// scope key back, so that scopes stay the same.
func (s *Store) Sweep(ctx context.Context) error {
	if err := s.base.Enter(ctx); err != nil {
		return err
	}
	defer s.base.Leave()
	if k := s.scopeKey.Load(); k != nil {
		if _, err := s.agree(ctx, *k); err != nil {
			return fmt.Errorf("sweep: %w", err)
		}
	}
	for {
		more, err := s.evictOldest(ctx, s.now())
		if err != nil {
			return fmt.Errorf("sweep: %w", err)
		}
		if !more {
			return nil
		}
	}
}

// evictOldest removes the root that was extended least recently, if it is
// expired or there is too much; more is false if there was nothing to do. The
// hash goes before its entries in the index: who dies in between leaves
// something to find for the next.
func (s *Store) evictOldest(ctx context.Context, now time.Time) (more bool, err error) {
	oldest, err := s.scripts.oldest.Run(ctx, s.client, s.keys.index(),
		ms(now.Add(-s.limits.TTL)), s.limits.MaxBytes).StringSlice()
	if errors.Is(err, redis.Nil) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	root, extended, cause := oldest[0], oldest[1], oldest[2]
	reply, err := s.scripts.evict.Run(ctx, s.client, []string{s.keys.tree(root)}, extended).StringSlice()
	if err != nil {
		return false, err
	}
	if len(reply) == 1 {
		// It was extended a moment ago and the index does not know yet.
		return true, s.scripts.account.Run(ctx, s.client, s.keys.index(), root, reply[0], 0, 0).Err()
	}
	if len(reply) == 3 {
		records, err := strconv.ParseInt(reply[2], 10, 64)
		if err != nil {
			return false, fmt.Errorf("root %s: %w", root, err)
		}
		if cause == "ttl" {
			s.evictedTTL.Add(records)
		} else {
			s.evictedSize.Add(records)
		}
		if err := s.unname(ctx, reply[1], root+":"); err != nil {
			return false, err
		}
	}
	return true, s.scripts.forget.Run(ctx, s.client, s.keys.index(), root).Err()
}
