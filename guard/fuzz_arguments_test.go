package guard

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzArguments shows the call of a tool with any schema and any arguments to the
// guard in each carrier: the verdict is the one of the schema itself whatever
// carried it, a refusal is bounded, and nothing panics.
func FuzzArguments(f *testing.F) {
	for _, tt := range verdictCases {
		f.Add(`{"type":"object","required":["path"],"properties":{"path":{"type":"string"},"mode":{"enum":["new"]}},"additionalProperties":false}`, tt.arguments)
	}
	for _, schema := range []string{`{}`, `true`, `null`, `{"$ref":"#"}`, `{"properties":[]}`, `{"anyOf":[{"required":["a"]},{"required":["b"]}]}`, `{"type":"array"}`} {
		f.Add(schema, `{"a":[1,{"b":null}]}`)
		f.Add(schema, ``)
	}
	f.Fuzz(func(t *testing.T, schema, arguments string) {
		if !valid([]byte(schema)) || !utf8.ValidString(arguments) {
			return
		}
		tools := `[{"type":"function","name":"read_file","parameters":` + schema + `}]`
		store := NewTools(0)
		r, err := store.ReadRequest([]byte(body(tools)))
		if err != nil {
			return // duplicate keys do not come this far
		}
		want := "passed"
		if schemas := r.Catalog.schemasOf(identity{"", "read_file"}); len(schemas) > 0 {
			switch store.judge.Judge(schemas[0].raw, []byte(arguments)).Outcome.String() {
			case "missing":
				want = MissingRequiredArguments
			case "invalid":
				want = InvalidToolArguments
			}
		}
		for name, carry := range completeCarriers() {
			if arguments == "" && strings.HasPrefix(name, "arguments.done") {
				continue // nothing has ended
			}
			g, _ := judging(t, Options{}, tools)
			refusal := carry(g, arguments)
			if reasonOf(refusal) != want {
				t.Fatalf("%s: %s, want %s", name, reasonOf(refusal), want)
			}
			if refusal == nil {
				continue
			}
			b, err := json.Marshal(refusal)
			if err != nil {
				t.Fatal(err)
			}
			if len(refusal.Missing) > 32 || len(refusal.Problems) > 8 || len(refusal.InputSummary) > 1_536 || len(b) > 64<<10 ||
				utf8.RuneCountInString(refusal.Message()) > 4_096 {
				t.Fatalf("%s: the refusal is too large: %s\n%s", name, refusal.Message(), b)
			}
		}
	})
}
