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
	for seed := range uint64(600) {
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
	if truncated < 50 || truncated > 550 {
		t.Errorf("%d of 600 were truncated: the random schemas are no test", truncated)
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

// TestHashProperties checks that the order of keys and white space never change
// a hash, and that every other change does.
func TestHashProperties(t *testing.T) {
	for seed := range uint64(400) {
		r := newRandom(seed)
		text := `{"x":` + r.tool() + `}` // never null, which has no hash
		hash := Hash([]byte(text))
		if len(hash) != 12 || strings.Trim(hash, "0123456789abcdef") != "" {
			t.Fatalf("seed %d: hash %q", seed, hash)
		}
		if same := Hash([]byte(shuffled(r.Rand, read(t, text)))); same != hash {
			t.Fatalf("seed %d: hash %s, in another order %s, of %s", seed, hash, same, text)
		}
		changed := appendCanonical(nil, r.change(read(t, text)))
		if other := Hash(changed); other == hash || other == "" {
			t.Fatalf("seed %d: hash %s of both %s and %s", seed, hash, text, changed)
		}
	}
}

// change returns v with one thing in it changed.
func (r random) change(v any) any {
	switch v := v.(type) {
	case map[string]any:
		if len(v) == 0 || r.IntN(6) == 0 {
			v["new"+fmt.Sprint(len(v))] = nil
			return v
		}
		name := slices.Sorted(maps.Keys(v))[r.IntN(len(v))]
		switch r.IntN(6) {
		case 0:
			delete(v, name)
		case 1:
			v[name+"'"] = v[name]
			delete(v, name)
		default:
			v[name] = r.change(v[name])
		}
		return v
	case []any:
		if len(v) == 0 || r.IntN(6) == 0 {
			return append(v, nil)
		}
		i := r.IntN(len(v))
		v[i] = r.change(v[i])
		return v
	case json.Number:
		if strings.ContainsAny(string(v), ".e") {
			return json.Number("3")
		}
		return v + ".0" // the same number, but another literal
	case string:
		return v + "'"
	case bool:
		return !v
	}
	return false
}

func TestHashCanonicalForm(t *testing.T) {
	same := [][2]string{
		{`{"a":1,"b":[2,{"d":4,"c":3}]}`, "\n{ \"b\" : [ 2 , {\"c\":3,\"d\":4} ],\t\"a\":1 }"},
		{`{"é<&>\n":"\u00e9"}`, `{"\u00e9\u003c\u0026\u003e\u000A":"é"}`},
		{`{"a":"\ud83d"}`, `{"a":"�"}`},
		{`{"a":1,"a":2}`, `{"a":2}`},
	}
	for _, pair := range same {
		if a, b := Hash([]byte(pair[0])), Hash([]byte(pair[1])); a != b || a == "" {
			t.Errorf("%s has %s, %s has %s", pair[0], a, pair[1], b)
		}
	}
	different := []string{`{"a":1}`, `{"a":1.0}`, `{"a":10e-1}`, `{"a":"1"}`, `{"a":[1]}`, `{"a":{"1":null}}`, `{"A":1}`, `{}`, `[]`, `true`, `{"a":[1,2]}`, `{"a":[2,1]}`}
	seen := map[string]string{}
	for _, text := range different {
		hash := Hash([]byte(text))
		if other, ok := seen[hash]; ok {
			t.Errorf("%s and %s share %s", text, other, hash)
		}
		seen[hash] = text
	}
	for _, text := range []string{``, ` `, `null`, `{`, `{}{}`, nest(9_000, "[", "", "]")} {
		if hash := Hash([]byte(text)); hash != "" {
			t.Errorf("hash %s of %.20q", hash, text)
		}
	}
	// Keys are ordered by bytes: U+FF61 before U+1F600, unlike in UTF-16.
	if got := string(appendCanonical(nil, read(t, `{"😀":1,"｡":2}`))); got != `{"｡":2,"😀":1}` {
		t.Errorf("got %s", got)
	}
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
