package main_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

// codexUser is a user of Codex with a home and a project of their own.
type codexUser struct {
	bin, home, dir string
	keys           []string // environment with API keys
}

// newCodex returns a user with this configuration, and what keeps Codex from
// talking to others added to it.
func newCodex(t *testing.T, config string) *codexUser {
	t.Helper()
	c := &codexUser{
		bin:  need(t, "CODEX_BIN", "TURNGATE_REQUIRE_CODEX"),
		home: t.TempDir(),
		dir:  t.TempDir(),
		keys: []string{"OPENAI_API_KEY=sk-test", "CODEX_API_KEY=sk-test"},
	}
	config += "\n[features]\nplugins = false\n\n[analytics]\nenabled = false\n"
	if err := os.WriteFile(filepath.Join(c.home, "config.toml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	return c
}

// exec runs "codex exec" with further arguments to its end. The command sandbox
// is off: the commands are ours, and a container often cannot make one.
func (c *codexUser) exec(t *testing.T, args ...string) *codexRun {
	t.Helper()
	stdout, stderr, code := runClient(t, client{
		name: c.bin,
		args: append([]string{"exec", "--json", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"}, args...),
		dir:  c.dir,
		env:  append([]string{"CODEX_HOME=" + c.home, "HOME=" + c.home, "NO_PROXY=127.0.0.1"}, c.keys...),
	})
	run := &codexRun{Shown: stdout + stderr, Code: code, dir: c.dir}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("codex (exit code %d):\n%s", run.Code, run.Shown)
		}
	})
	return run
}

// runCodex runs one turn of a new user.
func runCodex(t *testing.T, model, config string) *codexRun {
	t.Helper()
	return newCodex(t, config).exec(t, "-m", model, "say hi")
}

// codexRun is one run of "codex exec" and what the user saw of it.
type codexRun struct {
	Shown string // both streams, as the user sees them
	Code  int
	dir   string
}

// ran reports whether a command that writes the marker file was run.
func (r *codexRun) ran() bool {
	_, err := os.Stat(filepath.Join(r.dir, "marker"))
	return err == nil
}

// messages returns the texts that the assistant said, in order.
func (r *codexRun) messages() string {
	var texts []string
	for line := range strings.Lines(r.Shown) {
		if item := gjson.Get(line, "item"); item.Get("type").String() == "agent_message" {
			texts = append(texts, item.Get("text").String())
		}
	}
	return strings.Join(texts, "\n")
}

// codexProvider is the least that a user has to configure.
func codexProvider(base string) string {
	return `model_provider = "turngate"

[model_providers.turngate]
name = "turngate"
base_url = "` + base + `"
env_key = "OPENAI_API_KEY"
`
}
