package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"turngate/proxy/mock"
)

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
