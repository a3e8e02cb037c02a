package guard

// intern returns b as a string, without allocating for the usual types.
func intern(b []byte) string {
	if s, ok := usualTypes[string(b)]; ok {
		return s
	}
	return string(b)
}

// usualTypes are those of events, items and tools that come again and again.
var usualTypes = func() map[string]string {
	all := map[string]string{}
	for _, s := range []string{
		"response.created", "response.in_progress", "response.completed",
		"response.output_item.added", "response.output_item.done",
		"response.content_part.added", "response.content_part.done",
		"response.function_call_arguments.done", "response.custom_tool_call_input.done",
		"message", "reasoning", "function_call", "function_call_output",
		"custom_tool_call", "custom_tool_call_output", "function", "custom",
	} {
		all[s] = s
	}
	return all
}()
