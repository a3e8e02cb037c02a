package guard

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"
)

var update = flag.Bool("update", false, "write the golden files")

// argumentMarker stands in every value of the arguments and nowhere else: where
// it turns up, values turned up.
const argumentMarker = "MARKER-51d0"

// strictTool is a function with a bit of everything.
const strictTool = `[{"type":"function","name":"save","parameters":{
	"type":"object","additionalProperties":false,"required":["path","mode"],
	"properties":{
		"path":{"type":"string","minLength":1,"description":"Where to."},
		"mode":{"type":"string","enum":["new","append"]},
		"lines":{"type":"array","items":{"type":"integer"}},
		"data":{"type":"string","contentEncoding":"base64"},
		"size":{"type":"integer"},
		"note":{"type":"string","nullable":true},
		"when":{"type":"string","format":"date-time"},
		"owner":{"type":"object","required":["name"],"properties":{"name":{"type":"string"}}}}}}]`

// verdictCases are arguments, and whether they work.
var verdictCases = []struct {
	name, arguments string
	works           bool
}{
	{"right", `{"path":"MARKER","mode":"new"}`, true},
	{"all of it", `{"path":"MARKER","mode":"append","lines":[1,2],"data":"TUFSS0VS","size":3,"note":null,"when":"MARKER","owner":{"name":"MARKER"}}`, true},
	{"white space around", " \n{\"path\":\"MARKER\",\"mode\":\"new\"}\t", true},
	{"an integer of any size", `{"path":"a","mode":"new","size":12345678901234567890}`, true},
	{"an integer with a fraction of zero", `{"path":"a","mode":"new","size":1.0}`, true},
	{"escaped keys", `{"\u0070ath":"MARKER","mode":"new"}`, true},
	{"lone surrogate", `{"path":"\ud800","mode":"new"}`, true},
	{"empty object", `{}`, false},
	{"no text", ``, false},
	{"blank", " \t\n", false},
	{"one missing", `{"mode":"new"}`, false},
	{"missing, and more wrong", `{"mode":"MARKER","size":"MARKER"}`, false},
	{"null for a required one", `{"path":null,"mode":"new"}`, false},
	{"wrong type", `{"path":["MARKER"],"mode":"new"}`, false},
	{"not in the enum", `{"path":"a","mode":"MARKER"}`, false},
	{"extra property", `{"path":"a","mode":"new","extra":"MARKER"}`, false},
	{"too short", `{"path":"","mode":"new"}`, false},
	{"not base64", `{"path":"a","mode":"new","data":"MARKER!"}`, false},
	{"a fraction", `{"path":"a","mode":"new","size":1.5}`, false},
	{"item of a list", `{"path":"a","mode":"new","lines":[1,"MARKER"]}`, false},
	{"nested", `{"path":"a","mode":"new","owner":{"nickname":"MARKER"}}`, false},
	{"array", `["MARKER","new"]`, false},
	{"string", `"MARKER"`, false},
	{"number", `12`, false},
	{"null", `null`, false},
	{"truncated", `{"path":"MARKER","mo`, false},
	{"truncated in an escape", `{"path":"MARKER\`, false},
	{"something behind", `{"path":"MARKER","mode":"new"}{"path":"MARKER"}`, false},
	{"single quotes", `{'path':'MARKER'}`, false},
	{"trailing comma", `{"path":"MARKER","mode":"new",}`, false},
	{"comment", `{"path":"MARKER",/* MARKER */"mode":"new"}`, false},
	{"code fence", "```json\n{\"path\":\"MARKER\",\"mode\":\"new\"}\n```", false},
	{"duplicate key", `{"path":"MARKER","path":"MARKER","mode":"new"}`, false},
	{"duplicate key, escaped", `{"path":"MARKER","\u0070ath":"MARKER","mode":"new"}`, false},
	{"duplicate key, nested", `{"path":"a","mode":"new","owner":{"name":"MARKER","name":"MARKER"}}`, false},
}

// TestA2A3Verdicts judges each case in each carrier, and holds what is said of it
// to the golden file byte for byte: refusals are read by programs.
func TestA2A3Verdicts(t *testing.T) {
	var golden bytes.Buffer
	tool := ""
	for _, tt := range verdictCases {
		arguments := strings.ReplaceAll(tt.arguments, "MARKER", argumentMarker)
		g, h := judging(t, Options{Arguments: Report}, strictTool)
		if r := show(g, done(fc("save", arguments))); r != nil {
			t.Fatalf("%s: refused in mode report", tt.name)
		}
		fmt.Fprintf(&golden, "# %s: %s\n", tt.name, tt.arguments)
		for _, r := range h.all {
			if tool == "" { // of the tool, all refusals say the same
				tool = wire(t, r)
				golden.WriteString(tool + "\n")
			}
			fmt.Fprintf(&golden, "%s\n%s\n", r.Message(), wire(t, map[string]any{"reason": r.Reason, "missing": r.Missing, "problems": r.Problems}))
			if full := wire(t, r); strings.Contains(full, argumentMarker) || strings.Contains(r.Message(), argumentMarker) {
				t.Errorf("%s: the refusal repeats values of the arguments: %s", tt.name, full)
			}
			if want := membersOf(tool, "input_summary", "schema_hash"); membersOf(wire(t, r), "input_summary", "schema_hash") != want {
				t.Errorf("%s: the refusal does not tell how to call the tool: %s", tt.name, wire(t, r))
			}
		}
		golden.WriteByte('\n')
		for name, carry := range completeCarriers() {
			if name == "arguments.done of an announced call" || name == "arguments.done with a name" {
				if arguments == "" {
					continue // nothing has ended
				}
			}
			// The carriers carry calls of read_file.
			g, _ := judging(t, Options{}, strings.Replace(strictTool, `"save"`, `"read_file"`, 1))
			if r := carry(g, arguments); (r == nil) != tt.works || (len(h.all) == 0) != tt.works {
				t.Errorf("%s in %s: %s; reported %v", tt.name, name, reasonOf(r), h.findings)
			}
		}
	}
	checkGolden(t, "testdata/verdicts.golden", golden.Bytes())
}

// wire returns v as the proxy writes it.
func wire(t *testing.T, v any) string {
	t.Helper()
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// membersOf returns the raw values of some members of an object.
func membersOf(object string, names ...string) (raw string) {
	for _, name := range names {
		raw += gjson.Get(object, name).Raw + "\n"
	}
	return raw
}

func checkGolden(t *testing.T, path string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("no golden file (run with -update, and read what it writes): %v", err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("golden file differs (-want +got):\n%s", diff)
	}
}

// An item that says it is incomplete is run by Codex all the same.
func TestA3IncompleteItem(t *testing.T) {
	item := strings.Replace(fc("read_file", `{"path":"a"}`), `"completed"`, `"incomplete"`, 1)
	for carrier, data := range map[string]string{"done": done(item), "snapshot": snapshotOf("completed", item)} {
		g, _ := judging(t, Options{}, needsPath)
		r := show(g, data)
		if reasonOf(r) != InvalidToolArguments || !strings.Contains(r.Message(), "the call is incomplete") {
			t.Errorf("%s: %v", carrier, r)
		}
	}
	// Also where no schema is known: it is not the arguments that are judged.
	g, h := judging(t, Options{}, `[{"type":"function","name":"read_file"}]`)
	if r := show(g, done(item)); reasonOf(r) != InvalidToolArguments || h.unjudged != nil {
		t.Errorf("without a schema: %s, unjudged %v", reasonOf(r), h.unjudged)
	}
}

// A tool that requires nothing may be called with nothing.
func TestA2NothingRequired(t *testing.T) {
	for _, schema := range []string{`{"type":"object"}`, `{}`, `{"type":"object","properties":{"a":{"type":"string"}},"required":[]}`, `true`} {
		g, _ := judging(t, Options{}, `[{"type":"function","name":"f","parameters":`+schema+`}]`)
		if r := show(g, done(fc("f", "")), done(fcAs("2", "f", "{}"))); r != nil {
			t.Errorf("%s: %s", schema, r.Message())
		}
	}
}
