//go:build unix

package bolt_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"turngate/replay"
	"turngate/replay/bolt"
	"turngate/replay/storetest"
)

// childEnv makes the test binary a child that does what its value says, in the
// directory that childDirEnv names.
const (
	childEnv    = "TURNGATE_TEST_BOLT_CHILD"
	childDirEnv = "TURNGATE_TEST_BOLT_DIR"
)

// killsEnv sets how often TestKill kills.
const killsEnv = "TURNGATE_TEST_KILLS"

// child runs the child's part, if this process is one.
func child() (exit int, ok bool) {
	dir := os.Getenv(childDirEnv)
	var err error
	switch os.Getenv(childEnv) {
	case "":
		return 0, false
	case "write":
		err = writeUntilKilled(dir)
	case "fill":
		err = fillUntilFull(dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1, true
	}
	return 0, true
}

func runChild(t *testing.T, mode, dir string, wrap ...string) *exec.Cmd {
	t.Helper()
	args := append(wrap, os.Args[0])
	cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
	cmd.Env = append(os.Environ(), childEnv+"="+mode, childDirEnv+"="+dir)
	cmd.Stderr = os.Stderr
	return cmd
}

// writeUntilKilled writes chains from several goroutines and says each id on
// stdout once its Put is acknowledged.
func writeUntilKilled(dir string) error {
	s, err := bolt.Open(filepath.Join(dir, "replay.db"), bolt.Options{Limits: replay.Limits{MaxBytes: 64 << 20}})
	if err != nil {
		return err
	}
	var mu sync.Mutex // one line at a time
	var wg sync.WaitGroup
	errs := make(chan error, 8)
	for w := range 8 {
		wg.Go(func() {
			last := ""
			for i := 0; ; i++ {
				id := fmt.Sprintf("%d-%d-%d", os.Getpid(), w, i)
				if i%20 == 0 {
					last = ""
				}
				if err := s.Put(context.Background(), "s", storetest.Padded(id, last, 3000)); err != nil {
					errs <- err
					return
				}
				last = id
				mu.Lock()
				_, err := fmt.Println(id, i%20+1)
				mu.Unlock()
				if err != nil {
					errs <- err
					return
				}
			}
		})
	}
	wg.Wait()
	return <-errs
}

// TestKill kills a writer in the middle of its work, again and again, on one
// file: the file opens each time, and what was acknowledged is there.
func TestKill(t *testing.T) {
	kills := 3
	if v := os.Getenv(killsEnv); v != "" {
		n, err := strconv.Atoi(v)
		if err != nil {
			t.Fatalf("%s: %v", killsEnv, err)
		}
		kills = n
	}
	dir := t.TempDir()
	acknowledged := make(map[string]int) // id to length of its chain
	for round := range kills {
		cmd := runChild(t, "write", dir)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines, before := bufio.NewScanner(out), len(acknowledged)
		for lines.Scan() {
			var id string
			var n int
			if _, err := fmt.Sscan(lines.Text(), &id, &n); err != nil {
				break // the line that the kill cut
			}
			acknowledged[id] = n
			if len(acknowledged)-before == 150+round*37%100 {
				_ = cmd.Process.Kill() // what it said before is still in the pipe
			}
		}
		_ = cmd.Wait() // killed
		if len(acknowledged)-before < 150 {
			t.Fatalf("round %d: the writer ended by itself", round)
		}

		s := open(t, filepath.Join(dir, "replay.db"), bolt.Options{SweepEvery: -1})
		for id, want := range acknowledged {
			if chain, err := s.Chain(t.Context(), "s", id); err != nil || len(chain) != want {
				t.Errorf("round %d: chain of %s = %d records, %v; want %d", round, id, len(chain), err, want)
			}
		}
		st, err := s.Stats(t.Context())
		if err != nil || st.Records < int64(len(acknowledged)) {
			t.Errorf("round %d: stats = %+v, %v; %d were acknowledged", round, st, err, len(acknowledged))
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d kills, %d acknowledged records, none lost", kills, len(acknowledged))
}

// fillUntilFull fills what room there is, and holds the store to it that it
// still works as far as it can.
func fillUntilFull(dir string) error {
	if limit := os.Getenv("TURNGATE_TEST_FSIZE"); limit != "" {
		n, err := strconv.ParseUint(limit, 10, 64)
		if err != nil {
			return err
		}
		signal.Ignore(syscall.SIGXFSZ)
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: n, Max: n}); err != nil {
			return err
		}
	}
	path := filepath.Join(dir, "replay.db")
	s, err := bolt.Open(path, bolt.Options{SweepEvery: -1})
	if err != nil {
		return err
	}
	ctx := context.Background()
	put := func(id, previous string) error { return s.Put(ctx, "s", storetest.Padded(id, previous, 50_000)) }
	n, failures := 0, 0
	for ; failures < 5; n++ {
		err := put(fmt.Sprint("r", n), "")
		switch {
		case errors.Is(err, replay.ErrNotFound), errors.Is(err, replay.ErrTooLarge):
			return fmt.Errorf("a full disk reads as %w", err)
		case err != nil:
			failures++
		}
		if n > 10_000 {
			return errors.New("the disk never got full")
		}
	}
	check := func(s *bolt.Store) error {
		found := 0
		for i := range n {
			rec, err := s.Get(ctx, "s", fmt.Sprint("r", i))
			if errors.Is(err, replay.ErrNotFound) {
				continue
			}
			if err != nil {
				return err
			}
			if string(rec.Input) != string(storetest.Padded(fmt.Sprint("r", i), "", 50_000).Input) {
				return fmt.Errorf("record %d is damaged", i)
			}
			found++
		}
		if found != n-failures {
			return fmt.Errorf("found %d records, %d were acknowledged", found, n-failures)
		}
		return nil
	}
	if err := check(s); err != nil {
		return err
	}
	if err := s.Close(); err != nil {
		return err
	}
	// It opens on the full disk too, and reads.
	if s, err = bolt.Open(path, bolt.Options{SweepEvery: -1}); err != nil {
		return err
	}
	if err := check(s); err != nil {
		return err
	}
	fmt.Printf("full after %d records\n", n-failures)
	return s.Close()
}

// TestFileSizeLimit: the file cannot grow any further.
func TestFileSizeLimit(t *testing.T) {
	t.Setenv("TURNGATE_TEST_FSIZE", strconv.Itoa(4<<20))
	out, err := runChild(t, "fill", t.TempDir()).Output()
	if err != nil || !strings.HasPrefix(string(out), "full") {
		t.Errorf("%v, output %q", err, out)
	}
}

// TestFullDisk: a file system of 4 MB in a mount namespace of its own.
func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	mount := []string{"unshare", "--mount", "--map-root-user", "sh", "-c",
		`mount -t tmpfs -o size=4m none "$` + childDirEnv + `" && exec "$0"`}
	probe := exec.CommandContext(t.Context(), "unshare", "--mount", "--map-root-user", "sh", "-c", `mount -t tmpfs none "$0"`, dir)
	if out, err := probe.CombinedOutput(); err != nil {
		t.Skipf("no mount namespace here: %v: %s", err, out)
	}
	out, err := runChild(t, "fill", dir, mount...).Output()
	if err != nil || !strings.HasPrefix(string(out), "full") {
		t.Errorf("%v, output %q", err, out)
	}
}
