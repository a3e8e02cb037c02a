package bolt

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"turngate/replay"
	"turngate/replay/storetest"
)

// A disk that hangs costs a caller its deadline and no more: reads go on, and
// what was given up is written or not, but whole.
func TestHangingDisk(t *testing.T) {
	s, err := Open(filepath.Join(t.TempDir(), "replay.db"), Options{SweepEvery: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Put(t.Context(), "s", storetest.Record("a", "")); err != nil {
		t.Fatal(err)
	}
	tx, err := s.db.Begin(true) // as good as a disk that hangs: nobody else can write
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	rec := storetest.Record("b", "a")
	if err := s.Put(ctx, "s", rec); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Put: %v, want the deadline", err)
	}
	clear(rec.Input) // the caller's again
	if _, err := s.Chain(t.Context(), "s", "a"); err != nil {
		t.Errorf("Chain: %v", err)
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	if err := s.Put(t.Context(), "s", storetest.Record("c", "a")); err != nil {
		t.Fatal(err)
	}
	chain, err := s.Chain(t.Context(), "s", "b")
	if errors.Is(err, replay.ErrNotFound) {
		return
	}
	if err != nil || string(chain[1].Input) != string(storetest.Record("b", "a").Input) {
		t.Errorf("what was given up: %v, %v", chain, err)
	}
}
