package redis_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"turngate/replay"
	"turngate/replay/redis"
	"turngate/replay/redis/redistest"
	"turngate/replay/storetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func open(t testing.TB, url string, opts redis.Options) *redis.Store {
	t.Helper()
	opts.SweepEvery = -1
	s, err := redis.Open(url, opts)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// harness gives each store a prefix of its own on one server.
func harness(url string) storetest.Harness {
	prefixes := make(map[replay.Store]string)
	again := func(t *testing.T, s replay.Store, limits replay.Limits, now func() time.Time) replay.Store {
		return open(t, url, redis.Options{Limits: limits, Now: now, Prefix: prefixes[s]})
	}
	return storetest.Harness{
		Open: func(t *testing.T, limits replay.Limits, now func() time.Time) replay.Store {
			prefix := fmt.Sprintf("%s-%d", t.Name(), len(prefixes))
			s := open(t, url, redis.Options{Limits: limits, Now: now, Prefix: prefix})
			prefixes[s] = prefix
			return s
		},
		Reopen: func(t *testing.T, s replay.Store, limits replay.Limits, now func() time.Time) replay.Store {
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			return again(t, s, limits, now)
		},
		Share: again,
	}
}

func TestStore(t *testing.T) {
	storetest.Run(t, harness(redistest.Start(t).URL()))
}

func TestCluster(t *testing.T) {
	url, nodes := redistest.StartCluster(t)
	storetest.Run(t, harness(url))
	for _, n := range nodes {
		if size := n.Client(t).DBSize(t.Context()).Val(); size == 0 {
			t.Errorf("node %s holds nothing: the keys are not spread", n.Addr)
		}
	}
}

// A server that goes away makes calls fail, not lie, and what it acknowledged
// is there when it is back.
func TestRestart(t *testing.T) {
	server := redistest.Start(t)
	s := open(t, server.URL(), redis.Options{})
	defer s.Close()
	put := func(ctx context.Context, id, previous string) error {
		return s.Put(ctx, "s", storetest.Record(id, previous))
	}
	if err := put(t.Context(), "a", ""); err != nil {
		t.Fatal(err)
	}
	server.Stop(t)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	if _, err := s.Chain(ctx, "s", "a"); err == nil || errors.Is(err, replay.ErrNotFound) {
		t.Errorf("Chain with the server down: %v, want an error that is not ErrNotFound", err)
	}
	if err := put(ctx, "b", "a"); err == nil || errors.Is(err, replay.ErrNotFound) {
		t.Errorf("Put with the server down: %v, want an error that is not ErrNotFound", err)
	}
	server.Restart(t)
	if err := put(t.Context(), "b", "a"); err != nil {
		t.Fatal(err)
	}
	if chain, err := s.Chain(t.Context(), "s", "b"); err != nil || len(chain) != 2 {
		t.Errorf("chain after the restart = %d records, %v; want 2", len(chain), err)
	}
}

// A server that lost its data gets the scope key back from whoever knows it.
func TestScopeKeySurvivesFlush(t *testing.T) {
	server := redistest.Start(t)
	s := open(t, server.URL(), redis.Options{})
	defer s.Close()
	want, err := s.ScopeKey(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Client(t).FlushAll(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	if err := s.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	late := open(t, server.URL(), redis.Options{})
	defer late.Close()
	if got, err := late.ScopeKey(t.Context()); err != nil || string(got) != string(want) {
		t.Errorf("ScopeKey = %x, %v; want %x", got, err, want)
	}
}

// Everything in the server expires there too, the names of a long-lived chain
// after the chain.
func TestServerExpiry(t *testing.T) {
	server := redistest.Start(t)
	clock := new(storetest.Clock)
	s := open(t, server.URL(), redis.Options{Limits: replay.Limits{TTL: time.Hour}, Now: clock.Now})
	defer s.Close()
	c := server.Client(t)
	last := ""
	for i := range 4 {
		id := fmt.Sprint("r", i)
		if err := s.Put(t.Context(), "s", storetest.Record(id, last)); err != nil {
			t.Fatal(err)
		}
		last = id
		// As if the server's clock moved along: all that lives now lives shorter.
		clock.Advance(40 * time.Minute)
		for _, key := range c.Keys(t.Context(), "*").Val() {
			if ttl := c.PTTL(t.Context(), key).Val(); ttl > 40*time.Minute {
				c.PExpire(t.Context(), key, ttl-40*time.Minute)
			} else if ttl > 0 {
				c.Del(t.Context(), key)
			}
		}
		if chain, err := s.Chain(t.Context(), "s", "r0"); err != nil || len(chain) != 1 {
			t.Fatalf("after %d: the first id finds %d records, %v", i, len(chain), err)
		}
	}
	for _, key := range c.Keys(t.Context(), "*").Val() {
		if ttl := c.PTTL(t.Context(), key).Val(); ttl < 0 && !strings.Contains(key, "{all}") {
			t.Errorf("key %q does not expire", key)
		}
	}
}

// Nothing stays behind when records go.
func TestNothingLeft(t *testing.T) {
	server := redistest.Start(t)
	clock := new(storetest.Clock)
	s := open(t, server.URL(), redis.Options{Limits: replay.Limits{TTL: time.Hour}, Now: clock.Now})
	defer s.Close()
	ctx := t.Context()
	for _, rec := range []replay.Record{storetest.Record("a", ""), storetest.Record("b", "a"), storetest.Record("c", "")} {
		if err := s.Put(ctx, "s", rec); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Delete(ctx, "s", "c"); err != nil {
		t.Fatal(err)
	}
	clock.Advance(2 * time.Hour)
	if err := s.Sweep(ctx); err != nil {
		t.Fatal(err)
	}
	if keys := server.Client(t).Keys(ctx, "*").Val(); len(keys) != 1 || !strings.HasSuffix(keys[0], ":total") {
		t.Errorf("keys left: %q, want the totals only", keys)
	}
}

func TestOpenErrors(t *testing.T) {
	for _, url := range []string{
		"", "http://h", "redis://user:secret@[::1/0", "redis://:secret@h/notanumber", "redis+cluster://:secret@h:1,,h:2",
		"redis+cluster://:secret@h:1/3", "redis+cluster://:sec%ZZret@h:1", "redis://:secret@h:1/0?nonsense=1",
	} {
		s, err := redis.Open(url, redis.Options{SweepEvery: -1})
		if err == nil {
			t.Errorf("Open(%q) succeeded", url)
			s.Close()
		} else if strings.Contains(err.Error(), "sec") {
			t.Errorf("Open(%q) tells the password: %v", url, err)
		}
	}
}
