package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"turngate/proxy/mock"
)

// checkFixture judges an answer of the catalogue.
func checkFixture(request, answer string, flags ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	args := append(flags, "--request", "../../testdata/requests/"+request+".json", "../../testdata/streams/"+answer)
	code = runCheck(args, nil, &out, &errs)
	return code, out.String(), errs.String()
}

// TestCheckGolden compares what check prints with testdata/check.
func TestCheckGolden(t *testing.T) {
	for _, tc := range []struct {
		name, request, answer string
		flags                 []string
		code                  int
	}{
		{"accepted", "one-tool", "S1-unknown-events.sse", nil, exitOK},
		{"undeclared", "one-tool", "K-E1-undeclared.sse", nil, exitFailed},
		{"undeclared-reported", "one-tool", "K-E1-undeclared.sse", []string{"--undeclared", "report"}, exitOK},
		{"undeclared-off", "one-tool", "K-E1-undeclared.sse", []string{"--undeclared=off"}, exitOK},
		{"arguments", "one-tool", "K-E11-missing-required.sse", []string{"--arguments", "refuse"}, exitFailed},
		{"arguments-reported", "one-tool", "K-E11-missing-required.sse", nil, exitOK},
		{"approval", "mcp-listed", "K-F0-doomed-approval.sse", nil, exitFailed},
		{"approval-off", "mcp-listed", "K-F0-doomed-approval.sse", []string{"--approvals", "off"}, exitOK},
		{"truncated", "one-tool", "K-A1-truncated.sse", nil, exitFailed},
		{"json", "one-tool", "S6-json-nameless.json", nil, exitFailed},
		{"web-page", "one-tool", "K-B1-html-login-page.sse", nil, exitFailed},
		{"failed-upstream", "one-tool", "S7-error-then-failed.sse", nil, exitOK},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for _, form := range []struct {
				ending string
				flags  []string
			}{{".txt", nil}, {".json", []string{"--json"}}} {
				code, stdout, stderr := checkFixture(tc.request, tc.answer, append(form.flags, tc.flags...)...)
				if code != tc.code || stderr != "" {
					t.Errorf("exit code %d, want %d; stderr %q", code, tc.code, stderr)
				}
				golden(t, filepath.Join("testdata/check", tc.name+form.ending), stdout)
			}
		})
	}
}

func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("no golden file (run with -update, and read what it writes): %v", err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s differs (-want +got):\n%s", path, diff)
	}
}

func TestCheckUsage(t *testing.T) {
	request := "../../testdata/requests/one-tool.json"
	broken := writeFile(t, filepath.Join(t.TempDir(), "broken.json"), []byte(`{"model":`))
	for _, tc := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"--help"}, exitOK, "usage: turngate check"},
		{nil, exitUsage, "one RESPONSE or FOLDER"},
		{[]string{"a", "b"}, exitUsage, "one RESPONSE or FOLDER"},
		{[]string{"--nonsense"}, exitUsage, "nonsense"},
		{[]string{"--arguments", "never", "x"}, exitUsage, "none of refuse, report, off"},
		{[]string{"-"}, exitUsage, "--request is needed"},
		{[]string{"--request", request, t.TempDir()}, exitUsage, "brings its own request"},
		{[]string{t.TempDir()}, exitUsage, "turn.json"},
		{[]string{"--request", "absent.json", "-"}, exitUsage, "absent.json"},
		{[]string{"--request", broken, "-"}, exitUsage, "not valid JSON"},
		{[]string{"--request", request, "absent.sse"}, exitUsage, "absent.sse"},
	} {
		var out bytes.Buffer
		if code := runCheck(tc.args, strings.NewReader(""), &out, &out); code != tc.code || !strings.Contains(out.String(), tc.says) {
			t.Errorf("%q: exit code %d, %q; want %d, %q", tc.args, code, out.String(), tc.code, tc.says)
		}
	}
}

// TestCheckBrokenInput wants no verdict on an answer that could not be read to
// its end.
func TestCheckBrokenInput(t *testing.T) {
	stdin, feed := io.Pipe()
	go func() {
		feed.Write(new(mock.Stream).Created().Bytes())
		feed.CloseWithError(os.ErrDeadlineExceeded)
	}()
	var out bytes.Buffer
	code := runCheck([]string{"--request", "../../testdata/requests/one-tool.json", "-"}, stdin, &out, &out)
	if code != exitUsage || !strings.Contains(out.String(), os.ErrDeadlineExceeded.Error()) {
		t.Errorf("exit code %d, %q", code, out.String())
	}
}

// TestCheckConstantMemory judges a stream of 100 MB and looks at the memory in
// use at every tenth of it.
func TestCheckConstantMemory(t *testing.T) {
	const size, bound = 100 << 20, 4 << 20
	delta := new(mock.Stream).TextDelta(0, strings.Repeat("word ", 200)).Bytes()
	before := inUse()
	most := before
	stdin, feed := io.Pipe()
	go func() {
		feed.Write(new(mock.Stream).Created().Bytes())
		for sent, looked := 0, 0; sent < size; sent += len(delta) {
			feed.Write(delta)
			if sent-looked > size/10 {
				looked, most = sent, max(most, inUse())
			}
		}
		feed.Write(new(mock.Stream).Completed().Bytes())
		feed.Close()
	}()
	var out bytes.Buffer
	code := runCheck([]string{"--json", "--request", "../../testdata/requests/one-tool.json", "-"}, stdin, &out, &out)
	want := fmt.Sprintf(`"events": %d`, 2+(size+len(delta)-1)/len(delta))
	if code != exitOK || !strings.Contains(out.String(), want) {
		t.Errorf("exit code %d, no %s in %s", code, want, out.String())
	}
	if n := most - before; n > bound {
		t.Errorf("%d bytes in use for a stream of %d, want at most %d", n, size, bound)
	}
}

// inUse returns how many bytes of memory somebody still needs.
func inUse() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
