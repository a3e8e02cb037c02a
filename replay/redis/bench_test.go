package redis_test

import (
	"fmt"
	"regexp"
	"strconv"
	"testing"

	"turngate/replay"
	"turngate/replay/redis"
	"turngate/replay/redis/redistest"
	"turngate/replay/storetest"
)

// Benchmark runs against a server that syncs once a second, as most do. The disk
// of Redis is its memory.
func Benchmark(b *testing.B) {
	server := redistest.Start(b, "--appendfsync", "everysec")
	client := server.Client(b)
	used := regexp.MustCompile(`used_memory:(\d+)`)
	memory := func(b *testing.B) int64 {
		m := used.FindStringSubmatch(client.Info(b.Context(), "memory").Val())
		if m == nil {
			b.Fatal("no used_memory")
		}
		n, err := strconv.ParseInt(m[1], 10, 64)
		if err != nil {
			b.Fatal(err)
		}
		return n
	}
	n, before := 0, int64(0)
	storetest.Bench(b, func(b *testing.B) replay.Store {
		n++
		client.FlushAll(b.Context())
		before = memory(b)
		return open(b, server.URL(), redis.Options{Prefix: fmt.Sprint("bench", n)})
	}, func(b *testing.B, _ replay.Store) int64 { return memory(b) - before })
}
