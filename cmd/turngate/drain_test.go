package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"
)

// drained is how many streams run in the tests of a drain under load.
const drained = 300

// TestDrainUnderLoad stops a server with many running streams: it is not ready at
// once, and each of them ends as it should.
func TestDrainUnderLoad(t *testing.T) {
	upstream, resume := stalled(t)
	in := startServe(t, nil, "--upstream", upstream, "--log-level", "error", "--shutdown-timeout", "1h")
	ends := in.streams(t)
	in.signals <- syscall.SIGTERM
	in.signals <- syscall.SIGHUP // once taken, the drain has begun
	if got := status(in.admin + "/readyz"); got != http.StatusServiceUnavailable {
		t.Errorf("/readyz: status %d, want 503", got)
	}
	if got := status(in.admin + "/healthz"); got != http.StatusOK {
		t.Errorf("/healthz: status %d, want 200", got)
	}
	close(resume)
	for range drained {
		if end := <-ends; !strings.Contains(end, "response.completed") {
			t.Errorf("a stream ends with %s", end)
		}
	}
	if code := <-in.exit; code != exitOK {
		t.Errorf("exit code %d, want 0", code)
	}
}

// TestDrainDeadlineUnderLoad gives many streams no time to end. Each client is
// told so in the stream, which ends as streams do.
func TestDrainDeadlineUnderLoad(t *testing.T) {
	upstream, _ := stalled(t)
	in := startServe(t, nil, "--upstream", upstream, "--log-level", "error", "--shutdown-timeout", "0")
	ends := in.streams(t)
	in.signals <- syscall.SIGTERM
	for range drained {
		end := <-ends
		if strings.Count(end, "event: response.failed\n") != 1 || !strings.Contains(end, `"code":"proxy_shutdown"`) ||
			!strings.HasSuffix(end, "\n\ndata: [DONE]\n\n") {
			t.Errorf("a stream ends with %s", end)
		}
	}
	if code := <-in.exit; code != exitOK {
		t.Errorf("exit code %d, want 0", code)
	}
}

// streams starts many streams and returns when all have begun. The channel gets
// what came of each, or the error that broke it.
func (in *instance) streams(t *testing.T) <-chan string {
	t.Helper()
	begun, ends := make(chan struct{}, drained), make(chan string, drained)
	for range drained {
		go func() { ends <- in.wholeStream(begun) }()
	}
	for range drained {
		<-begun
	}
	return ends
}

// wholeStream reads a stream to its end. It tells begun when the stream's first
// byte is there, or will not come.
func (in *instance) wholeStream(begun chan<- struct{}) string {
	resp, err := http.Post(in.url+"/v1/responses", "application/json", strings.NewReader(`{"model":"m","input":"hi","stream":true}`))
	if err != nil {
		begun <- struct{}{}
		return err.Error()
	}
	defer resp.Body.Close()
	first := make([]byte, 1)
	_, err = io.ReadFull(resp.Body, first)
	begun <- struct{}{}
	if err != nil {
		return err.Error()
	}
	var all bytes.Buffer
	if _, err := all.ReadFrom(resp.Body); err != nil {
		return fmt.Sprintf("%s, then %v", &all, err)
	}
	return all.String()
}
