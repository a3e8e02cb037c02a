package bolt_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"turngate/replay"
	"turngate/replay/bolt"
	"turngate/replay/storetest"
)

func TestModes(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no modes")
	}
	path := filepath.Join(t.TempDir(), "a", "b", "replay.db")
	if err := open(t, path, bolt.Options{}).Close(); err != nil {
		t.Fatal(err)
	}
	want := map[string]fs.FileMode{path: 0o600, filepath.Dir(path): 0o700, filepath.Dir(filepath.Dir(path)): 0o700}
	for p, mode := range want {
		if fi, err := os.Stat(p); err != nil || fi.Mode().Perm() != mode {
			t.Errorf("%s: mode %v, %v; want %v", p, fi.Mode().Perm(), err, mode)
		}
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := open(t, path, bolt.Options{}).Close(); err != nil {
		t.Fatal(err)
	}
	if fi, err := os.Stat(path); err != nil || fi.Mode().Perm() != 0o600 {
		t.Errorf("mode of a file found at 0644: %v, %v; want 0600", fi.Mode().Perm(), err)
	}
}

func TestOpenErrors(t *testing.T) {
	dir := t.TempDir()
	held := filepath.Join(dir, "held.db")
	s := open(t, held, bolt.Options{})
	defer s.Close()
	if _, err := bolt.Open(held, bolt.Options{OpenTimeout: time.Millisecond}); err == nil || !strings.Contains(err.Error(), "another process") {
		t.Errorf("Open of a held file: %v", err)
	}
	garbage := filepath.Join(dir, "garbage.db")
	if err := os.WriteFile(garbage, []byte(strings.Repeat("garbage ", 4096)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := bolt.Open(garbage, bolt.Options{}); err == nil {
		t.Error("Open of a file that is no store succeeded")
	}
	if _, err := bolt.Open(dir, bolt.Options{}); err == nil {
		t.Error("Open of a folder succeeded")
	}
}

// The file stays within MaxBytes, whatever the sizes of the records that come
// and go, and no Put fails for want of room.
func TestFileSize(t *testing.T) {
	const limit = 12 << 20
	path := filepath.Join(t.TempDir(), "replay.db")
	s := open(t, path, bolt.Options{Limits: replay.Limits{MaxBytes: limit}, SweepEvery: -1})
	defer s.Close()
	var written int64
	last := ""
	sizes := []int{300, 75_000, 4_000, 150_000, 20_000, 0, 1_000_000}
	for i := 0; written < 2*limit; i++ {
		id := fmt.Sprint("r", i)
		size := sizes[i%len(sizes)]
		if i%3 == 0 {
			last = ""
		}
		rec := storetest.Padded(id, last, size)
		err := s.Put(t.Context(), "s", rec)
		if errors.Is(err, replay.ErrNotFound) && last != "" {
			t.Fatalf("the chain being written was evicted")
		}
		if err != nil {
			t.Fatalf("Put of %d bytes after %d: %v", size, written, err)
		}
		written += rec.Size()
		last = id
	}
	fi, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	st, err := s.Stats(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("wrote %d MB, limit %d MB: file %d MB, %+v", written>>20, limit>>20, fi.Size()>>20, st)
	if fi.Size() > limit || st.Bytes > limit || st.EvictedSize == 0 {
		t.Errorf("file of %d bytes, limit %d, %+v", fi.Size(), limit, st)
	}
	if st.Bytes < limit/3 {
		t.Errorf("only %d bytes kept of %d", st.Bytes, limit)
	}
}

// A limit that was lowered between two runs is reached by sweeping.
func TestLimitLowered(t *testing.T) {
	path := filepath.Join(t.TempDir(), "replay.db")
	s := open(t, path, bolt.Options{SweepEvery: -1})
	for i := range 100 {
		if err := s.Put(t.Context(), "s", storetest.Padded(fmt.Sprint("r", i), "", 50_000)); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, path, bolt.Options{Limits: replay.Limits{MaxBytes: 2 << 20}, SweepEvery: -1})
	defer s.Close()
	if err := s.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	if st, err := s.Stats(t.Context()); err != nil || st.Bytes > 2<<20 || st.EvictedSize == 0 {
		t.Errorf("stats = %+v, %v; want less than 2 MiB", st, err)
	}
	if _, err := s.Get(t.Context(), "s", "r99"); err != nil {
		t.Errorf("the youngest: %v", err)
	}
}
