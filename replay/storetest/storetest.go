// Package storetest is the suite that every replay store passes. It tests what
// [replay.Store] promises, through the interface alone.
package storetest

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"turngate/replay"
)

// Harness opens the stores under test.
type Harness struct {
	// Open opens an empty store with these limits and this clock, which does not
	// sweep by itself. The suite closes it.
	Open func(t *testing.T, limits replay.Limits, now func() time.Time) replay.Store
	// Reopen closes a store that Open gave and opens it again with what it had;
	// nil if the store keeps nothing beyond Close.
	Reopen func(t *testing.T, s replay.Store, limits replay.Limits, now func() time.Time) replay.Store
	// Share opens the same store once more, as another process would; nil if
	// only one can have it.
	Share func(t *testing.T, s replay.Store, limits replay.Limits, now func() time.Time) replay.Store
}

// Run runs the suite.
func Run(t *testing.T, h Harness) {
	for name, test := range map[string]func(*testing.T, Harness){
		"RoundTrip":      testRoundTrip,
		"Chain":          testChain,
		"Fork":           testFork,
		"Alias":          testAlias,
		"InChain":        testInChain,
		"IDTakenOver":    testIDTakenOver,
		"Scopes":         testScopes,
		"ScopeKey":       testScopeKey,
		"StrangeIDs":     testStrangeIDs,
		"Delete":         testDelete,
		"DeleteBreaks":   testDeleteBreaks,
		"Items":          testItems,
		"ItemsRefreshed": testItemsRefreshed,
		"Invalid":        testInvalid,
		"RecordSize":     testRecordSize,
		"ChainLength":    testChainLength,
		"ChainBytes":     testChainBytes,
		"Age":            testAge,
		"AgeByRoot":      testAgeByRoot,
		"Size":           testSize,
		"SizeByRoot":     testSizeByRoot,
		"SizeOneChain":   testSizeOneChain,
		"Concurrent":     testConcurrent,
		"Context":        testContext,
		"Ownership":      testOwnership,
		"Closed":         testClosed,
		"Reopen":         testReopen,
		"Share":          testShare,
		"Expand":         testExpand,
	} {
		t.Run(name, func(t *testing.T) { test(t, h) })
	}
}

const scope = replay.Scope("scope-a")

// Clock is a clock for tests. The zero value starts at a fixed time.
type Clock struct {
	mu  sync.Mutex
	off time.Duration
}

// Now returns the clock's time.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC).Add(c.off)
}

// Advance moves the clock.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.off += d
}

// Record returns a plausible record whose parts say what it is.
func Record(id, previous string) replay.Record {
	return replay.Record{
		ID: id, PreviousID: previous,
		Input:    []byte(`[{"role":"user", "content":"in ` + id + `"}]`),
		Output:   []byte(`[{"type":"message","id":"msg_` + id + `","role":"assistant","content":[{"type":"output_text","text":"out ` + id + `"}]}]`),
		Snapshot: []byte(`{"id":"` + id + `","object":"response","status":"completed"}`),
	}
}

// Padded returns a record like Record's with about n bytes more that do not
// compress.
func Padded(id, previous string, n int) replay.Record {
	rec := Record(id, previous)
	rec.Input = []byte(`[{"role":"user","content":"` + Noise(id, n) + `"}]`)
	return rec
}

// Noise returns n letters that do not compress, the same for the same seed.
func Noise(seed string, n int) string {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+/"
	x := uint64(14695981039346656037)
	for i := range len(seed) {
		x = (x ^ uint64(seed[i])) * 1099511628211
	}
	b := make([]byte, n)
	for i := range b {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		b[i] = letters[x>>58]
	}
	return string(b)
}

func open(t *testing.T, h Harness, limits replay.Limits) (replay.Store, *Clock) {
	t.Helper()
	clock := new(Clock)
	s := h.Open(t, limits, clock.Now)
	t.Cleanup(func() { closeStore(t, s) })
	return s, clock
}

func closeStore(t *testing.T, s replay.Store) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
}

func put(t *testing.T, s replay.Store, recs ...replay.Record) {
	t.Helper()
	for _, rec := range recs {
		if err := s.Put(t.Context(), scope, rec); err != nil {
			t.Fatalf("Put(%q after %q): %v", rec.ID, rec.PreviousID, err)
		}
	}
}

// ids returns the ids of the chain, joined, or the sentinel that Chain returned.
func ids(t *testing.T, s replay.Store, sc replay.Scope, id string) string {
	t.Helper()
	chain, err := s.Chain(t.Context(), sc, id)
	if errors.Is(err, replay.ErrNotFound) {
		return "not found"
	}
	if err != nil {
		t.Fatalf("Chain(%q): %v", id, err)
	}
	var b strings.Builder
	for i, r := range chain {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(r.ID)
	}
	return b.String()
}

func wantChain(t *testing.T, s replay.Store, id, want string) {
	t.Helper()
	if got := ids(t, s, scope, id); got != want {
		t.Errorf("chain of %q = %q, want %q", id, got, want)
	}
}

func wantErr(t *testing.T, what string, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%s: got error %v, want %v", what, err, want)
	}
}

func stats(t *testing.T, s replay.Store) replay.Stats {
	t.Helper()
	st, err := s.Stats(t.Context())
	if err != nil {
		t.Fatalf("Stats: %v", err)
	}
	return st
}

func sweep(t *testing.T, s replay.Store) {
	t.Helper()
	if err := s.Sweep(t.Context()); err != nil {
		t.Fatalf("Sweep: %v", err)
	}
}

func same(t *testing.T, got, want replay.Record) {
	t.Helper()
	if got.ID != want.ID || got.Alias != want.Alias || got.PreviousID != want.PreviousID || got.Declares != want.Declares ||
		!bytes.Equal(got.Input, want.Input) || !bytes.Equal(got.Output, want.Output) || !bytes.Equal(got.Snapshot, want.Snapshot) {
		t.Errorf("got record %s\nwant %s", show(got), show(want))
	}
}

func show(r replay.Record) string {
	return fmt.Sprintf("{%q %q %q %s %s %s %v}", r.ID, r.Alias, r.PreviousID, r.Input, r.Output, r.Snapshot, r.Declares)
}
