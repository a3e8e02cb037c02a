package schema

import "slices"

// allowNull makes schema, which it owns, accept null as well. OpenAPI 3.0 says
// nullable where JSON Schema lists a type.
func allowNull(schema map[string]any) map[string]any {
	for _, name := range []string{"$ref", "allOf", "anyOf", "oneOf", "not", "if", "const"} {
		if _, ok := schema[name]; ok {
			return map[string]any{"anyOf": []any{map[string]any{"type": "null"}, schema}}
		}
	}
	switch t := schema["type"].(type) {
	case string:
		if t != "null" {
			schema["type"] = []any{t, "null"}
		}
	case []any:
		if !slices.Contains(t, any("null")) {
			schema["type"] = append(slices.Clone(t), "null")
		}
	}
	if values, ok := schema["enum"].([]any); ok && !slices.Contains(values, nil) {
		schema["enum"] = append(slices.Clone(values), nil)
	}
	return schema
}
