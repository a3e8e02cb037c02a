package storetest

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"turngate/replay"
)

func testRecordSize(t *testing.T, h Harness) {
	s, _ := open(t, h, replay.Limits{MaxRecordBytes: 10_000})
	put(t, s, Padded("a", "", 9_000))
	wantErr(t, "Put of a larger one", s.Put(t.Context(), scope, Padded("b", "a", 10_000)), replay.ErrTooLarge)
	wantChain(t, s, "a", "a")
	wantChain(t, s, "b", "not found")
}

func testChainLength(t *testing.T, h Harness) {
	s, _ := open(t, h, replay.Limits{MaxChain: 3})
	put(t, s, Record("a", ""), Record("b", "a"), Record("c", "b"))
	wantErr(t, "Put of a fourth", s.Put(t.Context(), scope, Record("d", "c")), replay.ErrChainTooLong)
	put(t, s, Record("e", "b"))
	wantChain(t, s, "c", "a b c")
	wantChain(t, s, "e", "a b e")
}

func testChainBytes(t *testing.T, h Harness) {
	s, _ := open(t, h, replay.Limits{MaxChainBytes: 25_000})
	put(t, s, Padded("a", "", 10_000), Padded("b", "a", 10_000))
	wantErr(t, "Put of too much", s.Put(t.Context(), scope, Padded("c", "b", 10_000)), replay.ErrChainTooLong)
	put(t, s, Padded("d", "a", 10_000))
	wantChain(t, s, "d", "a d")
}

func testAge(t *testing.T, h Harness) {
	s, clock := open(t, h, replay.Limits{TTL: time.Hour})
	put(t, s, Record("a", ""))
	clock.Advance(time.Hour - time.Second)
	wantChain(t, s, "a", "a")
	sweep(t, s)
	wantChain(t, s, "a", "a")

	// Expired is not found, swept or not.
	clock.Advance(time.Second)
	wantChain(t, s, "a", "not found")
	_, err := s.Get(t.Context(), scope, "a")
	wantErr(t, "Get", err, replay.ErrNotFound)
	wantErr(t, "Delete", s.Delete(t.Context(), scope, "a"), replay.ErrNotFound)
	wantErr(t, "Put after it", s.Put(t.Context(), scope, Record("b", "a")), replay.ErrNotFound)
	if items, err := s.Items(t.Context(), scope, []string{"msg_a"}); err != nil || items[0] != nil {
		t.Errorf("item = %s, %v; want none", items, err)
	}
	sweep(t, s)
	if st := stats(t, s); st.Records != 0 || st.Bytes != 0 || st.EvictedTTL != 1 || st.EvictedSize != 0 {
		t.Errorf("stats = %+v, want nothing kept and one evicted by age", st)
	}
	put(t, s, Record("a", ""))
	wantChain(t, s, "a", "a")
}

func testAgeByRoot(t *testing.T, h Harness) {
	s, clock := open(t, h, replay.Limits{TTL: time.Hour})
	put(t, s, Record("a", ""), Record("z", ""))
	last := "a"
	for i := range 10 {
		clock.Advance(40 * time.Minute)
		next := fmt.Sprintf("a%d", i)
		put(t, s, Record(next, last))
		sweep(t, s)
		last = next
	}
	// Each put made all of them young again, the first and its items too.
	wantChain(t, s, last, "a a0 a1 a2 a3 a4 a5 a6 a7 a8 a9")
	wantChain(t, s, "a", "a")
	put(t, s, Record("fork", "a"))
	if items, err := s.Items(t.Context(), scope, []string{"msg_a"}); err != nil || items[0] == nil {
		t.Errorf("item = %s, %v; want it", items, err)
	}
	wantChain(t, s, "z", "not found")
	if st := stats(t, s); st.Records != 12 || st.EvictedTTL != 1 {
		t.Errorf("stats = %+v, want 12 kept and 1 evicted", st)
	}
}

func testSize(t *testing.T, h Harness) {
	const limit, each, count = 4 << 20, 20_000, 600
	s, clock := open(t, h, replay.Limits{MaxBytes: limit})
	for i := range count {
		put(t, s, Padded(fmt.Sprintf("r%d", i), "", each))
		clock.Advance(time.Second)
		if st := stats(t, s); st.Bytes > limit {
			t.Fatalf("after %d: %d bytes, more than %d", i, st.Bytes, limit)
		}
	}
	sweep(t, s)
	st := stats(t, s)
	if st.Records+st.EvictedSize != count || st.EvictedTTL != 0 || st.Records < limit/each/4 {
		t.Errorf("stats = %+v, want all %d accounted for, and a good part kept", st, count)
	}
	// The oldest are gone, the youngest are there, and nothing in between.
	for i := range count {
		want := "not found"
		if i >= count-int(st.Records) {
			want = fmt.Sprintf("r%d", i)
		}
		wantChain(t, s, fmt.Sprintf("r%d", i), want)
	}
}

func testSizeByRoot(t *testing.T, h Harness) {
	s, clock := open(t, h, replay.Limits{MaxBytes: 4 << 20})
	put(t, s, Record("live", ""), Padded("idle", "", 1000), Padded("idle2", "idle", 1000))
	last, want := "live", "live"
	for i := range 300 {
		clock.Advance(time.Second)
		put(t, s, Padded(fmt.Sprintf("r%d", i), "", 20_000))
		if i%20 == 0 {
			next := fmt.Sprintf("live%d", i)
			put(t, s, Record(next, last))
			last, want = next, want+" "+next
		}
	}
	wantChain(t, s, last, want)
	wantChain(t, s, "idle", "not found")
	wantChain(t, s, "idle2", "not found")
}

// A chain that fills the store alone cannot push out its own head.
func testSizeOneChain(t *testing.T, h Harness) {
	s, clock := open(t, h, replay.Limits{MaxBytes: 2 << 20})
	put(t, s, Padded("r", "", 50_000))
	last, n := "r", 1
	for i := range 100 {
		clock.Advance(time.Second)
		next := fmt.Sprintf("r%d", i)
		err := s.Put(t.Context(), scope, Padded(next, last, 50_000))
		if errors.Is(err, replay.ErrTooLarge) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		last, n = next, n+1
	}
	if n < 10 || n > 42 {
		t.Errorf("%d records of 50 kB fit 2 MiB", n)
	}
	sweep(t, s)
	chain, err := s.Chain(t.Context(), scope, last)
	if err != nil || len(chain) != n {
		t.Errorf("chain = %d records, %v; want %d", len(chain), err, n)
	}
	put(t, s, Record("other", ""))
	wantChain(t, s, "other", "other")
}
