package replay_test

import (
	"errors"
	"testing"

	"turngate/replay"
)

// TestCheckCalls looks for calls and outputs without each other (R7).
func TestCheckCalls(t *testing.T) {
	tests := []struct{ name, output, input, message string }{
		{"answered", `[{"type":"function_call","call_id":"c"}]`, `[{"type":"function_call_output","call_id":"c"}]`, ""},
		{"answered by another kind", `[{"type":"custom_tool_call","call_id":"c"}]`, `[{"type":"function_call_output","call_id":"c"}]`, ""},
		{"custom", `[{"type":"custom_tool_call","call_id":"c","name":"x"}]`, `[]`, "No tool output found for custom tool call c."},
		{"computer", `[{"type":"computer_call","call_id":"c"}]`, `[]`, "No tool output found for computer call c."},
		{"local shell", `[{"type":"local_shell_call","call_id":"c"}]`, `[]`, "No tool output found for local shell call c."},
		{"local shell answered by item id", `[{"type":"local_shell_call","call_id":"c","id":"l"}]`, `[{"type":"local_shell_call_output","id":"l"}]`, ""},
		{"apply patch", `[{"type":"apply_patch_call","call_id":"c"}]`, `[]`, "No tool output found for apply patch call c."},
		{"shell", `[{"type":"shell_call","call_id":"c"}]`, `[]`, "No tool output found for shell call c."},
		{"shell, local", `[{"type":"shell_call","call_id":"c","environment":{"type":"local"}}]`, `[]`, "No tool output found for shell call c."},
		{"shell, hosted", `[{"type":"shell_call","call_id":"c","environment":{"type":"container_auto"}}]`, `[]`, ""},
		{"tool search, client", `[{"type":"tool_search_call","call_id":"c","execution":"client"}]`, `[]`, "No tool output found for tool search call c."},
		{"tool search, hosted", `[{"type":"tool_search_call","call_id":"c","execution":"server"}]`, `[]`, ""},
		{"async", `[{"type":"function_call","call_id":"c","async":true}]`, `[]`, ""},
		{"null call id", `[{"type":"function_call","call_id":null}]`, `[{"type":"function_call_output","call_id":null}]`, ""},
		{"approval", `[{"type":"mcp_approval_request","id":"a"}]`, `[]`, ""},
		{"hosted", `[{"type":"web_search_call","id":"w"},{"type":"mcp_call","call_id":"m"},{"type":"never_heard_of_call","call_id":"n"}]`, `[]`, ""},
		{"hosted by name", `[{"type":"custom_tool_call","call_id":"c","name":"x_search"}]`, `[]`, ""},
		{"orphan", `[]`, `[{"type":"custom_tool_call_output","call_id":"c"}]`, "No tool call found for custom tool call output with call_id c."},
		{"orphan after compaction", `[{"type":"compaction","encrypted_content":"x"}]`, `[{"type":"function_call_output","call_id":"c"}]`, ""},
		{"call after compaction", `[{"type":"compaction"},{"type":"function_call","call_id":"c"}]`, `[]`, "No tool output found for function call c."},
		{"compaction trigger is none", `[]`, `[{"type":"function_call_output","call_id":"c"},{"type":"compaction_trigger"}]`, "No tool call found for function call output with call_id c."},
		{"program", `[{"type":"program","call_id":"p"},{"type":"program_output","call_id":"p"}]`, `[]`, ""},
		{"unheard-of output", `[]`, `[{"type":"never_heard_of_output","call_id":"c"}]`, ""},
		{"doubtful", `[]`, `[{"type":"function_call_output","call_id":"c","call_id":"d"}]`, ""},
		{"answered before it is called", `[{"type":"function_call","call_id":"c"}]`, `[{"type":"function_call_output","call_id":"c"},{"type":"function_call","call_id":"d"},{"type":"function_call_output","call_id":"d"}]`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := replay.Expand(t.Context(), newStore(t, rec("a", "", `["x"]`, tt.output)), scope, replay.Request{
				PreviousID: "a", Input: []byte(tt.input),
				Hosted: func(_, name string) bool { return name == "x_search" },
			})
			var e *replay.InputError
			switch {
			case tt.message == "" && err != nil:
				t.Errorf("error = %v, want none", err)
			case tt.message != "" && (!errors.As(err, &e) || e.Message != tt.message):
				t.Errorf("error = %v, want %s", err, tt.message)
			}
		})
	}
}

// An input that turngate did not expand is the upstream's to judge.
func TestCheckOnlyExpanded(t *testing.T) {
	in := []byte(`[{"type":"function_call","call_id":"c"}]`)
	if _, err := replay.Expand(t.Context(), newStore(t), scope, replay.Request{Input: in}); err != nil {
		t.Error(err)
	}
}
