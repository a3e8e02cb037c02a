//go:build unix

package main_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"turngate/replay/redis/redistest"
)

// killsEnv sets how often TestKill kills; the number is 20.
const killsEnv = "TURNGATE_TEST_KILLS"

// acknowledged collects the turns whose terminal event reached a client.
type acknowledged struct {
	mu    sync.Mutex
	turns []told
}

// add notes a turn and returns how many there are.
func (a *acknowledged) add(turn told) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.turns = append(a.turns, turn)
	return len(a.turns)
}

// check goes on from every turn, and leaves no trace.
func (a *acknowledged) check(t *testing.T, client *http.Client, url string) {
	t.Helper()
	todo := make(chan told)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for turn := range todo {
				next, err := continueTurn(t.Context(), client, url, turn.id, `,"store":false`)
				if err != nil || next.items != turn.items+2 {
					t.Errorf("behind a turn of %d items: %d items, %v", turn.items, next.items, err)
				}
			}
		})
	}
	for _, turn := range a.turns {
		todo <- turn
	}
	close(todo)
	wg.Wait()
}

// TestKill kills turngate in the middle of its work, again and again: every turn
// of which a client saw the end can be continued afterwards.
func TestKill(t *testing.T) {
	bin, upstream, client := buildTurngate(t), startStateless(t), keepAlive(t)
	store := "bolt:" + filepath.Join(t.TempDir(), "replay.db")
	rounds := times(t, killsEnv, 3)
	var all acknowledged
	for round := range rounds {
		p := startProcess(t, bin, nil, "--upstream", upstream, "--store", store)
		enough := 100 + round*37%50
		var acks acknowledged
		var once sync.Once
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				for n, last := 0, (told{}); ; n++ {
					if n%5 == 0 {
						last = told{}
					}
					next, err := continueTurn(t.Context(), client, p.url, last.id, `,"user":"3000"`)
					if errors.As(err, new(errUnknown)) {
						t.Error(err)
					}
					if err != nil {
						return // the kill
					}
					last = next
					if acks.add(next) >= enough {
						once.Do(func() { _ = p.cmd.Process.Kill() })
					}
				}
			})
		}
		wg.Wait()
		p.wait()
		all.turns = append(all.turns, acks.turns...)
		again := startProcess(t, bin, nil, "--upstream", upstream, "--store", store)
		all.check(t, client, again.url)
		_ = again.cmd.Process.Kill()
		again.wait()
	}
	t.Logf("%d kills, %d acknowledged turns", rounds, len(all.turns))
}

// TestFullDisk fills the disk that the store is on: turns flow on and are counted
// as not recorded, and what was recorded stays.
func TestFullDisk(t *testing.T) {
	bin, upstream, client := buildTurngate(t), startStateless(t), keepAlive(t)
	dir := t.TempDir()
	probe := exec.Command("unshare", "--mount", "--map-root-user", "sh", "-c", `mount -t tmpfs none "$0"`, dir)
	if out, err := probe.CombinedOutput(); err != nil {
		t.Skipf("no mount namespace here: %v: %s", err, out)
	}
	small := filepath.Join(t.TempDir(), "turngate")
	script := fmt.Sprintf("#!/bin/sh\nexec unshare --mount --map-root-user sh -c 'mount -t tmpfs -o size=4m none \"%s\" && exec \"%s\" \"$@\"' sh \"$@\"\n", dir, bin)
	if err := os.WriteFile(small, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	p := startProcess(t, small, nil, "--upstream", upstream, "--store", "bolt:"+filepath.Join(dir, "replay.db"))

	var turns []told
	for range 150 {
		turn, err := continueTurn(t.Context(), client, p.url, "", `,"user":"60000"`)
		if err != nil {
			t.Fatal(err)
		}
		turns = append(turns, turn)
	}
	lost := 0
	for _, turn := range turns {
		_, err := continueTurn(t.Context(), client, p.url, turn.id, `,"store":false`)
		switch {
		case errors.As(err, new(errUnknown)):
			lost++
		case err != nil:
			t.Error(err)
		}
	}
	if lost == 0 || lost == len(turns) {
		t.Errorf("%d of %d turns are unknown", lost, len(turns))
	}
	for result, want := range map[string]int{"error": lost, "ok": len(turns) - lost} {
		if got := p.metric(`turngate_replay_operations_total{operation="put",result="` + result + `"}`); got != float64(want) {
			t.Errorf("%v puts with %s, want %d", got, result, want)
		}
	}
}

// TestStoreAway stops the Redis that holds the store and starts it again: turns
// flow, those that need their history are told to come back, and nothing that
// was acknowledged is lost.
func TestStoreAway(t *testing.T) {
	bin, client := buildTurngate(t), keepAlive(t)
	server := redistest.Start(t)
	p := startProcess(t, bin, nil, "--upstream", startStateless(t), "--store", server.URL())
	before, err := continueTurn(t.Context(), client, p.url, "", "")
	if err != nil {
		t.Fatal(err)
	}

	server.Stop(t)
	meanwhile, err := continueTurn(t.Context(), client, p.url, "", "")
	if err != nil {
		t.Errorf("a new turn without a store: %v", err)
	}
	got := p.send(http.MethodPost, p.url+"/v1/responses", `{"model":"m","input":"x","previous_response_id":"`+before.id+`"}`, nil)
	if got.status != http.StatusServiceUnavailable || got.header.Get("Retry-After") == "" || got.header.Get("X-Turngate-Error") != "store_unavailable" {
		t.Errorf("continued without a store: %d %s", got.status, got.body)
	}
	if ready := p.send(http.MethodGet, p.admin+"/readyz", "", nil); ready.status != 200 || !strings.Contains(ready.body, `"store":"unavailable"`) {
		t.Errorf("/readyz: %d %s", ready.status, ready.body)
	}
	for _, operation := range []string{"put", "expand"} {
		if got := p.metric(`turngate_replay_operations_total{operation="` + operation + `",result="error"}`); got != 1 {
			t.Errorf("%v times error of %s, want 1", got, operation)
		}
	}

	server.Restart(t)
	p.waitReady(`"store":"ok"`) // the client of Redis tries once a second
	if next, err := continueTurn(t.Context(), client, p.url, before.id, ""); err != nil || next.items != 3 {
		t.Errorf("behind the turn before: %d items, %v", next.items, err)
	}
	if _, err := continueTurn(t.Context(), client, p.url, meanwhile.id, ""); err != (errUnknown{meanwhile.id}) {
		t.Errorf("behind the turn that was not recorded: %v", err)
	}
}

// waitReady waits until /readyz, which must be 200, says text.
func (p *process) waitReady(text string) {
	p.Helper()
	ctx, cancel := context.WithTimeout(p.Context(), 20*time.Second)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		got := p.send(http.MethodGet, p.admin+"/readyz", "", nil)
		if got.status != http.StatusOK {
			p.Fatalf("/readyz: %d %s", got.status, got.body)
		}
		if strings.Contains(got.body, text) {
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			p.Fatalf("/readyz: %s", got.body)
		}
	}
}
