package bolt_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"

	"turngate/replay"
	"turngate/replay/bolt"
	"turngate/replay/storetest"
)

func TestMain(m *testing.M) {
	if exit, ok := child(); ok {
		os.Exit(exit)
	}
	goleak.VerifyTestMain(m)
}

func open(t testing.TB, path string, opts bolt.Options) *bolt.Store {
	t.Helper()
	s, err := bolt.Open(path, opts)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestStore: the suite that every store passes (R10, R11).
func TestStore(t *testing.T) {
	paths := make(map[replay.Store]string)
	storetest.Run(t, storetest.Harness{
		Open: func(t *testing.T, limits replay.Limits, now func() time.Time) replay.Store {
			path := filepath.Join(t.TempDir(), "replay.db")
			s := open(t, path, bolt.Options{Limits: limits, Now: now, SweepEvery: -1})
			paths[s] = path
			return s
		},
		Reopen: func(t *testing.T, s replay.Store, limits replay.Limits, now func() time.Time) replay.Store {
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			return open(t, paths[s], bolt.Options{Limits: limits, Now: now, SweepEvery: -1})
		},
	})
}
