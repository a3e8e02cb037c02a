package guard

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Where a function's schema is found, and which one counts.
func TestA1SchemasOfDeclarations(t *testing.T) {
	const (
		needsA = `{"type":"object","required":["a"]}`
		needsB = `{"type":"object","required":["b"]}`
	)
	function := func(name, schema string) string {
		return `{"type":"function","name":"` + name + `","parameters":` + schema + `}`
	}
	in := func(ns, call string) string { return strings.Replace(call, "{", `{"namespace":"`+ns+`",`, 1) }
	a, b := done(fc("f", `{"a":1}`)), done(fc("f", `{"b":1}`))
	flat := func(arguments string) string { return done(fc("crm__f", arguments)) }
	input := func(items string) []string { return []string{`"input":[` + items + `]`} }
	for name, tt := range map[string]struct {
		tools   string
		members []string
		good    string // must pass
		bad     string // must be refused, "" if nothing is
	}{
		"chat form":      {`[{"type":"function","function":{"name":"f","parameters":` + needsA + `}}]`, nil, a, b},
		"both forms":     {`[{"type":"function","name":"f","parameters":` + needsA + `,"function":{"name":"f","parameters":` + needsB + `}}]`, nil, b, done(fc("f", `{}`))},
		"namespace":      {`[{"type":"namespace","name":"crm","tools":[` + function("f", needsA) + `]}]`, nil, done(in("crm", fc("f", `{"a":1}`))), done(in("crm", fc("f", `{"b":1}`)))},
		"flattened name": {`[{"type":"namespace","name":"crm","tools":[` + function("f", needsA) + `]}]`, nil, flat(`{"a":1}`), flat(`{"b":1}`)},
		"the namespace functions": {`[{"type":"namespace","name":"functions","tools":[` + function("f", needsA) + `]}]`, nil, a,
			done(in("functions", fc("f", `{"b":1}`)))},
		"same name in two namespaces": {`[` + function("f", needsB) + `,{"type":"namespace","name":"crm","tools":[` + function("f", needsA) + `]}]`, nil, b,
			done(in("crm", fc("f", `{"b":1}`)))},
		"twice, the first one's":  {`[` + function("f", needsA) + `,` + function("f", needsB) + `]`, nil, a, done(fc("f", `{}`))},
		"twice, the second one's": {`[` + function("f", needsA) + `,` + function("f", needsB) + `]`, nil, b, done(fc("f", `{"c":1}`))},
		"twice, in input, too":    {`[` + function("f", needsA) + `]`, input(`{"type":"additional_tools","tools":[` + function("f", needsB) + `]}`), b, done(fc("f", `{}`))},
		"additional_tools":        {`null`, input(`{"type":"additional_tools","tools":[` + function("f", needsA) + `]}`), a, b},
		"loaded by tool_search": {`[{"type":"tool_search","execution":"client"}]`,
			input(`{"type":"tool_search_output","call_id":"c","tools":[` + function("f", needsA) + `]}`), a, b},
		"as function and custom":      {`[` + function("f", needsA) + `,{"type":"custom","name":"f"}]`, nil, a, b},
		"as custom only":              {`[{"type":"custom","name":"f","parameters":` + needsA + `}]`, nil, b, ""},
		"of a type nobody knows":      {`[{"type":"odd","name":"f","parameters":` + needsA + `}]`, nil, b, ""},
		"a custom call of a function": {`[` + function("f", needsA) + `]`, nil, done(`{"type":"custom_tool_call","call_id":"c","name":"f","input":"not JSON"}`), ""},
		"allowed_tools chooses others": {`[` + function("f", needsA) + `,` + function("g", needsA) + `]`,
			[]string{`"tool_choice":{"type":"allowed_tools","mode":"auto","tools":[{"type":"function","name":"g"}]}`}, a, b},
		"strict or not": {`[{"type":"function","name":"f","strict":false,"parameters":` + needsA + `}]`, nil, a, b},
	} {
		t.Run(name, func(t *testing.T) {
			g, _ := judging(t, Options{}, tt.tools, tt.members...)
			if r := show(g, tt.good); r != nil {
				t.Errorf("%s\n%s", tt.good, r.Message())
			}
			if tt.bad == "" {
				return
			}
			// The end of the arguments and the item must not differ.
			if r := show(g, tt.bad); reasonOf(r) != MissingRequiredArguments || r.SchemaHash == nil || r.InputSummary == nil {
				t.Errorf("%s\n%s", tt.bad, reasonOf(r))
			}
		})
	}
}

// A function that the upstream's own search for tools brings is judged by the
// schema that it came with.
func TestA1SchemasOfTheOutput(t *testing.T) {
	found := done(`{"type":"tool_search_output","id":"x","tools":[{"type":"function","name":"f","parameters":{"required":["a"]}}]}`)
	for _, tools := range []string{`[{"type":"tool_search"}]`, `[{"type":"tool_search","execution":"client"}]`} {
		g, _ := judging(t, Options{}, tools)
		if r := show(g, found, done(fc("f", `{"a":1}`)), done(fcAs("2", "f", `{"b":1}`))); reasonOf(r) != MissingRequiredArguments {
			t.Errorf("%s: %s", tools, reasonOf(r))
		}
	}
}

// A5: what cannot be judged passes and is counted, once a call.
func TestA5Unjudged(t *testing.T) {
	const item = `{"path":7}`
	for schema, want := range map[string]string{
		"":                          "no_schema",
		`"parameters":null`:         "no_schema",
		`"parameters":{"$ref":"#"}`: "schema_rejected",
		`"parameters":"path"`:       "schema_rejected",
		`"parameters":{"type":"x"}`: "schema_rejected",
		`"parameters":{"enum":["` + strings.Repeat("x", 64<<10) + `"]}`: "too_large",
	} {
		tools := `[{"type":"function","name":"read_file",` + schema + `}]`
		tools = strings.Replace(tools, ",}", "}", 1)
		g, h := judging(t, Options{}, tools)
		r := show(g, announcement(0, fc("read_file", "")), ended(0, item), done(fc("read_file", item)), done(fcAs("2", "read_file", item)),
			typed("response.completed", `"response":{"output":[`+fc("read_file", item)+`,`+fcAs("2", "read_file", item)+`]}`))
		if r != nil {
			t.Errorf("%.60s: %s", schema, r.Message())
		}
		if diff := cmp.Diff([]string{want, want}, h.unjudged); diff != "" {
			t.Errorf("%.60s: told (-want +got):\n%s", schema, diff)
		}
	}
	// With arguments off nothing is looked at, so nothing is missed either.
	g, h := judging(t, Options{Arguments: Off}, `[{"type":"function","name":"read_file"}]`)
	if r := show(g, done(fc("read_file", item))); r != nil || h.unjudged != nil {
		t.Errorf("%s, told %v", reasonOf(r), h.unjudged)
	}
}

// A8: a schema is compiled when a call needs it, and not before.
func TestA8NothingIsCompiledForTurnsWithoutCalls(t *testing.T) {
	store := NewTools(0)
	g := New(requestWith(t, store, body(needsPath)).Catalog, Options{Tools: store})
	if r := show(g, typed("response.created", `"response":{"output":[]}`), typed("response.output_text.delta", `"delta":"x"`),
		typed("response.completed", `"response":{"output":[{"type":"message"}]}`)); r != nil {
		t.Fatal(r.Message())
	}
	if n := store.judge.Len(); n != 0 {
		t.Errorf("%d schemas compiled", n)
	}
	for range 3 {
		g := New(requestWith(t, store, body(needsPath)).Catalog, Options{Tools: store})
		if r := show(g, done(fc("read_file", `{"path":"a"}`))); r != nil {
			t.Fatal(r.Message())
		}
	}
	if n := store.judge.Len(); n != 1 {
		t.Errorf("%d schemas compiled, want 1", n)
	}
}
