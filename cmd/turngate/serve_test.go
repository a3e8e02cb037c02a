package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"

	"turngate/proxy/mock"
)

// instance is a "turngate serve" within the test.
type instance struct {
	ready   string // what it said when it was
	url     string // where clients connect
	admin   string // URL of the admin listener, "" if off
	signals chan os.Signal
	exit    <-chan int
	log     *logBuffer
}

// startServe runs serve until the test ends, on free ports unless args say
// otherwise.
func startServe(t *testing.T, env map[string]string, args ...string) *instance {
	t.Helper()
	vars := map[string]string{"HOME": t.TempDir()}
	maps.Copy(vars, env)
	lookup := func(name string) (string, bool) { v, ok := vars[name]; return v, ok }
	args = append([]string{"--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0", "--store", "memory:"}, args...)

	ctx, cancel := context.WithCancel(context.Background())
	stdout, say := io.Pipe()
	exit := make(chan int, 1)
	in := &instance{signals: make(chan os.Signal), exit: exit, log: new(logBuffer)}
	over := make(chan struct{})
	go func() {
		defer close(over)
		exit <- serveUntil(ctx, in.signals, args, lookup, say, in.log)
		say.Close()
	}()
	t.Cleanup(func() {
		cancel()
		<-over
		if t.Failed() {
			t.Logf("log:\n%s", in.log)
		}
	})

	line, err := bufio.NewReader(stdout).ReadString('\n')
	m := regexp.MustCompile(`^turngate listening on (https?://\S+)(?: \(admin (http://\S+)\))?\n$`).FindStringSubmatch(line)
	if m == nil {
		t.Fatalf("first line %q, error %v", line, err)
	}
	in.ready, in.url, in.admin = strings.TrimSpace(line), m[1], m[2]
	return in
}

// status returns the status of a GET, 0 if there was no answer.
func status(url string) int {
	resp, err := http.Get(url)
	if err != nil {
		return 0
	}
	resp.Body.Close()
	return resp.StatusCode
}

// turn starts a turn and returns its stream when the head is there.
func (in *instance) turn(t *testing.T) io.ReadCloser {
	t.Helper()
	body := `{"model":"m","input":"hi","stream":true}`
	resp, err := http.Post(in.url+"/v1/responses", "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("status %d, want 200", resp.StatusCode)
	}
	return resp.Body
}

// logBuffer is a log that can be read while it is written.
type logBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *logBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// stalled serves a turn that stops after its first event until resume is closed.
func stalled(t *testing.T) (baseURL string, resume chan struct{}) {
	t.Helper()
	s := new(mock.Stream).Created()
	at := len(s.Bytes())
	turn := s.Text("hello").Completed().Turn()
	resume = make(chan struct{})
	turn.Fault, turn.At, turn.Resume = mock.Stall, at, resume
	srv := httptest.NewServer(mock.New(turn))
	t.Cleanup(srv.Close)
	return srv.URL + "/v1", resume
}

func TestServeReady(t *testing.T) {
	in := startServe(t, nil)
	if got := status(in.admin + "/readyz"); got != http.StatusOK {
		t.Errorf("/readyz: status %d, want 200", got)
	}
	if got := status(in.url + "/nonsense"); got != http.StatusNotFound {
		t.Errorf("/nonsense: status %d, want 404", got)
	}
	if !strings.Contains(in.log.String(), "speaks its own protocol") {
		t.Error("the log does not say that the upstream is exempt from the guard")
	}
	in.signals <- os.Interrupt
	if code := <-in.exit; code != exitOK {
		t.Errorf("exit code %d, want 0", code)
	}
}

func TestServeWithoutAdmin(t *testing.T) {
	in := startServe(t, nil, "--admin-listen", "off")
	if want := "turngate listening on " + in.url; in.ready != want {
		t.Errorf("first line %q, want %q", in.ready, want)
	}
}

func TestServeAddressTaken(t *testing.T) {
	in := startServe(t, nil)
	var stderr bytes.Buffer
	lookup := func(string) (string, bool) { return "", false }
	args := []string{"--listen", "127.0.0.1:0", "--admin-listen", strings.TrimPrefix(in.admin, "http://")}
	code := serveUntil(t.Context(), nil, args, lookup, io.Discard, &stderr)
	if code != exitFailed || !strings.Contains(stderr.String(), "address already in use") {
		t.Errorf("exit code %d, stderr %q", code, &stderr)
	}
}

// TestDrain stops a server whose client is in the middle of a stream: it gets
// the stream to its end, while no one else gets in (rule O3).
func TestDrain(t *testing.T) {
	upstream, resume := stalled(t)
	in := startServe(t, nil, "--upstream", upstream)
	stream := bufio.NewReader(in.turn(t))
	if _, err := stream.ReadString('\n'); err != nil {
		t.Fatal(err)
	}

	in.signals <- syscall.SIGTERM
	in.signals <- syscall.SIGHUP // changes nothing; once taken, the drain has begun
	if got := status(in.admin + "/readyz"); got != http.StatusServiceUnavailable {
		t.Errorf("/readyz: status %d, want 503", got)
	}
	for status(in.url+"/nonsense") != 0 {
		// The listener is about to close.
	}
	close(resume)
	rest, err := io.ReadAll(stream)
	if err != nil || !bytes.Contains(rest, []byte("response.completed")) {
		t.Errorf("rest of the stream: %q, error %v", rest, err)
	}
	if code := <-in.exit; code != exitOK {
		t.Errorf("exit code %d, want 0", code)
	}
}

// TestDrainDeadline leaves no time for a stream to end: its client is told so in
// the stream.
func TestDrainDeadline(t *testing.T) {
	upstream, _ := stalled(t)
	in := startServe(t, nil, "--upstream", upstream, "--shutdown-timeout", "0")
	stream := in.turn(t)
	in.signals <- syscall.SIGTERM
	all, err := io.ReadAll(stream)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"response.failed", "proxy_shutdown"} {
		if !bytes.Contains(all, []byte(want)) {
			t.Errorf("no %s in the stream:\n%s", want, all)
		}
	}
	if code := <-in.exit; code != exitOK {
		t.Errorf("exit code %d, want 0", code)
	}
}

func TestSecondSignal(t *testing.T) {
	upstream, _ := stalled(t)
	in := startServe(t, nil, "--upstream", upstream, "--shutdown-timeout", "1h")
	in.turn(t)
	in.signals <- syscall.SIGTERM
	in.signals <- syscall.SIGTERM
	if code := <-in.exit; code != exitFailed {
		t.Errorf("exit code %d, want 1", code)
	}
}

// TestReload changes the upstream while a stream is running.
func TestReload(t *testing.T) {
	first, resume := stalled(t)
	second := httptest.NewServer(mock.New(new(mock.Stream).Created().Text("from the second").Completed().Turn()))
	t.Cleanup(second.Close)
	path := filepath.Join(t.TempDir(), "turngate.yaml")
	configure := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	configure("upstreams:\n- {name: first, base_url: \"" + first + "\"}\n")
	in := startServe(t, nil, "--config", path)
	running := in.turn(t)

	// A configuration with faults changes nothing and says why.
	configure("upstreams:\n- {name: first, base_url: nonsense}\nwrong: 1\n")
	in.reload(t)
	for _, want := range []string{"turngate.yaml:2", "turngate.yaml:3", "not an http:// or https:// URL"} {
		if !strings.Contains(in.log.String(), want) {
			t.Errorf("the log does not say %q", want)
		}
	}

	configure("listen: 127.0.0.1:1\nlog_level: debug\nupstreams:\n- {name: second, base_url: \"" + second.URL + "/v1\"}\n")
	in.reload(t)
	all, err := io.ReadAll(in.turn(t))
	if err != nil || !bytes.Contains(all, []byte("from the second")) {
		t.Errorf("new turn: %q, error %v", all, err)
	}

	close(resume)
	all, err = io.ReadAll(running)
	if err != nil || !bytes.Contains(all, []byte("hello")) {
		t.Errorf("running turn: %q, error %v", all, err)
	}
}

// TestReloadUnderLoad reloads while 1,000 streams run. None is broken (rule O3).
func TestReloadUnderLoad(t *testing.T) {
	const streams = 1000
	upstream, resume := stalled(t)
	in := startServe(t, nil, "--upstream", upstream, "--log-level", "error")
	started := make(chan struct{}, streams)
	broken := make(chan error, streams)
	for range streams {
		go func() {
			broken <- in.wholeTurn(started)
		}()
	}
	for range streams {
		<-started
	}
	in.reload(t)
	close(resume)
	for range streams {
		if err := <-broken; err != nil {
			t.Error(err)
		}
	}
}

// wholeTurn runs a turn to its end. It tells started when the stream has begun,
// or has failed to.
func (in *instance) wholeTurn(started chan<- struct{}) error {
	resp, err := http.Post(in.url+"/v1/responses", "application/json", strings.NewReader(`{"model":"m","input":"hi","stream":true}`))
	started <- struct{}{}
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	all, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if !bytes.Contains(all, []byte("response.completed")) {
		return fmt.Errorf("status %d, and the stream ends with %q", resp.StatusCode, all[max(0, len(all)-200):])
	}
	return nil
}

// reload sends SIGHUP twice: that the second is taken means that the first is
// done.
func (in *instance) reload(t *testing.T) {
	t.Helper()
	in.signals <- syscall.SIGHUP
	in.signals <- syscall.SIGHUP
}

func TestNeedRestart(t *testing.T) {
	old, _, err := loadServe(nil, func(name string) (string, bool) { return "/home/u", name == "HOME" })
	if err != nil {
		t.Fatal(err)
	}
	next := *old
	next.LogLevel, next.MaxStreams = 4, 7
	if got := needRestart(old, &next); len(got) > 0 {
		t.Errorf("%q need a restart, want none", got)
	}
	next.StoreURL, next.TLSCert = "memory:", "c.pem"
	if got, want := strings.Join(needRestart(old, &next), " "), "store tls-cert"; got != want {
		t.Errorf("%q need a restart, want %q", got, want)
	}
}
