package schema

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// read parses text, which the test made.
func read(t testing.TB, text string) any {
	t.Helper()
	v, _, err := parse([]byte(text), describedLimits())
	if err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return v
}

// shuffled writes v with its keys in any order and white space between.
func shuffled(r *rand.Rand, v any) string {
	space := []string{"", " ", "\n\t"}[r.IntN(3)]
	switch v := v.(type) {
	case []any:
		var items []string
		for _, item := range v {
			items = append(items, shuffled(r, item))
		}
		return "[" + space + strings.Join(items, ","+space) + "]"
	case map[string]any:
		var members []string
		for name, member := range v {
			members = append(members, string(appendString(nil, name))+space+":"+shuffled(r, member))
		}
		r.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
		return "{" + strings.Join(members, space+",") + space + "}"
	}
	return string(appendCanonical(nil, v))
}

// TestSummaryBounds holds the summaries of random schemas to every bound, and
// compares them with what the schema says.
func TestSummaryBounds(t *testing.T) {
	truncated := 0
	for seed := range uint64(300) {
		r := newRandom(seed)
		text := r.tool()
		if r.IntN(10) == 0 {
			text = `{"required":` + r.keyword("required", 1) + `,"properties":` + r.object(r.IntN(60), func(string) string { return r.schema(1) }) + `}`
		}
		got := Summary([]byte(text))
		if err := checkSummary(read(t, text), got); err != nil {
			t.Fatalf("seed %d: %v\nschema: %s\nsummary: %s", seed, err, text, got)
		}
		again := Summary([]byte(shuffled(r.Rand, read(t, text))))
		if string(again) != string(got) {
			t.Fatalf("seed %d: other summary for another order of keys\n%s\n%s", seed, got, again)
		}
		if strings.HasSuffix(string(got), truncatedMember+"}") {
			truncated++
		}
	}
	if truncated < 25 || truncated > 275 {
		t.Errorf("%d of 300 were truncated: the random schemas are no test", truncated)
	}
}

func checkSummary(schema any, summary []byte) error {
	if schema == nil {
		if summary != nil {
			return fmt.Errorf("a summary of no schema")
		}
		return nil
	}
	root, _ := schema.(map[string]any)
	declared, _ := root["properties"].(map[string]any)
	var s struct {
		Required   []string
		Properties json.RawMessage
		Truncated  *bool
	}
	if err := json.Unmarshal(summary, &s); err != nil {
		return err
	}
	if len(summary) > maxSummaryBytes || !utf8.Valid(summary) {
		return fmt.Errorf("%d bytes", len(summary))
	}
	names, properties, err := members(s.Properties)
	if err != nil {
		return err
	}
	required, left := wantRequired(root), len(names) < len(declared)
	if !slices.Equal(s.Required, required[:min(len(s.Required), len(required))]) {
		return fmt.Errorf("required %q is not the head of %q", s.Required, required)
	}
	left = left || len(s.Required) < len(required)
	if len(s.Required) < len(required) && len(names) > 0 {
		return fmt.Errorf("names were dropped from required before properties")
	}
	if want := wantOrder(required, declared); !slices.Equal(names, want[:min(len(names), len(want))]) {
		return fmt.Errorf("properties %q are not the head of %q", names, want)
	}
	if len(names) > maxSummaryProperties {
		return fmt.Errorf("%d properties", len(names))
	}
	for i, name := range names {
		cut, err := checkProperty(declared[name], properties[i])
		if err != nil {
			return fmt.Errorf("property %q: %w", name, err)
		}
		left = left || cut
	}
	// A property that was dropped for its size may have been cut before, but
	// then it is left out as well.
	if (s.Truncated != nil) != left || s.Truncated != nil && !*s.Truncated {
		return fmt.Errorf("left out: %v, but truncated is %v", left, s.Truncated)
	}
	return nil
}

// members returns the names of a JSON object in order, and their values.
func members(object []byte) (names []string, values []map[string]any, err error) {
	dec := json.NewDecoder(strings.NewReader(string(object)))
	dec.UseNumber()
	for _, err = dec.Token(); err == nil && dec.More(); {
		name, _ := dec.Token()
		var v map[string]any
		err = dec.Decode(&v)
		names, values = append(names, name.(string)), append(values, v)
	}
	return names, values, err
}

func wantRequired(root map[string]any) []string {
	list, _ := root["required"].([]any)
	want := []string{}
	for _, item := range list {
		if name, ok := item.(string); ok && !slices.Contains(want, name) {
			want = append(want, name)
		}
	}
	return want
}

func wantOrder(required []string, declared map[string]any) []string {
	var first, rest []string
	for _, name := range required {
		if _, ok := declared[name]; ok {
			first = append(first, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(declared)) {
		if !slices.Contains(first, name) {
			rest = append(rest, name)
		}
	}
	return append(first, rest...)
}

// checkProperty compares a property's summary with its schema, and reports
// whether something was left out.
func checkProperty(schema any, got map[string]any) (cut bool, err error) {
	s, _ := schema.(map[string]any)
	text, _ := s["description"].(string)
	if n := utf8.RuneCountInString(text); n > maxSummaryDescription {
		text, cut = string([]rune(text)[:maxSummaryDescription]), true
	}
	if shown, _ := got["description"].(string); shown != text {
		return cut, fmt.Errorf("description %q, want %q", shown, text)
	}
	values, _ := s["enum"].([]any)
	if len(values) > maxSummaryEnum {
		values, cut = values[:maxSummaryEnum], true
	}
	shown, _ := got["enum"].([]any)
	if a, b := appendCanonical(nil, shown), appendCanonical(nil, values); string(a) != string(b) {
		return cut, fmt.Errorf("enum %s, want %s", a, b)
	}
	for _, name := range strings.Split(got["type"].(string), "|") {
		name = strings.TrimSuffix(strings.TrimPrefix(name, "array<"), ">")
		if !primitive(name) && name != "any" && name != "object" && name != "array" {
			return cut, fmt.Errorf("type %q", got["type"])
		}
	}
	return cut, nil
}

func TestSummaryOfOddSchemas(t *testing.T) {
	tests := []struct{ schema, want string }{
		{``, ``},
		{` null`, ``},
		{`{`, `{"required":[],"properties":{}}`},
		{`7`, `{"required":[],"properties":{}}`},
		{`{"properties":[],"required":{}}`, `{"required":[],"properties":{}}`},
		{nest(2_500, `{"properties":{"a":`, `{}`, `}}`), `{"required":[],"properties":{"a":{"type":"any"}}}`},
		{nest(9_000, `{"properties":{"a":`, `{}`, `}}`), `{"required":[],"properties":{},"truncated":true}`},
		{`{"properties":{"a":{"enum":["` + strings.Repeat("x", 2000) + `"]}},"required":["a"]}`, `{"required":["a"],"properties":{},"truncated":true}`},
		{`{"required":["` + strings.Repeat("x", 2000) + `","b"]}`, `{"required":[],"properties":{},"truncated":true}`},
	}
	for _, tt := range tests {
		if got := string(Summary([]byte(tt.schema))); got != tt.want {
			t.Errorf("Summary(%.40q) = %s, want %s", tt.schema, got, tt.want)
		}
	}
}
