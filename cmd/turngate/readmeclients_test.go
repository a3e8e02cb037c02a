package main_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"turngate/proxy/mock"
)

// readmeTurns are an answer that the README's snippets take, and one of which
// turngate refuses the second item.
func readmeTurns() []mock.Turn { return []mock.Turn{sdkClean().Turn(), sdkRefused().Turn()} }

// TestReadmeGo compiles and runs the Go snippet.
func TestReadmeGo(t *testing.T) {
	_, base := startUpstream(t, readmeTurns()...)
	g := startGate(t, buildTurngate(t), base)
	program := strings.ReplaceAll(readmeBlock(t, "go", "package main"), readmeBase, g.URL)
	dir := t.TempDir()
	source, bin := filepath.Join(dir, "main.go"), filepath.Join(dir, "snippet")
	if err := os.WriteFile(source, []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("go", "build", "-o", bin, source).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	wantSnippet(t, client{name: bin, env: []string{"OPENAI_API_KEY=sk-test"}})
}

// TestReadmeNode runs the snippet for Node.
func TestReadmeNode(t *testing.T) {
	modules := need(t, "TURNGATE_NODE_MODULES", "TURNGATE_REQUIRE_NODE")
	_, base := startUpstream(t, readmeTurns()...)
	g := startGate(t, buildTurngate(t), base)
	dir := t.TempDir()
	if err := os.Symlink(modules, filepath.Join(dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
	script := strings.ReplaceAll(readmeBlock(t, "js", "import OpenAI"), readmeBase, g.URL)
	if err := os.WriteFile(filepath.Join(dir, "snippet.mjs"), []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	wantSnippet(t, client{name: "node", args: []string{"snippet.mjs"}, dir: dir, env: []string{"OPENAI_API_KEY=sk-test"}})
}

// wantSnippet runs an SDK's snippet twice: first its call is answered, then
// refused.
func wantSnippet(t *testing.T, c client) {
	t.Helper()
	stdout, stderr, code := runClient(t, c)
	if code != 0 || stdout != "call: read_file {\"path\":\"a.txt\"}\n" || stderr != "" {
		t.Errorf("clean turn: exit code %d, stdout %q, stderr %q", code, stdout, stderr)
	}
	stdout, stderr, code = runClient(t, c)
	if code != 0 || stdout != "" || !strings.HasPrefix(stderr, `failed: undeclared_tool_call turngate: the upstream called "rm_all"`) {
		t.Errorf("refused turn: exit code %d, stdout %q, stderr %q", code, stdout, stderr)
	}
}

// TestReadmeCodex has the real Codex use each config.toml of the README: one
// turn passes, one is refused.
func TestReadmeCodex(t *testing.T) {
	need(t, "CODEX_BIN", "TURNGATE_REQUIRE_CODEX")
	if isolate(t) {
		return
	}
	bin := buildTurngate(t)
	for _, has := range []string{"model_provider", "openai_base_url"} {
		t.Run(has, func(t *testing.T) {
			config := readmeBlock(t, "toml", has)
			u, base := startUpstream(t, textTurn("good evening"), callTurn(mock.FC("rm_all", command("touch marker"))))
			g := startGate(t, bin, base)
			user := newCodex(t, strings.ReplaceAll(config, readmeBase, g.URL))
			if run := user.exec(t, "-m", plainModel, "say hi"); run.Code != 0 || run.messages() != "good evening" {
				t.Errorf("exit code %d, messages %q", run.Code, run.messages())
			}
			run := user.exec(t, "-m", plainModel, "say hi")
			if run.Code != 1 || run.ran() {
				t.Errorf("undeclared call: exit code %d, command run: %t", run.Code, run.ran())
			}
			mustContain(t, "what the user sees", run.Shown, "rm_all", "does not declare")
			for _, r := range wantRequests(t, u, 2) {
				if !gjson.ValidBytes(r.Body) || r.Header.Get("Authorization") != "Bearer sk-test" {
					t.Errorf("the upstream got %s with Authorization %q", r.Body, r.Header.Get("Authorization"))
				}
			}
		})
	}
}
