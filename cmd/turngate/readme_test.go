package main_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Addresses in the README; the tests put those of their own in their place.
const (
	readmeBase  = "http://127.0.0.1:8787/v1"
	readmeAdmin = "http://127.0.0.1:9787"
)

// readmeBlocks returns the fenced blocks of a language in the README.
func readmeBlocks(t *testing.T, lang string) []string {
	t.Helper()
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	var blocks []string
	for _, m := range regexp.MustCompile("(?ms)^```(\\w*)\n(.*?)^```$").FindAllStringSubmatch(string(text), -1) {
		if m[1] == lang {
			blocks = append(blocks, m[2])
		}
	}
	if len(blocks) == 0 {
		t.Fatalf("the README has no block of %s", lang)
	}
	return blocks
}

// readmeBlock returns the only block of a language that contains text.
func readmeBlock(t *testing.T, lang, text string) string {
	t.Helper()
	found := slices.DeleteFunc(readmeBlocks(t, lang), func(b string) bool { return !strings.Contains(b, text) })
	if len(found) != 1 {
		t.Fatalf("%d blocks of %s contain %q, want 1", len(found), lang, text)
	}
	return found[0]
}

// TestReadmeBlocks keeps anything out of the README that no test runs: the tests
// below run these languages, and all blocks of each.
func TestReadmeBlocks(t *testing.T) {
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range regexp.MustCompile("(?m)^```(\\w.*)$").FindAllStringSubmatch(string(text), -1) {
		got = append(got, m[1])
	}
	slices.Sort(got)
	want := []string{"go", "js", "json", "sh", "sh", "sh", "sh", "sh", "sh", "sh", "toml", "toml", "yaml"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("blocks of the README (-tested +there); test the new one:\n%s", diff)
	}
	for _, m := range regexp.MustCompile(`\]\(([^)#]+)\)`).FindAllStringSubmatch(string(text), -1) {
		if _, err := os.Stat(filepath.Join("../..", m[1])); err != nil {
			t.Errorf("a link leads nowhere: %v", err)
		}
	}
}

// TestReadmeCommands runs what the README tells to type, line by line and in
// order.
func TestReadmeCommands(t *testing.T) {
	sh := &readmeShell{bin: buildTurngate(t), dir: t.TempDir()}
	if err := os.WriteFile(filepath.Join(sh.dir, "turngate.yaml"), []byte(readmeBlock(t, "yaml", "upstreams:")), 0o600); err != nil {
		t.Fatal(err)
	}
	_, base := startUpstream(t, sdkRefused().Turn())
	sh.gate = startGate(t, sh.bin, base)
	for _, block := range readmeBlocks(t, "sh") {
		for line := range strings.Lines(block) {
			sh.run(t, strings.TrimSpace(line))
		}
	}
}

// readmeShell runs the few kinds of commands that the README has.
type readmeShell struct {
	bin, dir string
	env      []string
	gate     *gate // what curl asks
}

func (sh *readmeShell) run(t *testing.T, line string) {
	t.Helper()
	words := strings.Fields(strings.ReplaceAll(line, "'", ""))
	switch words[0] {
	case "make":
		sh.wantTarget(t, words[1])
	case "export":
		sh.env = append(sh.env, words[1])
	case "curl":
		resp, err := http.Get(strings.Replace(words[len(words)-1], readmeAdmin, sh.gate.Admin, 1))
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			t.Errorf("%s: status %d", line, resp.StatusCode)
		}
	case "bin/turngate":
		sh.turngate(t, line, words[1:])
	default:
		t.Errorf("nobody runs %q", line)
	}
}

// wantTarget checks that make knows a target, and that CI makes those that a
// newcomer is told to begin with. The tests do not run make demo and make test:
// the one is TestDemo, the other runs this.
func (sh *readmeShell) wantTarget(t *testing.T, target string) {
	t.Helper()
	makefile, err := os.ReadFile("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(makefile), "\n"+target+":") {
		t.Errorf("the Makefile has no target %s", target)
	}
	ci, err := os.ReadFile("../../.ci/run")
	if err != nil {
		t.Fatal(err)
	}
	if target != "build" && !strings.Contains(string(ci), " make "+target+"\n") {
		t.Errorf("CI does not run make %s", target)
	}
}

// turngate runs the binary as the README does, but on free ports. A server must
// say that it is ready, and end well when it is told to; a check must refuse.
func (sh *readmeShell) turngate(t *testing.T, line string, args []string) {
	t.Helper()
	dir, want, serves, code := sh.dir, "turngate listening on http://", true, 0
	flags := []string{"--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0"}
	switch {
	case args[0] == "mock":
		dir, want, flags = "../..", "turngate mock listening on http://", flags[:2]
	case args[0] == "check":
		dir, want, flags, serves, code = "../..", "refuse undeclared_tool_call", nil, false, 1
	case slices.Contains(args, "--check-config"):
		want, serves = "the configuration is good\n", false
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	cmd := exec.CommandContext(ctx, sh.bin, slices.Insert(args, 1, flags...)...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.Dir = dir
	cmd.Env = append([]string{"HOME=" + sh.dir}, sh.env...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	out := bufio.NewReader(stdout)
	first, _ := out.ReadString('\n')
	if serves {
		cancel()
	}
	_, _ = io.Copy(io.Discard, out)
	_ = cmd.Wait() // the exit code says it
	if got := cmd.ProcessState.ExitCode(); got != code {
		t.Errorf("%s: exit code %d, want %d\n%s", line, got, code, &stderr)
	}
	if !strings.HasPrefix(first, want) {
		t.Errorf("%s: says %q\n%s", line, first, &stderr)
	}
}

// TestReadmeRefusal compares the error object in the README with a real one.
func TestReadmeRefusal(t *testing.T) {
	_, base := startUpstream(t, sdkRefused().JSONTurn())
	g := startGate(t, buildTurngate(t), base)
	resp, err := http.Post(g.URL+"/responses", "application/json", strings.NewReader(`{"model":"m","input":"hi","tools":`+sdkTools+`}`))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	body = regexp.MustCompile(`req_[a-z0-9]{26}`).ReplaceAll(body, []byte("req_..."))
	var got, want any
	if err := json.Unmarshal(body, &got); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(readmeBlock(t, "json", "refusal")), &want); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the error (-README +real):\n%s", diff)
	}
}
