package main_test

// End-to-end tests: real clients, the real binary as its own process, and a mock
// upstream, all over loopback. codex_test.go, node_test.go and gosdk_test.go hold
// the cases; this file starts what stands between the client and the mock.
//
// CODEX_BIN names the Codex CLI, and TURNGATE_NODE_MODULES a node_modules folder
// with openai@6.49.0 and openai7@npm:openai@7.59.0. Without them their tests are
// skipped, or fail where TURNGATE_REQUIRE_CODEX or TURNGATE_REQUIRE_NODE is set.
// Codex runs where it can reach nobody else; see isolate.

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"turngate/proxy/mock"
)

// buildTurngate builds the binary into a folder of t's own and returns its path.
// TURNGATE_BIN names one to test instead, such as a release.
func buildTurngate(t *testing.T) string {
	t.Helper()
	if bin := os.Getenv("TURNGATE_BIN"); bin != "" {
		return bin
	}
	bin := filepath.Join(t.TempDir(), "turngate")
	if out, err := exec.Command("go", "build", "-o", bin, ".").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	return bin
}

// startUpstream serves turns and returns the upstream and its base URL.
func startUpstream(t *testing.T, turns ...mock.Turn) (*mock.Upstream, string) {
	t.Helper()
	u := mock.New(turns...)
	srv := httptest.NewServer(u)
	t.Cleanup(srv.Close)
	return u, srv.URL + "/v1"
}

// gate is a running turngate with a tap in front of it.
type gate struct {
	URL   string // base URL for clients; leads through the tap
	Admin string // URL of the admin listener
	tap   *tap
}

// startGate starts bin in front of upstream, waits until it says that it
// listens, and stops it at the end of the test, when it must exit with code 0.
func startGate(t *testing.T, bin, upstream string, flags ...string) *gate {
	t.Helper()
	args := append([]string{
		"serve", "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0",
		"--upstream", upstream, "--undeclared", "refuse", "--store", "memory:", "--shutdown-timeout", "2s",
	}, flags...)
	cmd := exec.Command(bin, args...)
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir())
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stopGate(t, cmd, &stderr) })

	line, err := bufio.NewReader(stdout).ReadString('\n')
	m := regexp.MustCompile(`^turngate listening on (http://\S+) \(admin (http://\S+)\)\n$`).FindStringSubmatch(line)
	if m == nil {
		t.Fatalf("first line is %q (%v), want the addresses", line, err)
	}
	tap := startTap(t, m[1])
	return &gate{URL: tap.url + "/v1", Admin: m[2], tap: tap}
}

// stopGate ends the process and shows its log if the test failed.
func stopGate(t *testing.T, cmd *exec.Cmd, stderr *bytes.Buffer) {
	_ = cmd.Process.Signal(syscall.SIGTERM)
	kill := time.AfterFunc(10*time.Second, func() { _ = cmd.Process.Kill() })
	defer kill.Stop()
	if err := cmd.Wait(); err != nil {
		t.Errorf("turngate did not exit well: %v", err)
	}
	if t.Failed() {
		t.Logf("turngate's log:\n%s", stderr)
	}
}

// wantMetric waits until turngate's metrics hold line. A turn is counted when it
// is over for turngate, which may be after the client has left.
func (g *gate) wantMetric(t *testing.T, line string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		metrics := g.metrics(t)
		if strings.Contains(metrics, "\n"+line+"\n") {
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Errorf("turngate does not count %s:\n%s", line, metrics)
			return
		}
	}
}

// metrics returns turngate's metrics.
func (g *gate) metrics(t *testing.T) string {
	t.Helper()
	resp, err := http.Get(g.Admin + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// need returns the value of an environment variable that names something to test
// with. Without it the test is skipped, or fails if the variable require is set.
func need(t *testing.T, name, require string) string {
	t.Helper()
	value := os.Getenv(name)
	switch {
	case value != "":
	case os.Getenv(require) != "":
		t.Fatalf("%s is set, and %s is not", require, name)
	default:
		t.Skipf("%s is not set", name)
	}
	return value
}

// client is a command that plays a client. Of the environment it gets PATH and
// what env says.
type client struct {
	name  string
	args  []string
	dir   string
	env   []string
	stdin string
}

// runClient runs a client to its end and returns what it wrote and its exit
// code. Its whole process group ends with the test.
func runClient(t *testing.T, c client) (stdout, stderr string, code int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, c.name, c.args...)
	cmd.Dir = c.dir
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH")}, c.env...)
	cmd.Stdin = strings.NewReader(c.stdin)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 5 * time.Second
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if ctx.Err() != nil {
		t.Fatalf("%s did not end\nstdout: %s\nstderr: %s", filepath.Base(c.name), &out, &errs)
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// mustContain fails for each of wants that text does not hold.
func mustContain(t *testing.T, what, text string, wants ...string) {
	t.Helper()
	for _, want := range wants {
		if !strings.Contains(text, want) {
			t.Errorf("%s does not say %q:\n%s", what, want, text)
		}
	}
}

// mustNotShow fails if text holds the host and port of base, or only the port.
func mustNotShow(t *testing.T, what, text, base string) {
	t.Helper()
	u, err := url.Parse(base)
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{u.Host, ":" + u.Port()} {
		if strings.Contains(text, secret) {
			t.Errorf("%s shows the upstream's address %s:\n%s", what, secret, text)
		}
	}
}

// closedURL returns a base URL at whose port nobody listens. The port stays bound
// until the test ends, or another listener could be given it.
func closedURL(t *testing.T) string {
	t.Helper()
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Close(fd) })
	if err := syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	addr, err := syscall.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("http://127.0.0.1:%d/v1", addr.(*syscall.SockaddrInet4).Port)
}
