package memory_test

import (
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"turngate/replay"
	"turngate/replay/memory"
	"turngate/replay/storetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestStore(t *testing.T) {
	storetest.Run(t, storetest.Harness{
		Open: func(_ *testing.T, limits replay.Limits, now func() time.Time) replay.Store {
			return memory.New(memory.Options{Limits: limits, Now: now, SweepEvery: -1})
		},
	})
}

// A store at rest sweeps by itself.
func TestSweepsByItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := memory.New(memory.Options{Limits: replay.Limits{TTL: time.Hour}})
		defer s.Close()
		if err := s.Put(t.Context(), "s", storetest.Record("a", "")); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour + 2*time.Minute)
		if st, err := s.Stats(t.Context()); err != nil || st.Records != 0 || st.EvictedTTL != 1 {
			t.Errorf("stats = %+v, %v; want one record evicted", st, err)
		}
	})
}
