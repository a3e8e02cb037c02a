package replay

import (
	"slices"
	"strings"
)

// clientCalls are the calls that a client executes and answers with an output
// item. shell_call and tool_search_call only in some forms: see awaitsOutput.
var clientCalls = []string{
	"function_call", "custom_tool_call", "local_shell_call", "shell_call",
	"apply_patch_call", "computer_call", "tool_search_call",
}

// clientCall reports whether the item is a call that a client executes.
func (it item) clientCall() bool {
	switch it.typ {
	case "shell_call":
		return !it.hostedShell
	case "tool_search_call":
		return it.execution == "client"
	}
	return slices.Contains(clientCalls, it.typ)
}

// callOutput reports whether the item is a client's answer to a call.
func (it item) callOutput() bool {
	call, ok := strings.CutSuffix(it.typ, "_output")
	return ok && slices.Contains(clientCalls, call)
}

// checkCalls looks for what every API is certain to refuse: a tool output
// without its call, a call without its output. They are matched by call_id
// alone, wherever they stand. Anything in doubt passes: the upstream will say.
// hosted may be nil.
func checkCalls(items []item, hosted func(namespace, name string) bool) error {
	calls, answered := make(map[string]bool), make(map[string]bool)
	compacted := false
	for _, it := range items {
		switch {
		case it.doubtful:
			return nil
		case it.callOutput():
			answered[it.callID] = true
			if it.typ == "local_shell_call_output" {
				answered[it.id] = true // the API's own type has the call's id here
			}
		case strings.HasPrefix(it.typ, "compaction") && it.typ != "compaction_trigger":
			compacted = true
		default:
			calls[it.callID] = true
		}
	}
	for _, it := range items {
		if it.callOutput() && it.callID != "" && !calls[it.callID] && !compacted {
			return &InputError{
				Code: CodeToolOutputWithoutCall, Param: "input",
				Message: "No tool call found for " + words(it.typ) + " with call_id " + it.callID + ".",
			}
		}
	}
	for _, it := range items {
		if !it.clientCall() || it.async || it.callID == "" || answered[it.callID] {
			continue
		}
		if it.typ == "local_shell_call" && it.id != "" && answered[it.id] {
			continue
		}
		if it.typ == "custom_tool_call" && hosted != nil && hosted(it.namespace, it.name) {
			continue
		}
		return &InputError{
			Code: CodeToolCallWithoutOutput, Param: "input",
			Message: "No tool output found for " + words(it.typ) + " " + it.callID + ".",
		}
	}
	return nil
}

// words turns an item type into the words of the API's messages.
func words(typ string) string { return strings.ReplaceAll(typ, "_", " ") }
