package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"sync"
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
