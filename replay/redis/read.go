package redis

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/redis/go-redis/v9"

	"turngate/replay"
	"turngate/replay/internal/kit"
)

// find returns where the response named id is, or ErrNotFound.
func (s *Store) find(ctx context.Context, scope replay.Scope, id string) (place, error) {
	found, err := s.lookUp(ctx, []kit.Key{kit.ResponseKey(scope, id)})
	if err != nil {
		return place{}, err
	}
	if found[0].root == "" {
		return place{}, replay.ErrNotFound
	}
	return found[0], nil
}

// Chain implements [replay.Store] in two round trips, whatever the length.
func (s *Store) Chain(ctx context.Context, scope replay.Scope, id string) ([]replay.Record, error) {
	if err := s.base.Enter(ctx); err != nil {
		return nil, err
	}
	defer s.base.Leave()
	chain, err := s.chain(ctx, scope, id)
	if err != nil {
		return nil, fmt.Errorf("read chain: %w", err)
	}
	return chain, nil
}

func (s *Store) chain(ctx context.Context, scope replay.Scope, id string) ([]replay.Record, error) {
	at, err := s.find(ctx, scope, id)
	if err != nil {
		return nil, err
	}
	values, err := s.scripts.chain.Run(ctx, s.client, []string{s.keys.tree(at.root)},
		at.seq, ms(s.now()), millis(s.limits.TTL)).StringSlice()
	if errors.Is(err, redis.Nil) {
		return nil, replay.ErrNotFound
	}
	if err != nil {
		return nil, err
	}
	chain := make([]replay.Record, len(values))
	for i, v := range values {
		if chain[i], err = s.base.Codec.Decode([]byte(v)); err != nil {
			return nil, err
		}
	}
	slices.Reverse(chain)
	return chain, nil
}

// Get implements [replay.Store].
func (s *Store) Get(ctx context.Context, scope replay.Scope, id string) (replay.Record, error) {
	if err := s.base.Enter(ctx); err != nil {
		return replay.Record{}, err
	}
	defer s.base.Leave()
	at, err := s.find(ctx, scope, id)
	if err != nil {
		return replay.Record{}, fmt.Errorf("get record: %w", err)
	}
	recs, err := s.fetch(ctx, []place{at})
	switch {
	case err != nil:
		return replay.Record{}, fmt.Errorf("get record: %w", err)
	case recs[0].ID == "":
		return replay.Record{}, fmt.Errorf("get record: %w", replay.ErrNotFound)
	}
	return recs[0], nil
}

// fetch reads single records in one round trip; a zero record stands for one
// that is not there.
func (s *Store) fetch(ctx context.Context, places []place) ([]replay.Record, error) {
	if len(places) == 0 {
		return nil, nil
	}
	oldest := s.now().Add(-s.limits.TTL).UnixMilli()
	cmds := make([]*redis.SliceCmd, len(places))
	if _, err := s.client.Pipelined(ctx, func(p redis.Pipeliner) error {
		for i, at := range places {
			cmds[i] = p.HMGet(ctx, s.keys.tree(at.root), "t", "r"+at.seq)
		}
		return nil
	}); err != nil {
		return nil, err
	}
	recs := make([]replay.Record, len(places))
	for i, c := range cmds {
		v := c.Val()
		extended, ok1 := v[0].(string)
		value, ok2 := v[1].(string)
		if !ok1 || !ok2 {
			continue
		}
		if t, err := strconv.ParseInt(extended, 10, 64); err != nil || t <= oldest {
			continue
		}
		var err error
		if recs[i], err = s.base.Codec.Decode([]byte(value)); err != nil {
			return nil, err
		}
	}
	return recs, nil
}

// Items implements [replay.Store] in two round trips.
func (s *Store) Items(ctx context.Context, scope replay.Scope, ids []string) ([][]byte, error) {
	if err := s.base.Enter(ctx); err != nil {
		return nil, err
	}
	defer s.base.Leave()
	if len(ids) == 0 {
		return nil, nil
	}
	names := make([]kit.Key, len(ids))
	for i, id := range ids {
		names[i] = kit.ItemKey(scope, id)
	}
	found, err := s.lookUp(ctx, names)
	if err != nil {
		return nil, fmt.Errorf("look up items: %w", err)
	}
	at := make([]int, len(ids))
	known := make(map[place]int)
	var places []place
	for i, p := range found {
		if p.root == "" {
			at[i] = -1
			continue
		}
		if _, ok := known[p]; !ok {
			known[p] = len(places)
			places = append(places, p)
		}
		at[i] = known[p]
	}
	recs, err := s.fetch(ctx, places)
	if err != nil {
		return nil, fmt.Errorf("look up items: %w", err)
	}
	return kit.PickItems(ids, at, recs), nil
}
