//go:build linux

package main_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// bulkEnv sets how many turns of 100 kB TestBounded makes; the number is
// 10,000, at a limit of 256 MiB, to which the limit is in proportion.
const bulkEnv = "TURNGATE_TEST_BULK"

// TestBounded lets a store run over its limit many times (K-G12): disk and memory
// stay bounded, the chains that were extended least recently go as a whole, and
// no client sees an error.
func TestBounded(t *testing.T) {
	turns := times(t, bulkEnv, 200)
	limit := max(int64(turns)*(256<<20)/10_000, 8<<20)
	bin, client := buildTurngate(t), keepAlive(t)
	path := filepath.Join(t.TempDir(), "replay.db")
	p := startProcess(t, bin, nil, "--upstream", startStateless(t),
		"--store", "bolt:"+path, "--store-max-bytes", strconv.FormatInt(limit, 10))

	ask := func(previous told, bytes int) told {
		t.Helper()
		next, err := continueTurn(t.Context(), client, p.url, previous.id, fmt.Sprintf(`,"user":"%d"`, bytes))
		if err != nil {
			t.Fatal(err)
		}
		return next
	}
	alive := ask(told{}, 0) // goes on all the time
	first := ask(told{}, 0) // does not
	second := ask(first, 0) // nor does what continues it
	var last told
	for n := range turns {
		if n%4 == 0 {
			last = told{}
		}
		last = ask(last, 100_000)
		if n%10 == 9 {
			alive = ask(alive, 0)
		}
	}

	if _, err := continueTurn(t.Context(), client, p.url, alive.id, ""); err != nil {
		t.Errorf("the chain that goes on: %v", err)
	}
	if _, err := continueTurn(t.Context(), client, p.url, last.id, ""); err != nil {
		t.Errorf("the newest chain: %v", err)
	}
	for _, gone := range []told{first, second} {
		if _, err := continueTurn(t.Context(), client, p.url, gone.id, ""); err != (errUnknown{gone.id}) {
			t.Errorf("the oldest chain: %v", err)
		}
	}
	size, memory := fileSize(t, path), p.memory()
	if size > limit {
		t.Errorf("the file has %d bytes, the limit is %d", size, limit)
	}
	// The file is mapped and counts; what is beside it does not grow with it.
	if most := limit + 512<<20; memory > most {
		t.Errorf("the process takes %d bytes, want %d at most", memory, most)
	}
	evicted := p.metric(`turngate_replay_evictions_total{cause="size"}`)
	if evicted < float64(turns)/4 {
		t.Errorf("%v records evicted", evicted)
	}
	if lost := p.metric(`turngate_replay_operations_total{operation="put",result="error"}`); lost != 0 {
		t.Errorf("%v turns were not recorded", lost)
	}
	t.Logf("%d turns of 100 kB, limit %d MiB: file %d MiB, memory %d MiB, %v evicted", turns, limit>>20, size>>20, memory>>20, evicted)
}

func fileSize(t *testing.T, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

// memory returns the most that the process ever had in memory, in bytes.
func (p *process) memory() int64 {
	p.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		p.Fatal(err)
	}
	m := regexp.MustCompile(`VmHWM:\s+(\d+) kB`).FindSubmatch(status)
	if m == nil {
		p.Fatalf("no VmHWM in %s", status)
	}
	n, err := strconv.ParseInt(string(m[1]), 10, 64)
	if err != nil {
		p.Fatal(err)
	}
	return n << 10
}

// metric returns the value of a series, 0 if there is none.
func (p *process) metric(series string) float64 {
	p.Helper()
	got := p.send(http.MethodGet, p.admin+"/metrics", "", nil)
	for line := range strings.Lines(got.body) {
		if v, ok := strings.CutPrefix(line, series+" "); ok {
			f, err := strconv.ParseFloat(strings.TrimSpace(v), 64)
			if err != nil {
				p.Fatal(err)
			}
			return f
		}
	}
	return 0
}
