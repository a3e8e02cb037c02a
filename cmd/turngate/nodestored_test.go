package main_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"
)

// TestNodeStored uses the methods of the openai package for Node that are about
// stored responses.
func TestNodeStored(t *testing.T) {
	modules := need(t, "TURNGATE_NODE_MODULES", "TURNGATE_REQUIRE_NODE")
	bin := buildTurngate(t)
	for name, pkg := range map[string]string{"6.49": "openai", "7.59": "openai7"} {
		t.Run(name, func(t *testing.T) { nodeStored(t, bin, filepath.Join(modules, pkg, "index.mjs")) })
	}
}

func nodeStored(t *testing.T, bin, module string) {
	u, base := storedUpstream(t)
	g := startGate(t, bin, base)
	script, err := filepath.Abs("testdata/clients/stored.mjs")
	if err != nil {
		t.Fatal(err)
	}
	stdout, stderr, code := runClient(t, client{name: "node", args: []string{script, module, g.URL}})
	if code != 0 || stderr != "" {
		t.Fatalf("exit code %d, stderr: %s", code, stderr)
	}
	got := make(map[string]gjson.Result)
	for line := range strings.Lines(stdout) {
		got[gjson.Get(line, "name").Str] = gjson.Parse(line)
	}

	stream := got["stream"].Get("value")
	if shown := stream.Get("shown").Raw; shown != `["resp_1","resp_1","resp_1"]` {
		t.Errorf("the stream shows as previous_response_id %s", shown)
	}
	if diff := cmp.Diff(withoutText(stream.Get("response")), withoutText(got["retrieve"].Get("value"))); diff != "" {
		t.Errorf("the response that was seen, and that is stored (-seen +stored):\n%s", diff)
	}
	for name, want := range map[string]map[string]string{
		"items":          {"value": `["hi","uno","two"]`},
		"cancel":         {"status": "400", "message": "400 Cannot cancel a synchronous response."},
		"unknown":        {"status": "400", "code": "previous_response_not_found", "param": "previous_response_id"},
		"compact":        {"value.object": "response.compaction"},
		"count":          {"value.input_tokens": "7"},
		"delete":         {"value": "", "status": ""},
		"retrieve again": {"status": "404", "message": "404 Response with id 'resp_2' not found."},
	} {
		for path, want := range want {
			if v := got[name].Get(path).String(); v != want {
				t.Errorf("%s: %s is %q, want %q", name, path, v, want)
			}
		}
	}
	for _, req := range u.Requests()[2:] {
		if diff := cmp.Diff(wholeStored, gjson.GetBytes(req.Body, "input").Raw); diff != "" {
			t.Errorf("%s (-want +got):\n%s", req.Path, diff)
		}
	}
}

// withoutText is a response without what the package adds to some of them.
func withoutText(response gjson.Result) any {
	m, _ := response.Value().(map[string]any)
	delete(m, "output_text")
	return m
}
