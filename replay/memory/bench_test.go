package memory_test

import (
	"testing"

	"turngate/replay"
	"turngate/replay/memory"
	"turngate/replay/storetest"
)

func Benchmark(b *testing.B) {
	storetest.Bench(b, func(*testing.B) replay.Store { return memory.New(memory.Options{SweepEvery: -1}) }, nil)
}
