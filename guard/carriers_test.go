package guard

import (
	"testing"
)

// item is an output item with tools that authorise it, and a set of tools that
// does not.
type item struct {
	item, declared, undeclared string
}

var anotherTool = `[{"type":"function","name":"other"}]`

// clientCalls has every item type of G5.
func clientCalls() map[string]item {
	named := func(typ, name string) string {
		return `{"type":"` + typ + `","id":"i_1","call_id":"call_1","name":"` + name + `"}`
	}
	return map[string]item{
		"function_call":              {named("function_call", "read_file"), readFile, anotherTool},
		"custom_tool_call":           {named("custom_tool_call", "exec"), `[{"type":"custom","name":"exec"}]`, anotherTool},
		"function_call, chat form":   {named("function_call", "f"), `[{"type":"function","function":{"name":"f"}}]`, anotherTool},
		"local_shell_call":           {`{"type":"local_shell_call","call_id":"c"}`, `[{"type":"local_shell"}]`, readFile},
		"shell_call":                 {`{"type":"shell_call","call_id":"c","environment":{"type":"local"}}`, `[{"type":"shell"}]`, readFile},
		"shell_call, bare":           {`{"type":"shell_call","call_id":"c"}`, `[{"type":"shell","environment":{"type":"local"}}]`, readFile},
		"shell_call, hosted only":    {`{"type":"shell_call","call_id":"c","environment":null}`, `[{"type":"shell"}]`, `[{"type":"function","name":"f"},{"type":"shell","environment":{"type":"container_auto"}}]`},
		"apply_patch_call":           {`{"type":"apply_patch_call","call_id":"c","operation":{}}`, `[{"type":"apply_patch"}]`, `[{"type":"custom","name":"apply_patch"}]`},
		"computer_call":              {`{"type":"computer_call","call_id":"c"}`, `[{"type":"computer"}]`, readFile},
		"computer_call, preview":     {`{"type":"computer_call","call_id":"c"}`, `[{"type":"computer_use_preview"}]`, readFile},
		"tool_search_call":           {`{"type":"tool_search_call","call_id":null,"execution":"client"}`, `[{"type":"tool_search","execution":"client"}]`, `[{"type":"function","name":"f"},{"type":"tool_search","execution":"server"}]`},
		"mcp_approval_request":       {`{"type":"mcp_approval_request","server_label":"shop","name":"buy"}`, `[{"type":"mcp","server_label":"shop"}]`, `[{"type":"mcp","server_label":"bank"}]`},
		"mcp_approval_request, list": {`{"type":"mcp_approval_request","server_label":"shop","name":"buy"}`, `[{"type":"mcp","server_label":"shop","allowed_tools":["buy"]}]`, `[{"type":"mcp","server_label":"shop","allowed_tools":["look"]}]`},
		"mcp_approval_request, filter": {`{"type":"mcp_approval_request","server_label":"shop","name":"buy"}`, `[{"type":"mcp","server_label":"shop","allowed_tools":{"read_only":true}}]`,
			`[{"type":"mcp","server_label":"shop","allowed_tools":{"tool_names":[]}}]`},
	}
}

// carrierForms has every place of G11 where an item can stand.
func carrierForms() map[string]func(item string) string {
	all := map[string]func(item string) string{
		"item of added":        func(i string) string { return typed("response.output_item.added", `"item":`+i) },
		"item of done":         func(i string) string { return typed("response.output_item.done", `"item":`+i) },
		"item of an unknown":   func(i string) string { return typed("response.surprise", `"item":`+i) },
		"output at the top":    func(i string) string { return typed("vendor.output", `"output":[{"type":"message"},`+i+`]`) },
		"one item as output":   func(i string) string { return typed("vendor.output", `"output":`+i) },
		"no type at all":       func(i string) string { return `{"item":` + i + `}` },
		"the event itself":     func(i string) string { return i },
		"response not nested":  func(i string) string { return typed("response.completed", `"object":"response","output":[`+i+`]`) },
		"white space all over": func(i string) string { return " {\t\"type\" :\"x\" ,\n \"item\" : " + i + " } " },
	}
	for _, name := range []string{"created", "queued", "in_progress", "completed", "incomplete", "failed", "done"} {
		all["snapshot of "+name] = func(i string) string {
			return typed("response."+name, `"response":{"id":"resp_1","object":"response","output":[{"type":"message"},`+i+`]}`)
		}
	}
	return all
}

// TestG11EveryCallInEveryCarrier also pins K-E2 and K-E3: a call without an
// added event, and one that only the terminal snapshot has.
func TestG11EveryCallInEveryCarrier(t *testing.T) {
	for call, i := range clientCalls() {
		for carrier, wrap := range carrierForms() {
			t.Run(call+" in "+carrier, func(t *testing.T) {
				data := wrap(i.item)
				if _, r := guardOf(t, i.declared).Inspect(event(data)); r != nil {
					t.Errorf("declared by %s: refused: %s\n%s", i.declared, r.Message(), data)
				}
				if _, r := guardOf(t, i.undeclared).Inspect(event(data)); reasonOf(r) != UndeclaredToolCall {
					t.Errorf("declared only %s: %s\n%s", i.undeclared, reasonOf(r), data)
				}
			})
		}
	}
}

func TestG11EveryCallInAnAnswer(t *testing.T) {
	for call, i := range clientCalls() {
		t.Run(call, func(t *testing.T) {
			answer := `{"id":"resp_1","object":"response","status":"completed","output":[{"type":"message"},` + i.item + `]}`
			if k, r, ok := guardOf(t, i.declared).InspectAnswer([]byte(answer)); r != nil || !ok || k != KindCompleted {
				t.Errorf("declared by %s: kind %v, %s, ok %v", i.declared, k, reasonOf(r), ok)
			}
			if _, r, ok := guardOf(t, i.undeclared).InspectAnswer([]byte(answer)); reasonOf(r) != UndeclaredToolCall || !ok {
				t.Errorf("declared only %s: %s, ok %v", i.undeclared, reasonOf(r), ok)
			}
		})
	}
}

func TestG11ArgumentsEvents(t *testing.T) {
	const ns = `[{"type":"namespace","name":"crm","tools":[{"type":"function","name":"add"}]}]`
	for name, tt := range map[string]struct{ tools, typ, members, want string }{
		"arguments.done of a declared call":           {readFile, "response.function_call_arguments.done", `"name":"read_file"`, "passed"},
		"arguments.done of an undeclared call":        {readFile, "response.function_call_arguments.done", `"name":"rm_all"`, UndeclaredToolCall},
		"arguments.delta of an undeclared call":       {readFile, "response.function_call_arguments.delta", `"delta":"{","name":"rm_all"`, UndeclaredToolCall},
		"arguments.delta, the name spelled with caps": {readFile, "response.function_call_arguments.delta", `"delta":"{","NAME":"rm_all"`, UndeclaredToolCall},
		"arguments.delta, the name escaped":           {readFile, "response.function_call_arguments.delta", `"delta":"{","\u006eame":"rm_all"`, UndeclaredToolCall},
		"input.done of an undeclared call":            {readFile, "response.custom_tool_call_input.done", `"name":"rm_all"`, UndeclaredToolCall},
		"a family member of another name":             {readFile, "response.tool_arguments.done", `"name":"rm_all"`, UndeclaredToolCall},
		"a vendor's command event":                    {readFile, "response.vendor_command.done", `"name":"rm_all"`, UndeclaredToolCall},
		"a name that is not a string":                 {readFile, "response.function_call_arguments.done", `"name":1`, UndeclaredToolCall},
		"no name":                                     {readFile, "response.function_call_arguments.done", `"arguments":"{}"`, "passed"},
		"name null":                                   {readFile, "response.function_call_arguments.done", `"name":null`, "passed"},
		// Servers with fixed structs send the key always; the item says the name.
		"name empty": {readFile, "response.function_call_arguments.done", `"name":""`, "passed"},
		// The event has no namespace to give, so the bare name of a namespaced
		// tool was once refused here although its item passes (K-E6).
		"bare name of a namespaced tool":  {ns, "response.function_call_arguments.done", `"name":"add"`, "passed"},
		"the same in another namespace":   {ns, "response.function_call_arguments.done", `"name":"add","namespace":"bank"`, UndeclaredToolCall},
		"shell command, undeclared":       {readFile, "response.shell_call_command.delta", `"delta":"ls"`, UndeclaredToolCall},
		"shell command, declared":         {`[{"type":"shell"}]`, "response.shell_call_command.delta", `"delta":"ls"`, "passed"},
		"shell command, hosted":           {`[{"type":"function","name":"f"},{"type":"shell","environment":{"type":"container_auto"}}]`, "response.shell_call_command.added", `"command":"ls"`, "passed"},
		"patch diff, undeclared":          {readFile, "response.apply_patch_call_operation_diff.delta", `"delta":"+"`, UndeclaredToolCall},
		"patch diff, declared":            {`[{"type":"apply_patch"}]`, "response.apply_patch_call_operation_diff.done", `"diff":"+"`, "passed"},
		"hosted mcp arguments":            {readFile, "response.mcp_call_arguments.done", `"name":"buy"`, "passed"},
		"hosted code":                     {readFile, "response.code_interpreter_call_code.done", `"code":"x","name":"y"`, "passed"},
		"xAI's hosted search, its input":  {`[{"type":"function","name":"f"},{"type":"x_search"}]`, "response.custom_tool_call_input.done", `"name":"x_user_search"`, "passed"},
		"the type in the event line only": {readFile, "", `"name":"rm_all"`, UndeclaredToolCall},
	} {
		t.Run(name, func(t *testing.T) {
			f := event(typed(tt.typ, tt.members))
			if tt.typ == "" {
				f = event("{" + tt.members + "}")
				f.Event = []byte("response.function_call_arguments.done")
			}
			if _, r := guardOf(t, tt.tools).Inspect(f); reasonOf(r) != tt.want {
				t.Errorf("%s: %s, want %s", f.Data, reasonOf(r), tt.want)
			}
		})
	}
}
