package schema

import (
	"errors"
	"fmt"
	"runtime"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// compiled is a schema that can judge, or why it cannot. It is never changed, so
// any number of goroutines may use it.
type compiled struct {
	schema      *jsonschema.Schema // nil if rejected
	unevaluated bool               // it asks what other keywords have left over
	bytes       int                // about what it keeps in memory

	reason Reason // if rejected
	detail string
}

// What a compiled schema keeps in memory, measured generously.
const (
	entryBytes       = 1 << 10
	subschemaBytes   = 2 << 10
	instructionBytes = 64
)

// compile never fails: a schema that cannot be used says so.
func compile(raw []byte) (c *compiled) {
	// The compiler is not ours and has been seen to panic on schemas that the
	// checks before it now stop. Should another get through, one tool is not
	// judged and is counted as rejected; the proxy's other streams go on.
	defer func() {
		if p := recover(); p != nil {
			c = &compiled{reason: SchemaRejected, detail: panicText(p), bytes: entryBytes}
		}
	}()
	c, err := compileSchema(raw)
	if err == nil {
		return c
	}
	var r *rejection
	if !errors.As(err, &r) {
		// The compiler's messages quote the schema at any length.
		r = &rejection{SchemaRejected, "the schema does not compile"}
	}
	return &compiled{reason: r.reason, detail: r.detail, bytes: entryBytes}
}

func compileSchema(raw []byte) (*compiled, error) {
	root, dup, err := parse(raw, schemaLimits())
	switch {
	case err == errTooLarge:
		return nil, tooLarge("the schema is over a limit")
	case err != nil:
		return nil, reject("the schema is unreadable: %v", err)
	case dup != nil:
		return nil, reject("the schema has a key twice")
	}
	r, doc, err := rewrite(root)
	if err != nil {
		return nil, err
	}
	const location = "turngate:///schema.json" // of no meaning outside
	c := jsonschema.NewCompiler()
	c.DefaultDraft(dialect(root))
	c.UseLoader(noLoader{})
	c.UseRegexpEngine(patternEngine())
	c.AssertContent()
	if err := c.AddResource(location, doc); err != nil {
		return nil, err
	}
	sch, err := c.Compile(location)
	return &compiled{
		schema:      sch,
		unevaluated: r.unevaluated,
		bytes: entryBytes + 2*len(raw) + r.subschemas*subschemaBytes +
			r.patternWork*instructionBytes + 2*r.pointerBytes,
	}, err
}

// dialect returns the draft that a schema names, or the newest if it names none
// that is known. It is given to the compiler apart from the schema, which would
// otherwise be asked to load what $schema says.
func dialect(root any) *jsonschema.Draft {
	obj, _ := root.(map[string]any)
	name, _ := obj["$schema"].(string)
	name = strings.TrimSuffix(name, "#")
	name = strings.TrimPrefix(strings.TrimPrefix(name, "https://"), "http://")
	for _, draft := range []*jsonschema.Draft{
		jsonschema.Draft4, jsonschema.Draft6, jsonschema.Draft7, jsonschema.Draft2019,
	} {
		_, known, _ := strings.Cut(draft.String(), "://")
		if name == known {
			return draft
		}
	}
	return jsonschema.Draft2020
}

// noLoader refuses every document. Nothing should ask for one after rewrite.
type noLoader struct{}

var _ jsonschema.URLLoader = noLoader{}

func (noLoader) Load(string) (any, error) {
	return nil, errors.New("schemas are not loaded")
}

// panicText names a panic without the values that the panicking code held.
func panicText(p any) string {
	if err, ok := p.(runtime.Error); ok {
		return "panic: " + show(err.Error(), maxShownPath)
	}
	return fmt.Sprintf("panic: %T", p)
}
