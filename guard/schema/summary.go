package schema

import (
	"bytes"
	"maps"
	"slices"
	"strings"
)

// What a summary may hold.
const (
	maxSummaryBytes       = 1_536
	maxSummaryProperties  = 24
	maxSummaryDescription = 120 // code points
	maxSummaryEnum        = 8
)

// Summary returns, as one JSON object, how a tool wants to be called:
//
//	{"required":[NAME...],"properties":{NAME:{"type":T,"description":D,"enum":[V...]}...},"truncated":true}
//
// It holds at most 24 properties (those required first, in the order of
// required, then the rest sorted by bytes), descriptions of at most 120 code
// points, at most 8 values of an enum, and at most 1,536 bytes: properties are
// dropped from the end until it fits, then names from the end of required.
// truncated is there exactly when something was left out for one of these
// bounds. A list of types is joined by "|", an unknown type is "any", an array
// of primitives is "array<string>", and nothing is said about what is nested.
// Angle brackets and ampersands are not escaped; an encoder that escapes them
// makes it longer.
//
// Any schema gets a summary, whatever its shape; one that is not JSON, or not an
// object, has no properties to show; one too large to be read (see [Hash]) has
// only truncated. The result is nil where there is no schema: nothing, or null.
// The same schema gives the same bytes, whatever the order of its keys. They
// are the caller's own. Summary is safe for concurrent use.
func Summary(schema []byte) []byte {
	if absent(schema) {
		return nil
	}
	v, _, err := parse(schema, describedLimits())
	root, _ := v.(map[string]any)
	s := summary{truncated: err == errTooLarge}
	s.addRequired(root["required"])
	s.addProperties(root["properties"])
	s.fit()
	return s.append(nil)
}

// absent reports whether a tool was declared without a schema.
func absent(schema []byte) bool {
	text := bytes.Trim(schema, " \t\r\n")
	return len(text) == 0 || string(text) == "null"
}

// summary is a summary being made. Its parts are finished JSON, without commas.
type summary struct {
	names      []string // of required, in order, each once
	required   []string
	properties []string
	truncated  bool
}

func (s *summary) addRequired(v any) {
	list, _ := v.([]any)
	seen := map[string]bool{}
	for _, item := range list {
		name, ok := item.(string)
		if !ok || seen[name] {
			continue
		}
		seen[name] = true
		s.names = append(s.names, name)
		s.required = append(s.required, string(appendString(nil, name)))
	}
}

func (s *summary) addProperties(v any) {
	properties, _ := v.(map[string]any)
	order := make([]string, 0, len(properties))
	first := map[string]bool{}
	for _, name := range s.names {
		if _, ok := properties[name]; ok {
			order = append(order, name)
			first[name] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		if !first[name] {
			order = append(order, name)
		}
	}
	if len(order) > maxSummaryProperties {
		order = order[:maxSummaryProperties]
		s.truncated = true
	}
	for _, name := range order {
		s.properties = append(s.properties, string(s.property(name, properties[name])))
	}
}

// property returns a member of properties.
func (s *summary) property(name string, v any) []byte {
	schema, _ := v.(map[string]any)
	b := append(appendString(nil, name), `:{"type":`...)
	b = appendString(b, summaryType(schema))
	if text, _ := schema["description"].(string); text != "" {
		short, cut := cutText(text, maxSummaryDescription)
		s.truncated = s.truncated || cut
		b = appendString(append(b, `,"description":`...), short)
	}
	if values, _ := schema["enum"].([]any); len(values) > 0 {
		if len(values) > maxSummaryEnum {
			values = values[:maxSummaryEnum]
			s.truncated = true
		}
		b = appendCanonical(append(b, `,"enum":`...), values)
	}
	return append(b, '}')
}

// cutText returns the first limit code points of text, and whether there are
// more.
func cutText(text string, limit int) (string, bool) {
	n := 0
	for i := range text {
		if n == limit {
			return text[:i], true
		}
		n++
	}
	return text, false
}

func summaryType(schema map[string]any) string {
	list, ok := schema["type"].([]any)
	if !ok {
		list = []any{schema["type"]}
	}
	var names []string
	for _, t := range list {
		if name := oneType(t, schema); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return "any"
	}
	return strings.Join(names, "|")
}

func oneType(t any, schema map[string]any) string {
	switch name, _ := t.(string); {
	case name == "array":
		items, _ := schema["items"].(map[string]any)
		if of, _ := items["type"].(string); primitive(of) {
			return "array<" + of + ">"
		}
		return name
	case name == "object", primitive(name):
		return name
	}
	return "any"
}

func primitive(name string) bool {
	switch name {
	case "string", "number", "integer", "boolean", "null":
		return true
	}
	return false
}

// fit drops parts from the end until the summary is small enough.
func (s *summary) fit() {
	size := len(s.append(nil))
	drop := func(parts []string) []string {
		last := len(parts) - 1
		size -= len(parts[last])
		if last > 0 {
			size-- // its comma
		}
		if !s.truncated {
			s.truncated = true
			size += len(truncatedMember)
		}
		return parts[:last]
	}
	for size > maxSummaryBytes && len(s.properties) > 0 {
		s.properties = drop(s.properties)
	}
	for size > maxSummaryBytes && len(s.required) > 0 {
		s.required = drop(s.required)
	}
}

const truncatedMember = `,"truncated":true`

func (s *summary) append(b []byte) []byte {
	b = append(b, `{"required":[`...)
	b = append(b, strings.Join(s.required, ",")...)
	b = append(b, `],"properties":{`...)
	b = append(b, strings.Join(s.properties, ",")...)
	b = append(b, '}')
	if s.truncated {
		b = append(b, truncatedMember...)
	}
	return append(b, '}')
}
