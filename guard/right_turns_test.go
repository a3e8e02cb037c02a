package guard

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRightTurnsPass has events of right turns that a careless guard would
// refuse. K-E22 and K-X3 are among them.
func TestRightTurnsPass(t *testing.T) {
	text := func(s string) string { return typed("response.output_text.delta", `"delta":`+s) }
	for name, data := range map[string]string{
		"text about a function_call":    text(`"a \"function_call\" named \"rm_all\""`),
		"text that is a call":           text(`"{\"type\":\"function_call\",\"name\":\"rm_all\"}"`),
		"done text that is a call":      typed("response.output_text.done", `"text":"{\"item\":{\"type\":\"local_shell_call\"}}"`),
		"lone surrogate":                text(`"\ud83d"`),
		"lone surrogate beside a word":  text(`"\ude00 _call"`),
		"invalid UTF-8":                 text("\"\xf0\x9f\""),
		"invalid UTF-8 beside a word":   text("\"\xf0\x9f _call\""),
		"a terminal's escapes":          text(`"\u001b[31m\u0000"`),
		"a raw line separator":          text("\"a\u2028data: _call\""),
		"a byte order mark in the text": text("\"\ufeffdata: _call\""),
		"argument deltas as ciphertext": typed("response.function_call_arguments.delta", `"delta":"gAAAAABo\"n_x","item_id":"x"`),
		"arguments that mention a name": typed("response.function_call_arguments.delta", `"delta":"{\"name\":\"rm_all\""`),
		"arguments that are a call":     typed("response.function_call_arguments.done", `"arguments":"{\"type\":\"local_shell_call\"}"`),
		"call ids that say call":        typed("response.output_text.delta", `"item_id":"msg_call_1","delta":"x"`),
		"tools echoed in a snapshot": typed("response.created",
			`"response":{"id":"r","object":"response","output":[],"tools":[{"type":"function","name":"rm_all"},{"type":"local_shell"}],"tool_choice":{"type":"function","name":"rm_all"}}`),
		"input echoed in a snapshot":  typed("response.created", `"response":{"output":[],"input":[`+rmAll+`]}`),
		"a declared call":             done(call(`"name":"read_file"`)),
		"a call with nulls":           done(call(`"name":"read_file","namespace":null,"caller":null`)),
		"a call written with spaces":  " { \"type\" : \"response.output_item.done\" ,\n \"item\" : " + call(`"name" : "read_file"`) + "\t}\n",
		"its type in the last place":  `{"item":{"name":"read_file","call_id":"c","type":"function_call"},"type":"response.output_item.done"}`,
		"escapes in the arguments":    done(`{"type":"function_call","name":"read_file","arguments":"{\"a\":\"\\u0000\\ud800\"}"}`),
		"a name inside the item":      done(`{"type":"function_call","name":"read_file","x":{"type":"function_call","name":"rm_all"}}`),
		"output of a hosted tool":     typed("response.mcp_call_output.done", `"output":"function_call"`),
		"output of a hosted shell":    typed("response.shell_call_output_content.done", `"output":[{"stdout":"rm_all","outcome":{"type":"exit"}}]`),
		"a search that runs upstream": typed("response.web_search_call.searching", `"item_id":"ws_1"`),
		"code that runs upstream":     typed("response.code_interpreter_call_code.delta", `"delta":"name"`),
		"annotation":                  typed("response.output_text.annotation.added", `"annotation":{"type":"url_citation","title":"function_call"}`),
		"a large event":               text(`"` + strings.Repeat("x function_call ", 100_000) + `"`),
		"a comment in disguise":       `: PROCESSING`,
		"keepalive":                   `{"type":"keepalive","sequence_number":3}`,
		"chat chunk of another API":   `{"object":"chat.completion.chunk","choices":[{"delta":{"tool_calls":[{"function":{"name":"x"}}]}}]}`,
		"odd numbers, K-A10":          typed("response.in_progress", `"response":{"created_at":1796.0,"truncation":"","output":[],"x":-0e-0}`),
		"item null":                   typed("response.output_item.done", `"item":null`),
		"output null":                 typed("response.completed", `"response":{"output":null}`),
	} {
		t.Run(name, func(t *testing.T) {
			if _, r := guardOf(t, readFile).Inspect(event(data)); r != nil {
				t.Errorf("%.300s: %s", data, r.Message())
			}
		})
	}
}

// TestCodexRequests reads what the real Codex CLI sends: its catalog must hold
// the tools that it would run, and nothing of what only its history mentions.
func TestCodexRequests(t *testing.T) {
	files, _ := filepath.Glob("../../shared/fixtures/codex/*.body.json")
	if len(files) == 0 {
		t.Skip("no recorded requests here")
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".body.json"), func(t *testing.T) {
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			c := catalogOf(t, string(b))
			want := declaredBy(b)
			for _, name := range want {
				if !strings.Contains(strings.Join(c.Declared(), "\n"), name) {
					t.Errorf("%s is not declared: %v", name, c.Declared())
				}
			}
			if len(want) == 0 {
				if !c.StandsDown() {
					t.Errorf("nothing is declared, and it does not stand down: %v", c.Declared())
				}
				return
			}
			if _, r := New(c, Options{}).Inspect(event(done(rmAll))); reasonOf(r) != UndeclaredToolCall {
				t.Errorf("rm_all: %s", reasonOf(r))
			}
			checkHistory(t, c, b)
		})
	}
}

// checkHistory judges the calls in a request's own history as if they came
// again: Codex ran the declared ones.
func checkHistory(t *testing.T, c *Catalog, body []byte) {
	t.Helper()
	var req struct {
		Input []json.RawMessage `json:"input"`
	}
	if err := json.Unmarshal(body, &req); err != nil {
		return // input is a text
	}
	for _, item := range req.Input {
		var i struct{ Type, Namespace, Name string }
		if json.Unmarshal(item, &i) != nil || !strings.HasSuffix(i.Type, "_call") {
			continue
		}
		undeclared := i.Name == "delete_everything" || i.Name == "exec_command" && c.kindsOf(identity{"", "exec_command"}) == 0 ||
			i.Name == "apply_patch" && c.kindsOf(identity{"", "apply_patch"}) == 0
		_, r := New(c, Options{}).Inspect(event(done(string(item))))
		if refused := r != nil; refused != undeclared {
			t.Errorf("%s %s.%s: %s", i.Type, i.Namespace, i.Name, reasonOf(r))
		}
	}
}
