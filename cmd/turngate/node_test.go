package main_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"turngate/proxy/mock"
)

// nodeClient is one way to use the openai package.
type nodeClient struct {
	pkg, method string
	stream      bool
}

// run sends the request to base and returns what the caller of the package got,
// a JSON object a line.
func (c nodeClient) run(t *testing.T, base string) []string {
	t.Helper()
	script, err := filepath.Abs("testdata/clients/openai.mjs")
	if err != nil {
		t.Fatal(err)
	}
	module := filepath.Join(os.Getenv("TURNGATE_NODE_MODULES"), c.pkg, "index.mjs")
	request := `{"model":"m","input":"hi","tools":` + sdkTools
	if c.stream {
		request += `,"stream":true`
	}
	stdout, stderr, code := runClient(t, client{
		name: "node", args: []string{script, module, c.method, base}, stdin: request + "}",
	})
	if code != 0 || stderr != "" {
		t.Fatalf("exit code %d, stderr: %s", code, stderr)
	}
	return strings.Split(strings.TrimSpace(stdout), "\n")
}

// TestNode drives the openai package for Node: the last version that supports
// Node 20, and the current one, whose stream() is the strictest client there is.
func TestNode(t *testing.T) {
	modules := need(t, "TURNGATE_NODE_MODULES", "TURNGATE_REQUIRE_NODE")
	for _, pkg := range []string{"openai", "openai7"} {
		if _, err := os.Stat(filepath.Join(modules, pkg)); err != nil {
			t.Fatalf("%v: wanted are openai@6.49.0 and openai7@npm:openai@7.59.0", err)
		}
	}
	bin := buildTurngate(t)

	for name, c := range map[string]nodeClient{
		"6.49 create": {"openai", "create", true},
		"6.49 stream": {"openai", "stream", true},
		"7.59 create": {"openai7", "create", true},
		"7.59 stream": {"openai7", "stream", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Run("clean", func(t *testing.T) { nodeClean(t, bin, c, sdkClean().Turn()) })
			t.Run("refused", func(t *testing.T) { nodeRefused(t, bin, c, sdkRefused()) })
			t.Run("refused first", func(t *testing.T) { nodeRefused(t, bin, c, sdkRefusedFirst()) })
			t.Run("refused amid a message", func(t *testing.T) { nodeRefused(t, bin, c, sdkRefusedAmid()) })
		})
	}
	for name, c := range map[string]nodeClient{
		"6.49 JSON": {"openai", "create", false},
		"7.59 JSON": {"openai7", "create", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Run("clean", func(t *testing.T) { nodeClean(t, bin, c, sdkClean().JSONTurn()) })
			t.Run("refused", func(t *testing.T) { nodeRefusedJSON(t, bin, c) })
		})
	}
}

// nodeClean compares what the caller gets behind turngate with what it gets
// without.
func nodeClean(t *testing.T, bin string, c nodeClient, turn mock.Turn) {
	_, base := startUpstream(t, turn)
	g := startGate(t, bin, base)
	direct, through := c.run(t, base), c.run(t, g.URL)
	if len(direct) < 1 || strings.Contains(direct[0], "thrown") {
		t.Fatalf("without turngate: %s", direct)
	}
	if diff := cmp.Diff(direct, through); diff != "" {
		t.Errorf("events without turngate and behind it (-without +behind):\n%s", diff)
	}
}

// nodeRefused wants the refusal as a failed response with the reason in it.
func nodeRefused(t *testing.T, bin string, c nodeClient, s *mock.Stream) {
	u, base := startUpstream(t, s.Turn())
	g := startGate(t, bin, base)
	lines := c.run(t, g.URL)
	all := strings.Join(lines, "\n")
	wantRequests(t, u, 1)
	if strings.Contains(all, sdkArgument) {
		t.Errorf("the refused call's arguments reached the client:\n%s", all)
	}
	if strings.Contains(all, `"thrown"`) {
		t.Fatalf("the client throws:\n%s", all)
	}
	if got := gjson.Get(lines[0], "event.type").String(); got != "response.created" {
		t.Errorf("first event is %q", got)
	}
	if c.method == "stream" {
		wantRefusal(t, gjson.Get(lines[len(lines)-1], "response"))
		lines = lines[:len(lines)-1]
	}
	last := gjson.Get(lines[len(lines)-1], "event")
	if last.Get("type").String() != "response.failed" {
		t.Errorf("last event is %s", last)
	}
	wantRefusal(t, last.Get("response"))
	if got, want := last.Get("sequence_number").Int(), int64(len(lines)-1); got != want {
		t.Errorf("the failure's sequence number is %d, want %d", got, want)
	}
}

// nodeRefusedJSON wants one request, although the package sends a 502 three
// times where it may.
func nodeRefusedJSON(t *testing.T, bin string, c nodeClient) {
	u, base := startUpstream(t, sdkRefused().JSONTurn())
	g := startGate(t, bin, base)
	lines := c.run(t, g.URL)
	wantRequests(t, u, 1)
	thrown := gjson.Get(lines[0], "thrown")
	if got := thrown.Get("status").Int(); len(lines) != 1 || got != 502 {
		t.Fatalf("got %q, want an error with status 502", lines)
	}
	wantRefusalError(t, thrown.Get("error"))
	if strings.Contains(lines[0], sdkArgument) {
		t.Errorf("the refused call's arguments reached the client:\n%s", lines[0])
	}
}
