package guard

import (
	"strings"
	"testing"
)

// TestG12Readings has texts that readers take differently; the guard takes the
// reading that refuses. Each stood for a way past it.
func TestG12Readings(t *testing.T) {
	repeat := func(member string, n int) string { return strings.Repeat(member+",", n) }
	for name, tt := range map[string]struct{ data, want string }{
		"escaped letters in a key":          {done(`{"type":"function_call","n\u0061me":"rm_all"}`), UndeclaredToolCall},
		"escaped letters in the type":       {done(`{"type":"function\u005fcall","name":"rm_all"}`), UndeclaredToolCall},
		"escaped letters in a good name":    {done(call(`"name":"read\u005ffile"`)), "passed"},
		"escaped carrier":                   {typed("x", `"\u0069tem":`+rmAll), UndeclaredToolCall},
		"name twice, the last undeclared":   {done(call(`"name":"read_file","name":"rm_all"`)), UndeclaredToolCall},
		"name twice, the first undeclared":  {done(call(`"name":"rm_all","name":"read_file"`)), UndeclaredToolCall},
		"name twice, the same":              {done(call(`"name":"read_file","name":"read_file"`)), "passed"},
		"name twice, once null":             {done(call(`"name":"read_file","name":null`)), UndeclaredToolCall},
		"name twice, once a number":         {done(call(`"name":"read_file","name":7`)), UndeclaredToolCall},
		"name in two cases":                 {done(call(`"name":"read_file","Name":"rm_all"`)), UndeclaredToolCall},
		"name in folded spelling only":      {done(call(`"NAME":"read_file"`)), UndeclaredToolCall},
		"name escaped and folded":           {done(call(`"name":"read_file","\u004eAME":"rm_all"`)), UndeclaredToolCall},
		"namespace twice":                   {done(call(`"name":"read_file","namespace":"functions","namespace":"x"`)), UndeclaredToolCall},
		"namespace with the long s":         {done(call(`"name":"read_file","name\u017fpace":"x"`)), UndeclaredToolCall},
		"namespace with a raw long s":       {done(call(`"name":"read_file","nameſpace":"x"`)), UndeclaredToolCall},
		"namespace not a string":            {done(call(`"name":"read_file","namespace":{}`)), UndeclaredToolCall},
		"type twice, call last":             {done(`{"type":"message","name":"rm_all","type":"function_call"}`), UndeclaredToolCall},
		"type twice, call first":            {done(`{"type":"function_call","name":"rm_all","type":"message"}`), UndeclaredToolCall},
		"Type beside type":                  {done(`{"type":"message","name":"rm_all","Type":"function_call"}`), UndeclaredToolCall},
		"type a list":                       {done(`{"type":["function_call"],"name":"rm_all"}`), UnreadableEvent},
		"item twice, call last":             {typed("x", `"item":{"type":"message"},"item":`+rmAll), UndeclaredToolCall},
		"item twice, call first":            {typed("x", `"item":`+rmAll+`,"item":{"type":"message"}`), UndeclaredToolCall},
		"Item":                              {typed("x", `"Item":`+rmAll), UndeclaredToolCall},
		"OUTPUT":                            {typed("x", `"response":{"OUTPUT":[`+rmAll+`]}`), UndeclaredToolCall},
		"response with the long s":          {typed("x", `"re\u017fponse":{"output":[`+rmAll+`]}`), UndeclaredToolCall},
		"response twice":                    {typed("response.completed", `"response":{"output":[]},"response":{"output":[`+rmAll+`]}`), UndeclaredToolCall},
		"output twice":                      {typed("response.completed", `"response":{"output":[`+rmAll+`],"output":[]}`), UndeclaredToolCall},
		"event type twice, harmless first":  {`{"type":"response.output_text.delta","delta":"x","type":"response.output_item.done","item":` + rmAll + `}`, UndeclaredToolCall},
		"event type twice, harmless last":   {`{"type":"response.output_item.done","item":` + rmAll + `,"type":"response.output_text.delta"}`, UndeclaredToolCall},
		"text delta with an item":           {typed("response.output_text.delta", `"delta":"x","item":`+rmAll), UndeclaredToolCall},
		"arguments delta with an item":      {typed("response.function_call_arguments.delta", `"delta":"x","item":`+rmAll), UndeclaredToolCall},
		"arguments delta, then a shell":     {typed("response.function_call_arguments.delta", `"delta":"x","type":"response.shell_call_command.delta"`), UndeclaredToolCall},
		"a shell, then an arguments delta":  {`{"type":"response.shell_call_command.delta","type":"response.output_text.delta"}`, UndeclaredToolCall},
		"a list in the output":              {typed("x", `"output":[[`+rmAll+`]]`), UnreadableEvent},
		"a list of events":                  {`[` + done(rmAll) + `]`, UnreadableEvent},
		"trailing garbage":                  {done(call(`"name":"read_file"`)) + "x", UnreadableEvent},
		"a second object":                   {typed("x", `"a":1`) + done(rmAll), UnreadableEvent},
		"byte order mark before the JSON":   {"\ufeff" + done(rmAll), UnreadableEvent},
		"NaN, which Python reads":           {done(`{"type":"function_call","name":"rm_all","x":NaN}`), UnreadableEvent},
		"a comment in the JSON":             {done(`{"type":"function_call",/**/"name":"rm_all"}`), UnreadableEvent},
		"10,001 brackets and a call":        {`{"x":` + strings.Repeat("[", 10_001) + strings.Repeat("]", 10_001) + `,"item":` + rmAll + `}`, UnreadableEvent},
		"9,000 brackets and a call":         {`{"x":` + strings.Repeat("[", 9_000) + strings.Repeat("]", 9_000) + `,"item":` + rmAll + `}`, UndeclaredToolCall},
		"invalid UTF-8 beside a call":       {done("{\"type\":\"function_call\",\"x\":\"\xff\",\"name\":\"rm_all\"}"), UndeclaredToolCall},
		"invalid UTF-8 in the name":         {done(call("\"name\":\"read_file\xff\"")), UndeclaredToolCall},
		"lone surrogate in the name":        {done(call(`"name":"read_file\ud800"`)), UndeclaredToolCall},
		"lone surrogate eats a letter":      {done(call(`"name":"\ud800\u0041"`)), UndeclaredToolCall},
		"NUL in the name":                   {done(call(`"name":"read_file\u0000"`)), UndeclaredToolCall},
		"name with space":                   {done(call(`"name":"read_file "`)), UndeclaredToolCall},
		"the shell's environment twice":     {done(`{"type":"shell_call","environment":{"type":"container_reference"},"environment":{"type":"local"}}`), UndeclaredToolCall},
		"its type twice":                    {done(`{"type":"shell_call","environment":{"type":"container_reference","type":"local"}}`), UndeclaredToolCall},
		"its environment folded":            {done(`{"type":"shell_call","Environment":{"type":"container_reference"}}`), UndeclaredToolCall},
		"search: execution twice":           {done(`{"type":"tool_search_call","execution":"server","execution":"client"}`), UndeclaredToolCall},
		"search: execution escaped":         {done(`{"type":"tool_search_call","execution":"clien\u0074"}`), UndeclaredToolCall},
		"approval: empty name":              {done(`{"type":"mcp_approval_request","server_label":"shop","name":""}`), UndeclaredToolCall},
		"approval: no label":                {done(`{"type":"mcp_approval_request","name":"buy"}`), UndeclaredToolCall},
		"approval: label twice":             {done(`{"type":"mcp_approval_request","server_label":"shop","server_label":"x","name":"buy"}`), UndeclaredToolCall},
		"name repeated without end":         {done(`{"type":"function_call",` + repeat(`"name":"read_file"`, 30) + `"x":1}`), UnreadableEvent},
		"items repeated without end":        {typed("x", repeat(`"item":{"type":"message"}`, 30)+`"item":`+rmAll), UnreadableEvent},
		"types repeated without end":        {done(`{` + repeat(`"type":"message"`, 30) + `"type":"function_call","name":"rm_all"}`), UnreadableEvent},
		"repeated, but no call in the item": {typed("x", `"z":"a_call","item":{`+repeat(`"id":"1"`, 30)+`"type":"message"}`), "passed"},
	} {
		t.Run(name, func(t *testing.T) {
			g := guardOf(t, `[{"type":"function","name":"read_file"},{"type":"mcp","server_label":"shop"}]`)
			if _, r := g.Inspect(event(tt.data)); reasonOf(r) != tt.want {
				t.Errorf("%.300s: %s, want %s", tt.data, reasonOf(r), tt.want)
			}
		})
	}
}

func TestG12Answers(t *testing.T) {
	answer := func(members string) string { return `{"object":"response",` + members + `}` }
	for name, tt := range map[string]struct {
		body, want string
		ok         bool
	}{
		"output twice":                 {answer(`"output":[],"output":[` + rmAll + `]`), UndeclaredToolCall, true},
		"Output beside output":         {answer(`"output":[],"Output":[` + rmAll + `]`), UndeclaredToolCall, true},
		"byte order mark":              {"\ufeff" + answer(`"output":[`+rmAll+`]`), UndeclaredToolCall, true},
		"byte order mark, right":       {"\ufeff" + answer(`"output":[]`), "passed", true},
		"trailing garbage":             {answer(`"output":[`+rmAll+`]`) + "x", UnreadableEvent, true},
		"trailing garbage, no call":    {answer(`"output":[]`) + "x", "passed", false},
		"an event as answer":           {typed("response.completed", `"response":{"output":[`+rmAll+`]}`), "passed", false},
		"an error":                     {`{"error":{"code":"rate_limit_exceeded"}}`, "passed", true},
		"an error, and a call":         {`{"error":{"code":"x"},"output":[` + rmAll + `]}`, UndeclaredToolCall, true},
		"output twice, the last null":  {`{"error":{},"output":[` + rmAll + `],"output":null}`, UndeclaredToolCall, true},
		"a page that mentions a call":  {`<html>function_call</html>`, "passed", false},
		"white space around it":        {" \r\n" + answer(`"output":[`+rmAll+`]`) + "\n", UndeclaredToolCall, true},
		"nothing":                      {"", "passed", false},
		"a list":                       {"[" + rmAll + "]", "passed", false},
		"output is one item, no array": {answer(`"output":` + rmAll), UndeclaredToolCall, true},
	} {
		t.Run(name, func(t *testing.T) {
			if _, r, ok := guardOf(t, readFile).InspectAnswer([]byte(tt.body)); reasonOf(r) != tt.want || ok != tt.ok {
				t.Errorf("%s, ok %v; want %s, %v", reasonOf(r), ok, tt.want, tt.ok)
			}
		})
	}
}
