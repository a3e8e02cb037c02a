package schema

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

// repeat joins n strings made from their index by commas.
func repeat(n int, f func(i int) string) string {
	parts := make([]string, n)
	for i := range parts {
		parts[i] = f(i)
	}
	return strings.Join(parts, ",")
}

func nest(n int, before, inner, after string) string {
	return strings.Repeat(before, n) + inner + strings.Repeat(after, n)
}

// TestHostileSchemas feeds what made the library run for many seconds, crash or
// fetch, and what presses against each limit. The test ending is the point: no
// clock is read. A schema that is rejected must say why; one that is judged
// costs no more than maxWork.
func TestHostileSchemas(t *testing.T) {
	doubling := func(n int, keyword string) string {
		return `{"$ref":"#/$defs/d0","$defs":{` + repeat(n, func(i int) string {
			ref := fmt.Sprintf(`{"$ref":"#/$defs/d%d"}`, i+1)
			return fmt.Sprintf(`"d%d":{%q:[%s,%s]}`, i, keyword, ref, ref)
		}) + fmt.Sprintf(`,"d%d":{"type":"object"}}}`, n)
	}
	tests := []struct {
		name, schema string
		want         Reason
	}{
		{"nothing", ``, NoSchema},
		{"blank", "\n", NoSchema},
		{"null", ` null `, NoSchema},
		{"not JSON", `{`, SchemaRejected},
		{"not a schema", `7`, SchemaRejected},
		{"a string", `"object"`, SchemaRejected},
		{"a list", `[]`, SchemaRejected},
		{"duplicate key", `{"type":"object","type":"array"}`, SchemaRejected},
		// circles
		{"refers to itself", `{"$ref":"#"}`, SchemaRejected},
		{"refers to itself by an empty reference", `{"$ref":""}`, SchemaRejected},
		{"refers to itself by its identifier", `{"$id":"https://example.com/a","allOf":[{"$ref":"https://example.com/a#"}]}`, SchemaRejected},
		{"tree", `{"properties":{"kids":{"items":{"$ref":"#"}}}}`, SchemaRejected},
		{"two in a circle", `{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}}}`, SchemaRejected},
		{"refers to what is around it", `{"properties":{"a":{"properties":{"b":{"$ref":"#/properties/a"}}}}}`, SchemaRejected},
		{"dynamic reference", `{"$dynamicAnchor":"a","properties":{"a":{"$dynamicRef":"#a"}}}`, SchemaRejected},
		{"recursive reference", `{"$recursiveAnchor":true,"properties":{"a":{"$recursiveRef":"#"}}}`, SchemaRejected},
		// multiplication
		{"doubling references", doubling(40, "allOf"), SchemaRejected},
		{"doubling alternatives", doubling(40, "anyOf"), SchemaRejected},
		{"doubling within the limit", doubling(11, "oneOf"), ""},
		{"tripling in alternatives", nest(12, `{"anyOf":[{"type":"null"},{"type":"string"},`, `{"type":"object"}`, `]}`), ""},
		{"long chain", `{"$ref":"#/$defs/d0","$defs":{` + repeat(900, func(i int) string {
			return fmt.Sprintf(`"d%d":{"$ref":"#/$defs/d%d"}`, i, i+1)
		}) + `,"d900":{"type":"object"}}}`, ""},
		// size
		{"depth 5,000", nest(5000, `{"properties":{"a":`, `{}`, `}}`), TooLarge},
		{"depth 5,000 of lists", `{"default":` + nest(5000, `[`, ``, `]`) + `}`, TooLarge},
		{"depth 1,000,000", nest(1_000_000, `[`, ``, ``), TooLarge},
		{"1 MB", `{"description":"` + strings.Repeat("x", 1_000_000) + `"}`, TooLarge},
		{"100,000 properties", `{"properties":{` + repeat(100_000, func(i int) string { return fmt.Sprintf(`"p%d":{}`, i) }) + `}}`, TooLarge},
		{"3,000 properties", `{"properties":{` + repeat(3000, func(i int) string { return fmt.Sprintf(`"p%d":{}`, i) }) + `}}`, TooLarge},
		{"1,900 properties", `{"properties":{` + repeat(1900, func(i int) string { return fmt.Sprintf(`"p%04d":{"type":"null"}`, i) }) + `}}`, ""},
		{"long pointers", `{"properties":{"` + strings.Repeat("k", 20_000) + `":{"properties":{` + repeat(1500, func(i int) string { return fmt.Sprintf(`"p%04d":{"type":"null"}`, i) }) + `}}}}`, TooLarge},
		{"9,000 enum values", `{"enum":[` + repeat(9_000, func(i int) string { return fmt.Sprint(i) }) + `]}`, TooLarge},
		{"long required", `{"required":[` + repeat(9_000, func(i int) string { return fmt.Sprintf(`"%d"`, i) }) + `]}`, ""},
		// numbers
		{"huge exponent", `{"properties":{"a":{"maximum":1e999999999}}}`, TooLarge},
		{"large exponent", `{"properties":{"a":{"multipleOf":1e-1000000}}}`, TooLarge},
		{"multiple of zero", `{"properties":{"a":{"multipleOf":0}}}`, SchemaRejected},
		{"odd lengths", `{"properties":{"a":{"minLength":1e300}}}`, ""},
		// patterns
		{"not a pattern", `{"properties":{"a":{"pattern":"("}}}`, SchemaRejected},
		{"look-ahead", `{"properties":{"a":{"pattern":"^(?!x)"}}}`, SchemaRejected},
		{"catastrophic elsewhere", `{"properties":{"a":{"pattern":"^(a+)+$"}}}`, ""},
		{"repeated repetition", `{"properties":{"a":{"pattern":"((x{100}){100}){100}"}}}`, SchemaRejected},
		{"repeated repetition, optional", `{"properties":{"a":{"pattern":"((a{0,900}){0,900})*"}}}`, SchemaRejected},
		{"long pattern", `{"properties":{"a":{"pattern":"` + strings.Repeat("a", 2000) + `"}}}`, SchemaRejected},
		{"deep pattern", `{"properties":{"a":{"pattern":"` + nest(500, "(", "a", ")") + `"}}}`, ""},
		{"wide classes", `{"properties":{"a":{"pattern":"` + strings.Repeat(`\\pL`, 300) + `"}}}`, SchemaRejected},
		{"many patterns", `{"patternProperties":{` + repeat(500, func(i int) string { return fmt.Sprintf(`"^[a-z]{%d}$":{}`, i+100) }) + `}}`, SchemaRejected},
		{"pattern in an enum", `{"enum":[{"pattern":"("}]}`, ""},
		// elsewhere
		{"remote reference", `{"$ref":"http://127.0.0.1:1/schema"}`, SchemaRejected},
		{"file reference", `{"$ref":"file:///etc/hostname"}`, SchemaRejected},
		{"relative reference", `{"$ref":"other.json"}`, SchemaRejected},
		{"metaschema", `{"$ref":"https://json-schema.org/draft/2020-12/schema"}`, SchemaRejected},
		{"anchor", `{"$ref":"#here","$defs":{"a":{"$anchor":"here"}}}`, SchemaRejected},
		{"reference in an embedded document", `{"properties":{"a":{"$id":"b","$ref":"#/x"}},"x":{}}`, SchemaRejected},
		{"reference into an embedded document", `{"properties":{"a":{"$ref":"#/$defs/b/x"}},"$defs":{"b":{"$id":"c","x":{"$ref":"#/y"}}},"y":{}}`, SchemaRejected},
		{"reference to nothing", `{"$ref":"#/nothing"}`, SchemaRejected},
		{"reference beyond a list", `{"$ref":"#/allOf/7","allOf":[{}]}`, SchemaRejected},
		{"reference through a string", `{"$ref":"#/type/0","type":"object"}`, SchemaRejected},
		{"reference that is no pointer", `{"$ref":"#/%zz"}`, SchemaRejected},
		{"unknown vocabulary", `{"$vocabulary":{"https://example.com/v":true},"$schema":"https://example.com/d"}`, ""},
		// wrong types
		{"properties", `{"properties":[]}`, SchemaRejected},
		{"required", `{"required":true}`, SchemaRejected},
		{"required of lists", `{"required":[["a"],["b"]]}`, SchemaRejected},
		{"type", `{"type":7}`, SchemaRejected},
		{"type of objects", `{"type":[{}]}`, SchemaRejected},
		{"unknown type", `{"type":"str"}`, SchemaRejected},
		{"enum", `{"enum":{}}`, SchemaRejected},
		{"items", `{"items":"string"}`, SchemaRejected},
		{"allOf", `{"allOf":{}}`, SchemaRejected},
		{"reference", `{"$ref":7}`, SchemaRejected},
		{"minimum", `{"minimum":"1"}`, SchemaRejected},
		{"uniqueItems", `{"uniqueItems":1}`, SchemaRejected},
		{"pattern", `{"pattern":1}`, SchemaRejected},
		{"exclusiveMinimum", `{"exclusiveMinimum":true}`, SchemaRejected},
		{"dependentRequired", `{"dependentRequired":{"a":[[]]}}`, SchemaRejected},
		{"annotations", `{"title":[],"description":7,"default":{},"examples":0,"$comment":{},"format":{},"$id":[]}`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var c Cache
			first := c.Judge([]byte(tt.schema), []byte(`{"a":"x"}`))
			if first.Reason != tt.want || strings.HasPrefix(first.Detail, "panic") {
				t.Errorf("got %+v, want reason %q", first, tt.want)
			}
			if again := c.Judge([]byte(tt.schema), []byte(`{"a":"x"}`)); again.Reason != tt.want {
				t.Errorf("from the cache: got %+v, want reason %q", again, tt.want)
			}
			Summary([]byte(tt.schema))
			Hash([]byte(tt.schema))
		})
	}
}

// TestHostileArguments presses arguments against schemas that are harmless
// alone.
func TestHostileArguments(t *testing.T) {
	list := func(n int, f func(i int) string) string { return `{"a":[` + repeat(n, f) + `]}` }
	one := func(int) string { return `1` }
	alternatives := `{"properties":{"a":{"items":{"anyOf":[` +
		repeat(500, func(i int) string { return fmt.Sprintf(`{"const":"%d"}`, i) }) + `]}}}}`
	tests := []struct {
		name, schema, args string
		want               Reason
	}{
		{"few items and many alternatives", alternatives, list(50, one), ""},
		{"many items and many alternatives", alternatives, list(5_000, one), TooLarge},
		{"many items and much to say about each", `{"properties":{"a":{"items":{"enum":["` + strings.Repeat("x", 50_000) + `"]}}}}`, list(40_000, func(int) string { return `true` }), ""},
		{"many items, all wrong", `{"properties":{"a":{"items":{"type":"string"}}}}`, list(20_000, one), ""},
		{"unique items", `{"properties":{"a":{"uniqueItems":true}}}`, list(1_000, func(i int) string { return fmt.Sprintf(`"%d"`, i) }), ""},
		{"too many unique items", `{"properties":{"a":{"uniqueItems":true}}}`, list(10_000, func(i int) string { return fmt.Sprintf(`"%d"`, i) }), TooLarge},
		{"items whose hashes are equal", `{"properties":{"a":{"uniqueItems":true}}}`, list(1_000, func(i int) string {
			return `["` + strings.Repeat(`\u0004`, i) + `","` + strings.Repeat(`\u0004`, 1_000-i) + `"]`
		}), TooLarge},
		{"long text and a pattern", `{"properties":{"a":{"pattern":"^(a|b|c)*d$"}}}`, `{"a":"` + strings.Repeat("abc", 1_000_000) + `"}`, TooLarge},
		{"long text without a pattern", `{"properties":{"a":{"type":"string","minLength":3}}}`, `{"a":"` + strings.Repeat("abc", 1_000_000) + `"}`, ""},
		{"long names and patterns", `{"patternProperties":{"^(a|b|c)*d$":{}}}`, `{"` + strings.Repeat("abc", 1_000_000) + `":1}`, TooLarge},
		{"many evaluated properties", `{"allOf":[` + repeat(300, func(int) string { return `{"properties":{"a":{}}}` }) + `],"unevaluatedProperties":false}`,
			`{` + repeat(10_000, func(i int) string { return fmt.Sprintf(`"p%d":1`, i) }) + `}`, TooLarge},
		{"huge exponent", `{"properties":{"a":{"type":"integer"}}}`, `{"a":1e999999999}`, TooLarge},
		{"huge negative exponent", `{"properties":{"a":{"minimum":1}}}`, `{"a":1e-1000000}`, TooLarge},
		{"huge exponent that nobody reads", `{}`, `{"a":1e-1000000}`, TooLarge},
		{"a number of 1 MB", `{"properties":{"a":{"type":"integer"}}}`, `{"a":` + strings.Repeat("9", 1_000_000) + `}`, TooLarge},
		{"depth", `{}`, nest(1_000, `{"a":`, `1`, `}`), TooLarge},
		{"depth that overflows other readers", `{}`, `{"a":` + strings.Repeat("[", 2_000_000), TooLarge},
		{"values", `{}`, list(60_000, one), TooLarge},
		{"bytes", `{}`, `{"a":"` + strings.Repeat("x", 5<<20) + `"}`, TooLarge},
	}
	var c Cache
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			v := c.Judge([]byte(tt.schema), []byte(tt.args))
			if v.Reason != tt.want || strings.HasPrefix(v.Detail, "panic") {
				t.Errorf("got %+v, want reason %q", v, tt.want)
			}
		})
	}
}

// TestNothingIsFetched offers schemas that would accept the call if they could
// be loaded, from a file and from a server that counts who asks.
func TestNothingIsFetched(t *testing.T) {
	var hits atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		hits.Add(1)
		w.Write([]byte(`{"type":"object"}`))
	}))
	defer server.Close()
	file := filepath.Join(t.TempDir(), "schema.json")
	if err := os.WriteFile(file, []byte(`{"type":"object"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Chdir(filepath.Dir(file))

	places := []string{server.URL, server.URL + "/schema.json#/a", "file://" + file, "file:schema.json", file, "schema.json", "./schema.json#"}
	forms := []struct {
		schema string
		want   Outcome
	}{
		{`{"$ref":%q}`, Unjudged},
		{`{"$id":"https://example.com/","allOf":[{"$ref":%q}]}`, Unjudged},
		{`{"properties":{"a":{"$ref":%q}}}`, Unjudged},
		{`{"properties":{"a":{"$dynamicRef":%q}}}`, Unjudged},
		{`{"properties":{"a":{"$recursiveRef":%q}}}`, Unjudged},
		{`{"$schema":%q,"type":"object"}`, Accepted},
		{`{"$id":%q,"type":"object"}`, Accepted},
		{`{"properties":{"a":{"$id":%q,"$schema":"https://example.com/"}}}`, Accepted},
		{`{"$defs":{"unused":{"$ref":%q}}}`, Accepted},
		{`{"default":{"$ref":%q}}`, Accepted},
		{`{"not":{"const":{"$ref":%q}}}`, Accepted},
	}
	var c Cache
	for _, form := range forms {
		for _, place := range places {
			schema := fmt.Sprintf(form.schema, place)
			if v := c.Judge([]byte(schema), []byte(`{"a":1}`)); v.Outcome != form.want {
				t.Errorf("%s: got %+v, want %v", schema, v, form.want)
			}
		}
	}
	if n := hits.Load(); n != 0 {
		t.Errorf("the server was asked %d times", n)
	}
	// An unreadable loader cannot prove that no file was opened, so the loader
	// that every compilation gets is asked, too.
	if doc, err := (noLoader{}).Load("file://" + file); err == nil {
		t.Errorf("loaded %v", doc)
	}
}
