package main

import (
	"errors"
	"log/slog"
	"strings"
	"time"

	"turngate/cmd/turngate/config"
	"turngate/replay"
	"turngate/replay/bolt"
	"turngate/replay/memory"
	"turngate/replay/redis"
)

// openStore opens the store of responses that the settings name; nil if no
// upstream needs one. The settings were checked.
func openStore(s *config.Settings, log *slog.Logger) (replay.Store, error) {
	if !s.ReplaysAny() {
		return nil, nil
	}
	limits := replay.Limits{TTL: s.StoreTTL, MaxBytes: s.StoreMaxBytes}
	scheme, path, _ := strings.Cut(s.StoreURL, ":")
	switch scheme {
	case "memory":
		return memory.New(memory.Options{Limits: limits}), nil
	case "bolt":
		store, err := bolt.Open(path, bolt.Options{Limits: limits})
		if err != nil {
			return nil, err // and not store: a nil *bolt.Store would be one
		}
		return store, nil
	}
	redis.SetLogger(log)
	store, err := redis.Open(s.StoreURL, redis.Options{Limits: limits})
	if err != nil {
		return nil, err
	}
	return store, nil
}

// closeStore closes the store, and gives up on one that does not come to an end.
func (s *server) closeStore() {
	if s.store == nil {
		return
	}
	closed := make(chan error, 1)
	go func() { closed <- s.store.Close() }()
	late := time.NewTimer(closeGrace)
	defer late.Stop()
	err := errors.New("it still works at something")
	select {
	case err = <-closed:
	case <-late.C:
	}
	if err != nil {
		s.log.Warn("the store was not closed well", "error", err)
	}
}
