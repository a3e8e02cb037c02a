package memory_test

import (
	"testing"
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
