package redis

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"turngate/replay"
	"turngate/replay/internal/kit"
)

// maxEvictions bounds the roots that one Put removes when there is too much.
const maxEvictions = 16

// Put implements [replay.Store]. It takes three round trips, or two for a record
// that continues none.
func (s *Store) Put(ctx context.Context, scope replay.Scope, rec replay.Record) error {
	keys, err := kit.Prepare(scope, &rec, s.limits)
	if err != nil {
		return err
	}
	if err := s.base.Enter(ctx); err != nil {
		return err
	}
	defer s.base.Leave()
	now := s.now()
	if rec.Created.IsZero() {
		rec.Created = now
	}
	// Where the parent is, and where the record's own ids already are.
	parent, at := place{root: newRoot(), seq: "0"}, make([]place, len(keys.IDs))
	if rec.PreviousID != "" {
		found, err := s.lookUp(ctx, append([]kit.Key{keys.Previous}, keys.IDs...))
		if err != nil {
			return fmt.Errorf("put record: %w", err)
		}
		if found[0].root == "" {
			return fmt.Errorf("previous %w", replay.ErrNotFound)
		}
		parent, at = found[0], found[1:]
	}
	added, err := s.add(ctx, keys, at, parent, now, &rec)
	if err != nil {
		return err
	}
	total, err := s.publish(ctx, added, now)
	if err != nil {
		return fmt.Errorf("put record: %w", err)
	}
	// The record is in. What follows is housekeeping, and a sweep will see to
	// what fails here.
	if added.refresh {
		_ = s.refreshNames(ctx, added.place.root)
	}
	for n := 0; total > s.limits.MaxBytes && n < maxEvictions; n++ {
		if more, err := s.evictOldest(ctx, now); err != nil || !more {
			break
		}
	}
	return nil
}

// newRoot returns 128 random bits.
func newRoot() string {
	b := make([]byte, 16)
	_, _ = rand.Read(b) // never fails, by its contract
	return hex.EncodeToString(b)
}

// lookUp returns where names point, zero places for those that do not.
func (s *Store) lookUp(ctx context.Context, names []kit.Key) ([]place, error) {
	cmds := make([]*redis.StringCmd, len(names))
	_, err := s.client.Pipelined(ctx, func(p redis.Pipeliner) error {
		for i, n := range names {
			cmds[i] = p.Get(ctx, s.keys.name(n))
		}
		return nil
	})
	if err != nil && !errors.Is(err, redis.Nil) {
		return nil, err
	}
	places := make([]place, len(names))
	for i, c := range cmds {
		v, err := c.Result()
		if errors.Is(err, redis.Nil) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if p, ok := parsePlace(v); ok {
			places[i] = p
		}
	}
	return places, nil
}

// added is a record that is in its root's hash and has no names yet.
type added struct {
	place   place
	names   []kit.Key
	cost    int64
	refresh bool // the root's names are to be made to last
}

// add writes the record into the hash of its root.
func (s *Store) add(ctx context.Context, keys kit.Keys, at []place, parent place, now time.Time, rec *replay.Record) (added, error) {
	value := s.base.Codec.Append(nil, rec)
	a := added{cost: cost(len(value), len(keys.IDs)+len(keys.Items))}
	items := make([]byte, 0, len(keys.Items)*len(kit.Key{}))
	for _, k := range keys.Items {
		items = append(items, k[:]...)
	}
	args := []any{
		parent.seq, ms(now), millis(s.limits.TTL), rec.Size(), a.cost,
		s.limits.MaxChain, s.limits.MaxChainBytes, s.limits.MaxBytes, millis(s.treeLife()),
		value, items, len(keys.IDs),
	}
	for i, k := range keys.IDs {
		seq := "0"
		if at[i].root == parent.root {
			seq = at[i].seq
		}
		args = append(args, seq, k[:])
	}
	reply, err := s.scripts.put.Run(ctx, s.client, []string{s.keys.tree(parent.root)}, args...).Slice()
	if err != nil {
		return a, fmt.Errorf("put record: %w", err)
	}
	switch reply[0] {
	case "ok":
	case "notfound":
		return a, fmt.Errorf("previous %w", replay.ErrNotFound)
	case "inchain":
		return a, replay.ErrInChain
	case "toolong":
		return a, fmt.Errorf("%w: %d records, %d bytes", replay.ErrChainTooLong, reply[1], reply[2])
	case "toolarge":
		return a, fmt.Errorf("%w: its chain does not fit the store", replay.ErrTooLarge)
	default:
		return a, fmt.Errorf("put record: unknown answer %v", reply[0])
	}
	a.place = place{root: parent.root, seq: fmt.Sprint(reply[1])}
	a.refresh = reply[2] == int64(1)
	for i, k := range keys.IDs {
		if reply[3+i] == int64(0) {
			a.names = append(a.names, k)
		}
	}
	a.names = append(a.names, keys.Items...)
	return a, nil
}

// publish enters the record in the index and under its names, and returns the
// bytes of the whole store. From here on the record is found.
func (s *Store) publish(ctx context.Context, a added, now time.Time) (total int64, err error) {
	var account *redis.Cmd
	_, err = s.client.Pipelined(ctx, func(p redis.Pipeliner) error {
		account = s.scripts.account.Eval(ctx, p, s.keys.index(), a.place.root, ms(now), a.cost, 1)
		for _, n := range a.names {
			p.Set(ctx, s.keys.name(n), a.place.String(), s.nameLife())
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	return account.Int64()
}

// refreshNames makes all names of a root last.
func (s *Store) refreshNames(ctx context.Context, root string) error {
	all, err := s.scripts.names.Run(ctx, s.client, []string{s.keys.tree(root)}).Text()
	if err != nil {
		return err
	}
	return s.eachName(ctx, splitNames(all), func(p redis.Pipeliner, name string) {
		p.PExpire(ctx, name, s.nameLife())
	})
}

// namesAtOnce bounds one pipeline over names.
const namesAtOnce = 500

// eachName queues a command for each name, in pipelines of bounded length.
func (s *Store) eachName(ctx context.Context, names []kit.Key, queue func(redis.Pipeliner, string)) error {
	for len(names) > 0 {
		n := min(len(names), namesAtOnce)
		if _, err := s.client.Pipelined(ctx, func(p redis.Pipeliner) error {
			for _, k := range names[:n] {
				queue(p, s.keys.name(k))
			}
			return nil
		}); err != nil {
			return err
		}
		names = names[n:]
	}
	return nil
}
