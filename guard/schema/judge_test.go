package schema

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// readFile is a tool as the cases have it: one required property.
const readFile = `{
	"type": "object",
	"properties": {
		"path":  {"type": "string", "minLength": 1},
		"limit": {"type": "integer", "minimum": 1},
		"mode":  {"enum": ["text", "binary"]},
		"tags":  {"type": "array", "items": {"type": "string"}, "uniqueItems": true},
		"data":  {"type": "string", "contentEncoding": "base64"},
		"where": {"type": "object", "properties": {"line": {"type": "integer"}}, "required": ["line"]}
	},
	"required": ["path"],
	"additionalProperties": false
}`

func accepted() Verdict { return Verdict{Outcome: Accepted} }

func missing(names ...string) Verdict { return Verdict{Outcome: Missing, Missing: names} }

func TestJudgeArguments(t *testing.T) {
	tests := []struct {
		name, schema, args string
		want               Verdict
	}{
		// K-E11, K-F0
		{"empty object", readFile, `{}`, missing("path")},
		{"empty object in white space", readFile, " {\n} ", missing("path")},
		{"approval without title", `{"type":"object","required":["title","price"]}`, `{}`, missing("price", "title")},
		// K-E12
		{"number", readFile, `12`, invalid("", "must be an object, not number")},
		{"array", readFile, `[]`, invalid("", "must be an object, not array")},
		{"array by position", readFile, `["a.txt"]`, invalid("", "must be an object, not array")},
		{"null", readFile, `null`, invalid("", "must be an object, not null")},
		{"string", readFile, `"a.txt"`, invalid("", "must be an object, not string")},
		{"nothing", readFile, ``, missing("path")},
		{"nothing, nothing required", `{"type":"object"}`, ``, accepted()},
		{"empty, nothing required", `{"type":"object"}`, `{}`, accepted()},
		{"blank", readFile, " \n", invalid("", "must be a JSON object, not blank")},
		{"blank, nothing required", `{"type":"object"}`, " ", invalid("", "must be a JSON object, not blank")},
		{"null, nothing required", `{"type":"object"}`, "null", invalid("", "must be an object, not null")},
		{"array, any schema", `{}`, "[]", invalid("", "must be an object, not array")},
		// JSON
		{"good", readFile, `{"path":"a.txt","limit":3,"mode":"text","tags":["x","y"],"data":"aGk=","where":{"line":1}}`, accepted()},
		{"truncated", readFile, `{"path":"a.t`, invalid("", "is cut off: the JSON text ends too early")},
		{"truncated after comma", readFile, `{"path":"a.txt",`, invalid("", "is cut off: the JSON text ends too early")},
		{"trailing comma", readFile, `{"path":"a.txt",}`, invalid("", "is not valid JSON")},
		{"single quotes", readFile, `{'path':'a.txt'}`, invalid("", "is not valid JSON")},
		{"byte order mark", readFile, "\ufeff" + `{"path":"a.txt"}`, invalid("", "is not valid JSON")},
		{"two objects", readFile, `{"path":"a.txt"}{"path":"b.txt"}`, invalid("", "must be one JSON object and nothing after it")},
		{"lone surrogate", readFile, `{"path":"\ud83d"}`, accepted()},
		{"invalid UTF-8", readFile, "{\"path\":\"\xff\"}", accepted()},
		{"duplicate key", readFile, `{"path":"a","path":"b"}`,
			invalid("/path", `is a second value for the key "path"`)},
		{"duplicate key behind an escape", readFile, `{"path":"a","p\u0061th":"b"}`,
			invalid("/path", `is a second value for the key "path"`)},
		{"duplicate key, deep", `{}`, `{"a":[{"b":1,"b":1}]}`,
			invalid("/a/0/b", `is a second value for the key "b"`)},
		// Kinds of error
		{"wrong type", readFile, `{"path":7}`, invalid("/path", "must be string, not number")},
		{"too short", readFile, `{"path":""}`, invalid("/path", "must have at least 1 character")},
		{"enum", readFile, `{"path":"a","mode":"secret"}`, invalid("/mode", `must be one of "text", "binary"`)},
		{"extra property", readFile, `{"path":"a","file":"secret"}`,
			invalid("", `has a property "file", which is not declared`)},
		{"fraction", readFile, `{"path":"a","limit":1.5}`, invalid("/limit", "must be integer, not number")},
		{"too small", readFile, `{"path":"a","limit":0}`, invalid("/limit", "must be at least 1")},
		{"not unique", readFile, `{"path":"a","tags":["x","x"]}`,
			invalid("/tags", "must not have equal items, as at 0 and 1")},
		{"base64", readFile, `{"path":"a","data":"not base64!"}`, invalid("/data", "must be encoded as base64")},
		{"nested required", readFile, `{"path":"a","where":{}}`,
			invalid("/where", `lacks the required property "line"`)},
		{"missing and wrong at once", readFile, `{"limit":"many"}`, Verdict{Outcome: Missing,
			Missing: []string{"path"}, Problems: []Problem{{"/limit", "must be integer, not string"}}}},
		{"empty, one of two required", `{"anyOf":[{"required":["a"]},{"required":["b"]}]}`, `{}`, Verdict{
			Outcome: Missing, Problems: []Problem{{"", "has none of the forms of anyOf"}}}},
		{"escaped pointer", `{"properties":{"a/b~c":{"type":"null"}}}`, `{"a/b~c":1}`,
			invalid("/a~1b~0c", "must be null, not number")},
	}
	var c Cache
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, c.Judge([]byte(tt.schema), []byte(tt.args))); diff != "" {
				t.Errorf("Judge(%s), want -, got +:\n%s", tt.args, diff)
			}
		})
	}
}

// TestJudgeProperty judges {"v": VALUE} by a schema for v alone.
func TestJudgeProperty(t *testing.T) {
	const ok = ""
	tests := []struct{ schema, value, want string }{
		// K-E19
		{`{"$ref":"#/$defs/t"}`, `"x"`, ok},
		{`{"$ref":"#/$defs/t"}`, `1`, "must be string, not number"},
		{`{"$ref":"#/$defs/t","maxLength":1}`, `"xy"`, "must have at most 1 character"},
		{`{"$ref":"https://example.com/tool.json#/$defs/t"}`, `1`, "must be string, not number"},
		{`{"anyOf":[{"type":"string"},{"type":"integer"}]}`, `1`, ok},
		{`{"anyOf":[{"type":"string"},{"type":"integer"}]}`, `[]`, "must be integer or string"},
		{`{"anyOf":[{"type":"string","maxLength":2},{"type":"null"}]}`, `"abc"`, "must have at most 2 characters"},
		{`{"anyOf":[{"maxLength":2},{"pattern":"^a"}]}`, `"bcd"`, "has none of the forms of anyOf"},
		{`{"oneOf":[{"type":"string"},{"maxLength":3}]}`, `"ab"`, "matches more than one of the forms of oneOf"},
		{`{"type":"integer","default":5}`, `5`, ok},
		{`{"type":"integer","default":"odd"}`, `5`, ok},
		{`{"type":"integer"}`, `1.0`, ok},
		{`{"type":"integer"}`, `1e3`, ok},
		{`{"type":"integer"}`, `12345678901234567890`, ok},
		{`{"type":"integer"}`, `-123456789012345678901234567890`, ok},
		{`{"type":"integer"}`, strings.Repeat("9", maxNumber), ok},
		{`{"type":"integer"}`, `12345678901234567890.5`, "must be integer, not number"},
		{`{"const":12345678901234567890}`, `12345678901234567891`, "must be 12345678901234567890"},
		{`{"maximum":12345678901234567890}`, `12345678901234567891`, "must be at most 12345678901234567890"},
		// nullable
		{`{"type":"string","nullable":true}`, `null`, ok},
		{`{"type":"string","nullable":true}`, `1`, "must be null or string, not number"},
		{`{"type":"string","nullable":false}`, `null`, "must be string, not null"},
		{`{"type":["string","integer"],"nullable":true}`, `null`, ok},
		{`{"type":"string","enum":["a"],"nullable":true}`, `null`, ok},
		{`{"enum":["a",null],"nullable":true}`, `null`, ok},
		{`{"const":"a","nullable":true}`, `null`, ok},
		{`{"$ref":"#/$defs/t","nullable":true}`, `null`, ok},
		{`{"$ref":"#/$defs/t","nullable":true}`, `1`, "must be null or string"},
		{`{"oneOf":[{"type":"string"},{"type":"null"}],"nullable":true}`, `null`, ok},
		{`{"allOf":[{"type":"string"}],"nullable":true}`, `null`, ok},
		{`{"type":"array","items":{"type":"string","nullable":true}}`, `[null,"a"]`, ok},
		// the other keywords
		{`false`, `1`, "is not allowed"},
		{`true`, `1`, ok},
		{`{"not":{"type":"string"}}`, `"a"`, "has a form that is not allowed"},
		{`{"pattern":"^a+$"}`, `"b"`, `must match the pattern "^a+$"`},
		{`{"format":"email"}`, `"no mail"`, ok},
		{`{"contentEncoding":"base64","contentMediaType":"application/json"}`, `"aGk="`, ok},
		{`{"contentEncoding":"quoted-printable"}`, `"=="`, ok},
		{`{"exclusiveMinimum":1}`, `1`, "must be greater than 1"},
		{`{"exclusiveMaximum":0.5}`, `0.5`, "must be less than 0.5"},
		{`{"multipleOf":5}`, `7`, "must be a multiple of 5"},
		{`{"minItems":1}`, `[]`, "must have at least 1 item"},
		{`{"maxItems":1}`, `[1,2]`, "must have at most 1 item"},
		{`{"prefixItems":[{}],"items":false}`, `[1,2]`, "is not allowed"},
		{`{"contains":{"type":"string"}}`, `[1]`, "has too few items of the form that it must contain"},
		{`{"contains":{},"maxContains":1}`, `[1,2]`, "has too many items of the form that it must contain"},
		{`{"minProperties":1}`, `{}`, "must have at least 1 property"},
		{`{"maxProperties":0}`, `{"a":1}`, "must have at most 0 properties"},
		{`{"propertyNames":{"maxLength":1}}`, `{"ab":1}`, `has a property "ab", whose name is not allowed`},
		{`{"dependentRequired":{"a":["b"]}}`, `{"a":1}`, `lacks "b", required beside "a"`},
		{`{"dependencies":{"a":["b"]}}`, `{"a":1}`, `lacks "b", required beside "a"`},
		{`{"dependentSchemas":{"a":{"required":["b"]}}}`, `{"a":1}`, `lacks the required property "b"`},
		{`{"patternProperties":{"^x":{"type":"string"}}}`, `{"x1":1}`, "must be string, not number"},
		{`{"properties":{"a":{}},"unevaluatedProperties":false}`, `{"b":1}`, "is not allowed"},
		{`{"if":{"type":"string"},"then":{"minLength":2},"else":{"minimum":2}}`, `1`, "must be at least 2"},
		{`{"const":{"a":1}}`, `1`, "must be an object"},
		{`{"enum":[1,2,3,4,5,6,7,8,9]}`, `0`, "must be one of 1, 2, 3, 4, 5, 6, 7, 8, …"},
		// a tagged union says what is wrong with the form that was meant
		{`{"oneOf":[{"properties":{"k":{"const":"a"},"n":{"type":"string"}}},{"properties":{"k":{"const":"b"}}}]}`,
			`{"k":"a","n":1}`, "must be string, not number"},
		{`{"anyOf":[{"anyOf":[{"type":"null"},{"required":["x"]}]},{"type":"string"}]}`, `{}`,
			`lacks the required property "x"`},
	}
	var c Cache
	for _, tt := range tests {
		schema := `{"$id":"https://example.com/tool.json","$defs":{"t":{"type":"string"}},"properties":{"v":` + tt.schema + `}}`
		v := c.Judge([]byte(schema), []byte(`{"v":`+tt.value+`}`))
		got := v.Detail
		if v.Outcome == Invalid {
			got = v.Problems[0].Message
		}
		if got != tt.want || len(v.Problems) > 1 {
			t.Errorf("%s by %s: got %+v, want %q", tt.value, tt.schema, v, tt.want)
		}
	}
}

func TestJudgeDialects(t *testing.T) {
	tests := []struct {
		schema, args string
		want         Outcome
	}{
		{`{"$schema":"http://json-schema.org/draft-04/schema#","properties":{"n":{"minimum":1,"exclusiveMinimum":true}}}`, `{"n":1}`, Invalid},
		{`{"$schema":"http://json-schema.org/draft-07/schema#","properties":{"n":{"items":[{"type":"null"}]}}}`, `{"n":[1]}`, Invalid},
		{`{"$schema":"http://json-schema.org/draft-07/schema#","properties":{"n":{"$ref":"#/definitions/x"}},"definitions":{"x":{"type":"null"}}}`, `{"n":1}`, Invalid},
		{`{"$schema":"http://json-schema.org/draft-07/schema#","properties":{"n":{"format":"email"}}}`, `{"n":"x"}`, Accepted},
		{`{"$schema":"https://json-schema.org/draft/2019-09/schema","dependentRequired":{"n":["m"]}}`, `{"n":1}`, Invalid},
		{`{"$schema":"https://json-schema.org/draft/2020-12/schema","properties":{"n":{"prefixItems":[{"type":"null"}]}}}`, `{"n":[1]}`, Invalid},
		{`{"$schema":"https://example.com/my-dialect","properties":{"n":{"prefixItems":[{"type":"null"}]}}}`, `{"n":[1]}`, Invalid},
		{`{"$schema":7,"properties":{"n":{"type":"null"}}}`, `{"n":1}`, Invalid},
		{`{"properties":{"n":{"$schema":"https://example.com/other","$id":"#/properties/n","type":"null"}}}`, `{"n":1}`, Invalid},
	}
	var c Cache
	for _, tt := range tests {
		if got := c.Judge([]byte(tt.schema), []byte(tt.args)); got.Outcome != tt.want {
			t.Errorf("%s by %s: got %+v, want %v", tt.args, tt.schema, got, tt.want)
		}
	}
}

// TestVerdictBounds checks that whatever a caller makes up is cut and cleaned
// before it is shown.
func TestVerdictBounds(t *testing.T) {
	var names []string
	for r := 'a'; r < 'a'+26; r++ {
		names = append(names, string(r), string(r)+"\u202e\x1b["+strings.Repeat("x", 200))
	}
	required, _ := json.Marshal(names)
	schema := `{"required":` + string(required) + `,"additionalProperties":false,"patternProperties":{"^p":{"additionalProperties":{"type":"null"}}}}`
	args := `{"p` + strings.Repeat("p", 400) + `":{"\u001b[2J` + strings.Repeat("q", 400) + `":1}`
	for i := range 20 {
		args += `,"` + string(rune('A'+i)) + strings.Repeat("\\n", 150) + `":1,"` + string(rune('A'+i)) + strings.Repeat("é", 90) + `":1`
	}
	v := NewCache(0).Judge([]byte(schema), []byte(args+"}"))
	if v.Outcome != Missing || len(v.Missing) != maxMissing || len(v.Problems) != maxProblems {
		t.Fatalf("got %d missing and %d problems in %+v", len(v.Missing), len(v.Problems), v)
	}
	texts := slices.Clone(v.Missing)
	for _, p := range v.Problems {
		texts = append(texts, p.Pointer, p.Message)
	}
	for _, text := range texts {
		if n := len([]rune(text)); n > maxShownPath {
			t.Errorf("%d code points in %q", n, text)
		}
		if strings.ContainsAny(text, "\n\x1b\u202e") {
			t.Errorf("control characters in %q", text)
		}
	}
	if !slices.IsSorted(v.Missing) {
		t.Errorf("missing is not sorted: %q", v.Missing)
	}
}
