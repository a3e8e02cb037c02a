package proxy

import (
	"encoding/json"
	"strings"
	"testing"

	"turngate/proxy/mock"
)

// argumentMarker stands in the arguments of every call of the carrier table and
// nowhere else: where it turns up, arguments turned up.
const argumentMarker = "MARKER-7f3ac1"

// called is an output item that a client executes, and the tool that authorises
// it (G5).
type called struct {
	name string
	item mock.Item
	tool string // what declares it
	// What an event of the arguments family that names the call is called, and
	// its members; "" if the item has none.
	event, fields string
}

// itemType is what a refusal calls the item.
func (c called) itemType() string { return c.item.Get("type") }

// calledItems are the items of G5.
func calledItems() []called {
	arguments := `{"path":"` + argumentMarker + `"}`
	return []called{{
		name: "function", item: mock.FC("rm_all", arguments),
		tool:  `{"type":"function","name":"rm_all"}`,
		event: "response.function_call_arguments", fields: `"name":"rm_all"`,
	}, {
		name: "function in a namespace", item: mock.FC("add", arguments).With("namespace", "crm"),
		tool:  `{"type":"namespace","name":"crm","tools":[{"type":"function","name":"add"}]}`,
		event: "response.function_call_arguments", fields: `"name":"add","namespace":"crm"`,
	}, {
		name: "custom", item: mock.CTC("patch_it", argumentMarker),
		tool:  `{"type":"custom","name":"patch_it"}`,
		event: "response.custom_tool_call_input", fields: `"name":"patch_it"`,
	}, {
		name: "local shell", item: `{"id":"lsh_1","type":"local_shell_call","status":"completed","call_id":"call_1","action":{"type":"exec","command":["` + argumentMarker + `"],"env":{}}}`,
		tool: `{"type":"local_shell"}`,
	}, {
		name: "shell", item: `{"id":"sh_1","type":"shell_call","status":"completed","call_id":"call_1","environment":{"type":"local"},"action":{"commands":["` + argumentMarker + `"]}}`,
		tool:  `{"type":"shell","environment":{"type":"local"}}`,
		event: "response.shell_call_command", fields: `"command_index":0`,
	}, {
		name: "shell without environment", item: `{"id":"sh_1","type":"shell_call","status":"completed","call_id":"call_1","action":{"commands":["` + argumentMarker + `"]}}`,
		tool: `{"type":"shell"}`,
	}, {
		name: "apply patch", item: `{"id":"ap_1","type":"apply_patch_call","status":"completed","call_id":"call_1","operation":{"type":"update_file","path":"a","diff":"` + argumentMarker + `"}}`,
		tool:  `{"type":"apply_patch"}`,
		event: "response.apply_patch_call_operation_diff", fields: `"item_id":"ap_1"`,
	}, {
		name: "computer", item: `{"id":"cu_1","type":"computer_call","status":"completed","call_id":"call_1","pending_safety_checks":[],"action":{"type":"type","text":"` + argumentMarker + `"}}`,
		tool: `{"type":"computer"}`,
	}, {
		name: "tool search", item: `{"id":"ts_1","type":"tool_search_call","status":"completed","call_id":"call_1","execution":"client","arguments":{"goal":"` + argumentMarker + `"}}`,
		tool: `{"type":"tool_search","execution":"client"}`,
	}, {
		name: "approval", item: `{"id":"mcpr_1","type":"mcp_approval_request","server_label":"shop","name":"create_order","arguments":"{\"item\":\"` + argumentMarker + `\"}"}`,
		tool: `{"type":"mcp","server_label":"shop","allowed_tools":["create_order"]}`,
	}}
}

// requestFor returns the request that declares, beside a function of its own,
// the tool of c, or the tools of all other items of the table instead: what is
// not declared is then authorised by none of them.
func requestFor(c called, declared, stream bool) []byte {
	tools := []string{`{"type":"function","name":"read_file"}`}
	if declared {
		tools = append(tools, c.tool)
	} else {
		for _, other := range calledItems() {
			if other.itemType() != c.itemType() {
				tools = append(tools, other.tool)
			}
		}
	}
	b, err := json.Marshal(map[string]any{
		"model": "m", "input": "hi", "stream": stream,
		"tools": json.RawMessage("[" + strings.Join(tools, ",") + "]"),
	})
	if err != nil {
		panic(err) // the table's own text
	}
	return b
}

// TestG5CalledItemsAreMarked holds the table to what its assertions rest on.
func TestG5CalledItemsAreMarked(t *testing.T) {
	for _, c := range calledItems() {
		if !json.Valid([]byte(c.item)) || strings.Count(string(c.item), argumentMarker) != 1 || c.itemType() == "" {
			t.Errorf("%s: item %s", c.name, c.item)
		}
		if !json.Valid([]byte(c.tool)) || strings.Contains(c.tool, argumentMarker) {
			t.Errorf("%s: tool %s", c.name, c.tool)
		}
	}
}
