package main_test

import (
	"path/filepath"
	"sync"
	"testing"

	"turngate/replay/redis/redistest"
)

// chainsEnv sets how many chains TestChains makes; the number is 1,000.
const chainsEnv = "TURNGATE_TEST_CHAINS"

// TestChains makes chains of ten turns from 64 clients at once. Each next turn is
// sent when the terminal event of the one before has been read, and must find it
// (R3, K-G1).
func TestChains(t *testing.T) {
	bin := buildTurngate(t)
	t.Run("bolt", func(t *testing.T) { makeChains(t, bin, "bolt:"+filepath.Join(t.TempDir(), "replay.db")) })
	t.Run("memory", func(t *testing.T) { makeChains(t, bin, "memory:") })
	t.Run("redis", func(t *testing.T) { makeChains(t, bin, redistest.Start(t).URL()) })
}

func makeChains(t *testing.T, bin, store string) {
	const length, clients = 10, 64
	chains := times(t, chainsEnv, 100)
	p := startProcess(t, bin, nil, "--upstream", startStateless(t), "--store", store)
	client := keepAlive(t)
	todo := make(chan int)
	var wg sync.WaitGroup
	for range clients {
		wg.Go(func() {
			for range todo {
				last := told{}
				for n := range length {
					next, err := continueTurn(t.Context(), client, p.url, last.id, "")
					if err != nil {
						t.Errorf("turn %d: %v", n, err)
						break
					}
					if want := 2*n + 1; next.items != want {
						t.Errorf("turn %d: the upstream got %d items, want %d", n, next.items, want)
					}
					last = next
				}
			}
		})
	}
	for i := range chains {
		todo <- i
	}
	close(todo)
	wg.Wait()
	t.Logf("%d chains of %d turns", chains, length)
}

// TestSharedStore begins a chain at one process and goes on with it at another.
func TestSharedStore(t *testing.T) {
	bin, upstream, client := buildTurngate(t), startStateless(t), keepAlive(t)
	store := redistest.Start(t).URL()
	first := startProcess(t, bin, nil, "--upstream", upstream, "--store", store)
	second := startProcess(t, bin, nil, "--upstream", upstream, "--store", store)
	last := told{}
	for n, p := range []*process{first, second, first, second} {
		next, err := continueTurn(t.Context(), client, p.url, last.id, "")
		if err != nil || next.items != 2*n+1 {
			t.Fatalf("turn %d: %d items, %v", n, next.items, err)
		}
		last = next
	}
	if got := second.send("DELETE", second.url+"/v1/responses/"+last.id, "", nil); got.status != 200 {
		t.Errorf("delete: %d %s", got.status, got.body)
	}
	if _, err := continueTurn(t.Context(), client, first.url, last.id, ""); err != (errUnknown{last.id}) {
		t.Errorf("after the delete: %v", err)
	}
}
