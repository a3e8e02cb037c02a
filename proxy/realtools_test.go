package proxy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
)

// realTools declares 15 functions with schemas of the size that agents send: the
// 15 properties of a tool that runs commands, each function with a text of its
// own, so that no two share a schema.
func realTools(t testing.TB) []string {
	t.Helper()
	schema, err := os.ReadFile("../guard/schema/testdata/golden/exec.json")
	if err != nil {
		t.Fatal(err)
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, schema); err != nil {
		t.Fatal(err)
	}
	var tools []string
	for i := range 15 {
		own := strings.Replace(compact.String(), "{", fmt.Sprintf(`{"title":"Tool %d",`, i), 1)
		tools = append(tools, function(fmt.Sprintf("tool_%d", i), strings.Repeat("What it does, and when to use it. ", 20), own))
	}
	return tools
}

// realCall is what a model calls such a function with.
const realCall = `{"command":["bash","-lc","go test ./... 2>&1 | tail -n 40"],"workdir":"/home/someone/project","timeout_ms":120000,"shell":"bash","login":false,"env":{"CI":"1"},"max_output_tokens":6000,"permissions":{"network":false,"write":["/tmp"]},"priority":"normal"}`
