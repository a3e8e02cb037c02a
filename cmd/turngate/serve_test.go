package main

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
)

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
