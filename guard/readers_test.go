package guard

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// The models in this file are what real clients make of the bytes that were
// relayed to them. They are written apart from the guard, each after one kind
// of reader, and know what fuzzTools declares.

const fuzzTools = `[{"type":"function","name":"read_file"},{"type":"custom","name":"exec"},
	{"type":"namespace","name":"crm","tools":[{"type":"function","name":"add"}]}]`

// eventsOf cuts a stream into the data of its events as a reader does that ends
// lines at eols and prepares each line with trim.
func eventsOf(raw string, ends []string, trim func(line string) string) (events []string) {
	var data []string
	for raw != "" {
		at, n := len(raw), 0
		for _, end := range ends {
			if i := strings.Index(raw, end); i >= 0 && (i < at || i == at && len(end) > n) {
				at, n = i, len(end)
			}
		}
		line := trim(raw[:at])
		raw = raw[at+n:]
		switch name, value, _ := strings.Cut(line, ":"); {
		case line == "" && data != nil:
			events = append(events, strings.Join(data, "\n"))
			data = nil
		case name == "data":
			data = append(data, strings.TrimPrefix(value, " "))
		}
	}
	if data != nil { // some readers dispatch what the end cuts short
		events = append(events, strings.Join(data, "\n"))
	}
	return events
}

// standardEvents reads as the standard says, openai-python and Codex too.
func standardEvents(raw string) []string {
	return eventsOf(strings.TrimPrefix(raw, "\ufeff"), []string{"\n", "\r", "\r\n"}, func(l string) string { return l })
}

// nodeEvents reads as openai-node: each line is decoded by itself, and the
// decoder drops a byte order mark.
func nodeEvents(raw string) []string {
	return eventsOf(raw, []string{"\n", "\r", "\r\n"}, func(l string) string { return strings.TrimPrefix(l, "\ufeff") })
}

// goEvents reads as openai-go: bufio.Scanner's lines.
func goEvents(raw string) []string {
	return eventsOf(raw, []string{"\n"}, func(l string) string { return strings.TrimSuffix(l, "\r") })
}

// pythonEvents reads as clients do that go over the lines of httpx.
func pythonEvents(raw string) []string {
	ends := []string{"\n", "\r", "\r\n", "\v", "\f", "\x1c", "\x1d", "\x1e", "\u0085", "\u2028", "\u2029"}
	return eventsOf(raw, ends, func(l string) string { return l })
}

// lineEvents reads as hand-made clients do: every data line is an event.
func lineEvents(raw string) (events []string) {
	for line := range strings.SplitSeq(raw, "\n") {
		if data, ok := strings.CutPrefix(strings.TrimSpace(line), "data:"); ok {
			events = append(events, data)
		}
	}
	return events
}

// seen is a call that a reader sees in an event; a value that is no string
// is false in ok.
type seen struct {
	typ, name, namespace, execution, environment string
	nameOK, namespaceOK                          bool
}

// executes reports whether a client would run the call although fuzzTools does
// not declare it.
func (s seen) executes() bool {
	switch s.typ {
	case "function_call", "custom_tool_call":
		declared := []string{"read_file", "functions.read_file", "exec", "functions.exec", "crm.add", "crm__add", "functions.crm__add"}
		full := s.name
		if s.namespace != "" {
			full = s.namespace + "." + s.name
		}
		return !s.nameOK || !s.namespaceOK || !slices.Contains(declared, full)
	case "local_shell_call", "apply_patch_call", "computer_call", "mcp_approval_request":
		return true
	case "shell_call":
		return s.environment == "" || s.environment == "local"
	case "tool_search_call":
		return s.execution == "client"
	}
	return false
}

// firstWins reads an event with gjson.
func firstWins(data string) (calls []seen) {
	if !json.Valid([]byte(data)) {
		return nil
	}
	root := gjson.Parse(data)
	for _, path := range []string{"item", "output", "response.output"} {
		items := []gjson.Result{root.Get(path)}
		if items[0].IsArray() {
			items = items[0].Array()
		}
		for _, i := range items {
			if !i.IsObject() {
				continue
			}
			name, ns := i.Get("name"), i.Get("namespace")
			calls = append(calls, seen{
				typ: i.Get("type").Str, name: name.Str, nameOK: name.Type == gjson.String,
				namespace: ns.Str, namespaceOK: ns.Type == gjson.String || ns.Type == gjson.Null,
				execution: i.Get("execution").Str, environment: i.Get("environment.type").Str,
			})
		}
	}
	return calls
}

// lastWins reads an event as JSON.parse and Python do.
func lastWins(data string) (calls []seen) {
	var root map[string]any
	if json.Unmarshal([]byte(data), &root) != nil {
		return nil
	}
	response, _ := root["response"].(map[string]any)
	for _, v := range []any{root["item"], root["output"], response["output"]} {
		items, isList := v.([]any)
		if !isList {
			items = []any{v}
		}
		for _, v := range items {
			i, ok := v.(map[string]any)
			if !ok {
				continue
			}
			s := seen{namespaceOK: i["namespace"] == nil}
			s.typ, _ = i["type"].(string)
			s.name, s.nameOK = i["name"].(string)
			if ns, ok := i["namespace"].(string); ok {
				s.namespace, s.namespaceOK = ns, true
			}
			s.execution, _ = i["execution"].(string)
			if env, ok := i["environment"].(map[string]any); ok {
				s.environment, _ = env["type"].(string)
			}
			calls = append(calls, s)
		}
	}
	return calls
}

// folded reads an event with encoding/json into structs, which folds the case of
// keys.
func folded(data string) (calls []seen) {
	type raw = json.RawMessage
	var root struct {
		Item, Output raw
		Response     raw
	}
	if json.Unmarshal([]byte(data), &root) != nil {
		return nil
	}
	var response struct{ Output raw }
	json.Unmarshal(root.Response, &response)
	for _, v := range []raw{root.Item, root.Output, response.Output} {
		items := []raw{v}
		if bytes.HasPrefix(v, []byte("[")) {
			json.Unmarshal(v, &items)
		}
		for _, v := range items {
			var i struct{ Type, Name, Namespace, Execution, Environment raw }
			if json.Unmarshal(v, &i) != nil {
				continue
			}
			var s seen
			s.typ, _ = textOf(i.Type)
			s.name, s.nameOK = textOf(i.Name)
			s.namespace, s.namespaceOK = textOf(i.Namespace)
			s.namespaceOK = s.namespaceOK || i.Namespace == nil || string(i.Namespace) == "null"
			s.execution, _ = textOf(i.Execution)
			var env struct{ Type raw }
			if json.Unmarshal(i.Environment, &env) == nil {
				s.environment, _ = textOf(env.Type)
			}
			calls = append(calls, s)
		}
	}
	return calls
}

func textOf(v json.RawMessage) (s string, ok bool) {
	var p *string
	if json.Unmarshal(v, &p) != nil || p == nil {
		return "", false
	}
	return *p, true
}

// executed returns a call that some client would run although it was not
// declared, and says which client.
func executed(relayed string) (s seen, client string, found bool) {
	for reader, cut := range map[string]func(string) []string{"standard": standardEvents, "node": nodeEvents, "go": goEvents, "python": pythonEvents, "lines": lineEvents} {
		for _, data := range cut(relayed) {
			for parser, parse := range map[string]func(string) []seen{"first wins": firstWins, "last wins": lastWins, "folded": folded} {
				for _, s := range parse(data) {
					if s.executes() {
						return s, reader + ", " + parser, true
					}
				}
			}
		}
	}
	return seen{}, "", false
}
