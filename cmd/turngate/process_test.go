package main_test

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"

	"turngate/proxy/mock"
)

// process is a "turngate serve" as an operator runs it: a process with an
// environment and files of its own.
type process struct {
	*testing.T
	url, admin string
	cmd        *exec.Cmd
	stdout     bytes.Buffer // complete after wait
	stderr     watched
	copied     chan struct{} // closed at the end of stdout
	waited     bool
}

// startProcess starts bin and waits until it says that it listens.
func startProcess(t *testing.T, bin string, env []string, args ...string) *process {
	t.Helper()
	p := &process{T: t, copied: make(chan struct{})}
	p.stderr.changed.L = &p.stderr.mu
	p.cmd = exec.Command(bin, append([]string{
		"serve", "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0", "--store", "memory:",
	}, args...)...)
	p.cmd.Env = append([]string{"HOME=" + t.TempDir()}, env...)
	p.cmd.Stderr = &p.stderr
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if !p.waited {
			_ = p.cmd.Process.Kill()
			p.wait()
		}
		if t.Failed() {
			t.Logf("turngate's log:\n%s", p.stderr.String())
		}
	})
	lines := bufio.NewReader(io.TeeReader(stdout, &p.stdout))
	line, err := lines.ReadString('\n')
	go func() {
		defer close(p.copied)
		_, _ = io.Copy(io.Discard, lines) // an end by Wait is one as good
	}()
	m := regexp.MustCompile(`^turngate listening on (\S+) \(admin (\S+)\)\n$`).FindStringSubmatch(line)
	if m == nil {
		t.Fatalf("first line is %q (%v), want the addresses", line, err)
	}
	p.url, p.admin = m[1], m[2]
	return p
}

// wait returns the exit code of the process when it has ended.
func (p *process) wait() int {
	p.Helper()
	p.waited = true
	<-p.copied // Wait closes the pipe
	_ = p.cmd.Wait()
	return p.cmd.ProcessState.ExitCode()
}

// reload sends SIGHUP and returns when the log says text once more.
func (p *process) reload(text string) {
	p.Helper()
	said := strings.Count(p.stderr.String(), text)
	if err := p.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		p.Fatal(err)
	}
	p.stderr.wait(func(log string) bool { return strings.Count(log, text) > said })
}

// watched is a buffer that can be waited for.
type watched struct {
	mu      sync.Mutex
	changed sync.Cond
	buf     bytes.Buffer
}

func (w *watched) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.changed.Broadcast()
	return w.buf.Write(b)
}

func (w *watched) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.buf.String()
}

// wait returns when done says yes to what was written.
func (w *watched) wait(done func(string) bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for !done(w.buf.String()) {
		w.changed.Wait()
	}
}

// reply is what a client got.
type reply struct {
	status int
	header http.Header
	body   string
}

// send sends a request to url and reads the answer to its end.
func (p *process) send(method, url, body string, header map[string]string) reply {
	p.Helper()
	req, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		p.Fatal(err)
	}
	for k, v := range header {
		req.Header.Set(k, v)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		p.Fatal(err)
	}
	defer resp.Body.Close()
	all, err := io.ReadAll(resp.Body)
	if err != nil {
		p.Fatal(err)
	}
	return reply{resp.StatusCode, resp.Header, string(all)}
}

// turn makes a turn of a model.
func (p *process) turn(model string, header map[string]string) reply {
	p.Helper()
	return p.send(http.MethodPost, p.url+"/v1/responses",
		`{"model":"`+model+`","input":"hi","stream":true,"tools":[{"type":"function","name":"read_file"}]}`, header)
}

// writeText puts text into a file that is for its owner alone.
func writeText(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// undeclaredTurn is a turn that calls a tool which the request does not declare.
func undeclaredTurn(arguments string) mock.Turn {
	return new(mock.Stream).Created().Call(0, mock.FC("rm_all", arguments)).Completed().Turn()
}
