package main_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// soakEnv is how long the soak takes; unset, it is short and says little of
// memory.
const soakEnv = "TURNGATE_TEST_SOAK"

// soakStreams is how many streams run at once.
const soakStreams = 200

// TestSoak keeps a turngate busy with turns of which many go wrong, while its
// configuration is read again and again. Every turn must end as its kind does,
// be in the log with its cause, and leave no memory and no goroutine behind.
func TestSoak(t *testing.T) {
	length := time.Second
	if s := os.Getenv(soakEnv); s != "" {
		var err error
		if length, err = time.ParseDuration(s); err != nil {
			t.Fatal(err)
		}
	}
	seed := uint64(time.Now().UnixNano())
	if s := os.Getenv(soakEnv + "_SEED"); s != "" {
		var err error
		if seed, err = strconv.ParseUint(s, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%v, %d streams, %s_SEED=%d", length, soakStreams, soakEnv, seed)

	kinds := soakKinds()
	up := httptest.NewServer(soakUpstream(kinds))
	defer up.Close()
	defer up.CloseClientConnections()
	p := startSoaked(t, up.URL+"/v1")

	before, err := p.sample()
	if err != nil {
		t.Fatal(err)
	}
	over, cancel := context.WithTimeout(t.Context(), length)
	defer cancel()
	watched := make(chan []sample)
	go func() { watched <- p.watch(over) }()
	reloaded := make(chan struct{})
	go func() {
		defer close(reloaded)
		p.reload(over, rand.New(rand.NewPCG(seed, 1<<32)))
	}()
	load := &soakLoad{url: p.url, kinds: kinds, seed: seed}
	load.run(over, soakStreams)
	<-reloaded
	samples := <-watched
	up.CloseClientConnections()
	p.settle(t, before)
	log := p.stop(t)

	for _, f := range load.faults[:min(len(load.faults), 10)] {
		t.Error("a client's answer did not end well: ", f)
	}
	for _, line := range log.unproven[:min(len(log.unproven), 10)] {
		t.Error("no cause is told: ", line)
	}
	total := 0
	for _, k := range kinds {
		name := k.name
		if k.broken {
			name = "" // the model could not be read
		}
		total += load.sent[k.name]
		if got := log.turns[name]; len(got) > 1 || got[k.outcome] != load.sent[k.name] {
			t.Errorf("%s: %d turns ended as %v, want all %s", k.name, load.sent[k.name], got, k.outcome)
			for outcome := range got {
				if outcome != k.outcome {
					t.Log(log.last[name+" "+outcome])
				}
			}
		}
	}
	t.Logf("%d turns, %d reloads", total, log.reloads)
	checkFlat(t, samples, length)
}

// checkFlat compares the second quarter of a soak with the last.
func checkFlat(t *testing.T, samples []sample, length time.Duration) {
	t.Helper()
	n := len(samples)
	if length < time.Minute || n < 8 {
		t.Logf("%d samples in %v say nothing of memory", n, length)
		return
	}
	for _, m := range []struct {
		name  string
		of    func(sample) float64
		slack float64
	}{
		{"goroutines", func(s sample) float64 { return s.goroutines }, 100},
		{"heap in use, MiB", func(s sample) float64 { return s.heap / (1 << 20) }, 16},
		{"resident, MiB", func(s sample) float64 { return s.resident / (1 << 20) }, 32},
	} {
		warm, end := median(samples[n/4:n/2], m.of), median(samples[3*n/4:], m.of)
		t.Logf("%s: %.1f after the warm-up, %.1f at the end", m.name, warm, end)
		if end > 1.25*warm+m.slack {
			t.Errorf("%s grew from %.1f to %.1f", m.name, warm, end)
		}
	}
}

func median(samples []sample, of func(sample) float64) float64 {
	var all []float64
	for _, s := range samples {
		all = append(all, of(s))
	}
	slices.Sort(all)
	return all[len(all)/2]
}

// soaked is a "turngate serve" whose log is read as it comes.
type soaked struct {
	url, admin string
	cmd        *exec.Cmd
	config     string
	upstream   string
	log        <-chan *soakLog
}

func startSoaked(t *testing.T, upstream string) *soaked {
	t.Helper()
	p := &soaked{config: filepath.Join(t.TempDir(), "turngate.yaml"), upstream: upstream}
	p.write("report")
	p.cmd = exec.Command(buildTurngate(t), "serve", "--config", p.config, "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0")
	p.cmd.Env = []string{"HOME=" + t.TempDir()}
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	stderr, err := p.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	log := make(chan *soakLog, 1)
	p.log = log
	go func() { log <- readSoakLog(stderr) }()
	t.Cleanup(func() { _ = p.cmd.Process.Kill() }) // if stop was not reached
	line, err := bufio.NewReader(stdout).ReadString('\n')
	m := regexp.MustCompile(`^turngate listening on (\S+) \(admin (\S+)\)\n$`).FindStringSubmatch(line)
	if m == nil {
		t.Fatalf("first line %q (%v)", line, err)
	}
	p.url, p.admin = m[1], m[2]
	return p
}

// write puts a new configuration in the place of the old, whole at any time: a
// reload may be reading it. arguments is what changes.
func (p *soaked) write(arguments string) {
	text := fmt.Sprintf("store: 'memory:'\nstore_max_bytes: 64MiB\nidle_timeout: 5s\nheartbeat: 500ms\ndrain_timeout: 200ms\narguments: %s\n"+
		"upstreams:\n- {name: soak, base_url: %s, state: replay}\n", arguments, p.upstream)
	err := os.WriteFile(p.config+".new", []byte(text), 0o600)
	if err == nil {
		err = os.Rename(p.config+".new", p.config)
	}
	if err != nil {
		panic(err) // it is the test's own folder
	}
}

// reload has the configuration read again until ctx ends, at times one with a
// fault.
func (p *soaked) reload(ctx context.Context, random *rand.Rand) {
	for {
		timer := time.NewTimer(time.Duration(random.IntN(1000)) * time.Millisecond)
		select {
		case <-ctx.Done():
			timer.Stop()
			p.write("report")
			return
		case <-timer.C:
		}
		p.write([]string{"report", "refuse", "off", "fault"}[random.IntN(4)])
		_ = p.cmd.Process.Signal(syscall.SIGHUP)
	}
}

// sample is the state of the process at one time.
type sample struct{ goroutines, heap, resident float64 }

// watch takes a sample each half second until ctx ends.
func (p *soaked) watch(ctx context.Context) []sample {
	ticker := time.NewTicker(500 * time.Millisecond)
	defer ticker.Stop()
	var all []sample
	for {
		select {
		case <-ctx.Done():
			return all
		case <-ticker.C:
		}
		if x, err := p.sample(); err == nil {
			all = append(all, x)
		}
	}
}

// sample asks the process for its state.
func (p *soaked) sample() (sample, error) {
	resp, err := http.Get(p.admin + "/metrics")
	if err != nil {
		return sample{}, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	value := func(name string) float64 {
		m := regexp.MustCompile(`(?m)^` + name + ` (\S+)$`).FindSubmatch(text)
		if m == nil {
			return 0
		}
		v, _ := strconv.ParseFloat(string(m[1]), 64) // Prometheus' own format
		return v
	}
	return sample{value("go_goroutines"), value("go_memstats_heap_inuse_bytes"), value("process_resident_memory_bytes")}, err
}

// settle waits until the process has no more goroutines than before the load,
// within the few that come and go. Each turn that left one behind would show:
// there were many.
func (p *soaked) settle(t *testing.T, before sample) {
	t.Helper()
	const few = 10
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	for end := time.Now().Add(time.Minute); ; <-ticker.C {
		now, err := p.sample()
		if err == nil && now.goroutines <= before.goroutines+few {
			t.Logf("goroutines: %.0f before the load, %.0f behind it", before.goroutines, now.goroutines)
			return
		}
		if time.Now().After(end) {
			t.Errorf("goroutines: %.0f before the load, %.0f a minute behind it (%v)", before.goroutines, now.goroutines, err)
			return
		}
	}
}

// stop ends the process and returns its log.
func (p *soaked) stop(t *testing.T) *soakLog {
	t.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	log := <-p.log // to its end, before Wait closes it
	if err := p.cmd.Wait(); err != nil {
		t.Errorf("turngate: %v", err)
	}
	return log
}
