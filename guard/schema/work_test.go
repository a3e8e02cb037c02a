package schema

import (
	"regexp/syntax"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// visits counts how often the validator comes to any subschema. It is a keyword
// that every subschema has and that is always satisfied.
type visits struct{ n int }

func (v *visits) Validate(*jsonschema.ValidatorContext, any) { v.n++ }

// counting compiles doc so that its visits are counted, or returns nil if it is
// no schema.
func counting(t *testing.T, doc map[string]any, v *visits) *jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	c.UseLoader(noLoader{})
	c.UseRegexpEngine(patternEngine())
	c.AssertContent()
	c.RegisterVocabulary(&jsonschema.Vocabulary{
		URL:    "turngate:///visits",
		Schema: &jsonschema.Schema{},
		Compile: func(*jsonschema.CompilerContext, map[string]any) (jsonschema.SchemaExt, error) {
			return v, nil
		},
	})
	c.AssertVocabs()
	if err := c.AddResource("turngate:///schema.json", doc); err != nil {
		t.Fatal(err)
	}
	sch, err := c.Compile("turngate:///schema.json")
	if err != nil {
		return nil
	}
	return sch
}

// TestBudgetCoversValidation compares the dry run with the validator on random
// schemas and values: it must never have counted fewer visits.
func TestBudgetCoversValidation(t *testing.T) {
	compared := 0
	for seed := range uint64(300) {
		r := newRandom(seed)
		root := read(t, r.tool())
		value := read(t, r.value(4))
		_, doc, err := rewrite(root)
		if err != nil {
			continue
		}
		var v visits
		sch := counting(t, doc, &v)
		b := budget{left: maxWork, child: 2}
		if sch == nil || !b.visit(sch, value, 0) {
			continue
		}
		sch.Validate(value)
		if spent := maxWork - b.left; int64(v.n*visitWork) > spent {
			t.Fatalf("seed %d: %d visits, but only %d units counted\n%s\n%s", seed, v.n, spent,
				appendCanonical(nil, root), appendCanonical(nil, value))
		}
		compared++
	}
	if compared < 100 {
		t.Errorf("only %d schemas were compared", compared)
	}
}

// TestBudgetIsSpent checks that the dry run itself stops soon after the budget
// is gone, however much there would be to count.
func TestBudgetIsSpent(t *testing.T) {
	schema := `{"properties":{"a":{"items":{"anyOf":[` +
		strings.Repeat(`{"enum":[1,2,3]},`, 1000) + `{}]}}}}`
	c := compile([]byte(schema))
	if c.schema == nil {
		t.Fatal(c.detail)
	}
	args := read(t, `{"a":[`+repeat(20_000, func(int) string { return "1" })+`]}`)
	b := budget{left: maxWork, child: 2}
	if b.visit(c.schema, args, 0) {
		t.Error("the budget was enough")
	}
	if b.left < -1000 {
		t.Errorf("%d units were counted after the budget was gone", -b.left)
	}
}

func TestPatternWork(t *testing.T) {
	tests := []struct {
		pattern  string
		min, max int
	}{
		{``, 1, 4},
		{`^[a-z]+$`, 3, 20},
		{`^\d{4}-\d{2}-\d{2}$`, 8, 60},
		{`(x{30}){30}`, 900, 2000},
		{`\pL`, 10, 100},
		{`(a?){300}(b|cd|[^e]){50}`, 500, 2000},
	}
	for _, tt := range tests {
		work, err := patternWork(tt.pattern)
		if err != nil || work < tt.min || work > tt.max {
			t.Errorf("%s: got %d, %v, want %d to %d", tt.pattern, work, err, tt.min, tt.max)
		}
		tree, _ := syntax.Parse(tt.pattern, syntax.Perl)
		prog, err := syntax.Compile(tree.Simplify())
		if err != nil || len(prog.Inst) > 2*work+8 {
			t.Errorf("%s: %d instructions, %v, but only %d counted", tt.pattern, len(prog.Inst), err, work)
		}
	}
	for _, pattern := range []string{`(`, `x{1001}`, `(x{100}){100}`, `((x{0,99})*){99}`, `(?!x)`, strings.Repeat("x", 1025)} {
		if work, err := patternWork(pattern); err == nil {
			t.Errorf("%.20s: got %d, want an error", pattern, work)
		}
	}
}
