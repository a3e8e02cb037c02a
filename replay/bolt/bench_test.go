package bolt_test

import (
	"os"
	"path/filepath"
	"testing"

	"turngate/replay"
	"turngate/replay/bolt"
	"turngate/replay/storetest"
)

func Benchmark(b *testing.B) {
	paths := make(map[replay.Store]string)
	storetest.Bench(b, func(b *testing.B) replay.Store {
		path := filepath.Join(b.TempDir(), "replay.db")
		s := open(b, path, bolt.Options{SweepEvery: -1})
		paths[s] = path
		return s
	}, func(b *testing.B, s replay.Store) int64 {
		fi, err := os.Stat(paths[s])
		if err != nil {
			b.Fatal(err)
		}
		return fi.Size()
	})
}
