package redis_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"turngate/replay/redis"
)

// What the client library says of a server that is not there goes where the
// process logs, and nowhere else.
func TestSetLogger(t *testing.T) {
	var log bytes.Buffer
	redis.SetLogger(slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})))
	t.Cleanup(func() { redis.SetLogger(slog.New(slog.DiscardHandler)) })
	s, err := redis.Open("redis://127.0.0.1:1/0", redis.Options{SweepEvery: -1})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.ScopeKey(t.Context()); err == nil {
		t.Error("a server that is not there has a key")
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if got := log.String(); !strings.Contains(got, "level=DEBUG") || !strings.Contains(got, "redis client") {
		t.Errorf("log: %q", got)
	}
}
