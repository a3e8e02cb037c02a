package schema

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// FuzzJudge checks of any schema and arguments: no panic, the same verdict
// again, bounds kept, and no value of the arguments repeated.
func FuzzJudge(f *testing.F) {
	f.Add([]byte(readFile), []byte(`{"path":"a secret that nobody may read","mode":"another secret value"}`))
	f.Add([]byte(readFile), []byte(`{"path":1,"path":2`))
	f.Add([]byte(`{"$ref":"#/$defs/a","$defs":{"a":{"nullable":true,"anyOf":[{"$ref":"#/$defs/b"},{"type":"string"}]},"b":{"required":["x"]}}}`), []byte(`{"y":[1e5,null]}`))
	f.Add([]byte(`{"$schema":"http://json-schema.org/draft-04/schema#","patternProperties":{"^a":{"enum":[1,"b"]}},"dependencies":{"a":["b"]}}`), []byte(`{"abc":"some longer value","a":0}`))
	f.Add([]byte(`{"unevaluatedProperties":{"contentEncoding":"base64"},"oneOf":[{"if":{"minProperties":2},"then":false},{"not":{"const":{}}}]}`), []byte(`{"a":"not base64, surely"}`))
	f.Add([]byte(`{"properties":{"a":{"uniqueItems":true,"contains":{"multipleOf":0.1},"prefixItems":[{"maxLength":3}]}}}`), []byte(`{"a":["a long value here",0.3,1e-400]}`))
	for seed := range uint64(20) {
		r := newRandom(seed)
		f.Add([]byte(r.tool()), []byte(r.value(3)))
	}
	f.Fuzz(func(t *testing.T, schema, args []byte) {
		v := NewCache(0).Judge(schema, args)
		if again := NewCache(0).Judge(schema, args); !cmp.Equal(v, again) {
			t.Errorf("two verdicts:\n%s", cmp.Diff(v, again))
		}
		if strings.HasPrefix(v.Detail, "panic") {
			t.Error(v.Detail)
		}
		if (v.Outcome == Unjudged) != (v.Reason != "") || (v.Outcome == Invalid) && len(v.Problems) == 0 {
			t.Errorf("contradicts itself: %+v", v)
		}
		if len(v.Missing) > maxMissing || len(v.Problems) > maxProblems || len(Summary(schema)) > maxSummaryBytes {
			t.Errorf("over a bound: %+v", v)
		}
		for _, secret := range secrets(schema, args) {
			for _, p := range v.Problems {
				if strings.Contains(p.Message+p.Pointer, secret) {
					t.Errorf("%+v repeats %q", p, secret)
				}
			}
		}
	})
}

// secrets returns the longer string values in args that a problem cannot have
// from elsewhere: a name, the schema, or our own words.
func secrets(schema, args []byte) []string {
	v, _, _ := parse(args, argumentLimits())
	var names, values []string
	collect(v, &names, &values)
	s, _, _ := parse(schema, describedLimits())
	collect(s, &names, &names)
	return slices.DeleteFunc(values, func(value string) bool {
		return len(value) < 12 || strings.HasPrefix(value, "\ufffd") || strings.Contains(ownWords, value) ||
			slices.ContainsFunc(names, func(name string) bool { return strings.Contains(name, value) })
	})
}

const ownWords = `must have at least at most characters properties items must be string or number has a property which is not declared`

func collect(v any, names, values *[]string) {
	switch v := v.(type) {
	case string:
		*values = append(*values, v)
	case []any:
		for _, item := range v {
			collect(item, names, values)
		}
	case map[string]any:
		*names = append(*names, slices.Sorted(maps.Keys(v))...)
		for _, item := range v {
			collect(item, names, values)
		}
	}
}
