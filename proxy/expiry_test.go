package proxy

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"turngate/proxy/mock"
	"turngate/replay"
	"turngate/replay/memory"
)

// R11: a conversation goes when it was not continued for as long as the limit
// says, all of it at once, and no client sees more than that it is gone.
func TestR11Expiry(t *testing.T) {
	var now atomic.Int64
	now.Store(time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC).UnixNano())
	store := memory.New(memory.Options{
		SweepEvery: -1, Now: func() time.Time { return time.Unix(0, now.Load()) },
		Limits: replay.Limits{TTL: time.Hour},
	})
	t.Cleanup(func() { store.Close() })
	rig := newReplayRig(t, withStore(store), reply("resp_1", "1"), reply("resp_2", "2"), reply("resp_3", "3"))
	later := func(d time.Duration) { now.Add(int64(d)) }

	rig.ask(`{"model":"m","stream":true,"input":"a"}`)
	later(50 * time.Minute)
	rig.ask(`{"model":"m","stream":true,"input":"b","previous_response_id":"resp_1"}`)
	later(50 * time.Minute)
	rig.ask(`{"model":"m","stream":true,"input":"c","previous_response_id":"resp_1","store":false}`)
	later(11 * time.Minute)
	rig.wantUnknown("resp_1", nil)
	rig.wantUnknown("resp_2", nil)

	if err := store.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]float64{"turngate_replay_records": 0, "turngate_replay_bytes": 0, "turngate_replay_evictions_total": 2} {
		if got := rig.metric(name); got != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	if got := rig.metric("turngate_replay_evictions_total", "cause", "ttl"); got != 2 {
		t.Errorf("%v evicted for their age", got)
	}
}

// K-G12: over its size the store lets the oldest conversations go, and no client
// sees an error.
func TestKG12Size(t *testing.T) {
	store := memory.New(memory.Options{SweepEvery: -1, Limits: replay.Limits{MaxBytes: 100 << 10}})
	t.Cleanup(func() { store.Close() })
	var turns []mock.Turn
	for _, id := range []string{"resp_1", "resp_2", "resp_3", "resp_4"} {
		turns = append(turns, reply(id, strings.Repeat(id, 40<<10/len(id))))
	}
	rig := newReplayRig(t, withStore(store), turns...)
	for range turns {
		rig.ask(`{"model":"m","stream":true,"input":"a"}`)
	}
	rig.wantUnknown("resp_1", nil)
	rig.ask(`{"model":"m","stream":true,"input":"b","previous_response_id":"resp_4","store":false}`)
	if got := rig.metric("turngate_replay_evictions_total", "cause", "size"); got < 1 {
		t.Errorf("%v evicted", got)
	}
	if got := rig.metric("turngate_replay_operations_total", "operation", "put", "result", "ok"); got != 4 {
		t.Errorf("%v puts", got)
	}
}
