package schema

import (
	"errors"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Judge says whether arguments satisfy schema. The arguments are the text that
// the call's string of arguments holds, with the string's own quotes and escapes
// undone. No text at all counts as {}; blank text does not.
//
// The outcome is Missing if a property of the whole is required and absent,
// whatever else is wrong, or if the arguments are empty and may not be. Neither
// slice is kept or changed.
//
// Judge is safe for concurrent use. A schema that is not in the cache is
// compiled first, once however many ask; a rejected one is remembered as well.
func (c *Cache) Judge(schema, arguments []byte) Verdict {
	if absent(schema) {
		return unjudged(NoSchema, "")
	}
	if len(schema) > maxSchemaBytes {
		return unjudged(TooLarge, "the schema is over a limit")
	}
	return c.get(schema).judge(arguments)
}

func (c *compiled) judge(arguments []byte) (v Verdict) {
	if c.schema == nil {
		return unjudged(c.reason, c.detail)
	}
	if len(arguments) == 0 {
		arguments = []byte("{}")
	}
	args, dup, err := parse(arguments, argumentLimits())
	switch {
	case err == errTooLarge:
		return unjudged(TooLarge, "the arguments are over a limit")
	case err != nil:
		return invalid("", unreadable(err))
	case dup != nil:
		return invalid(cutPointer(dup.pointer), "is a second value for the key "+showName(dup.name))
	}
	obj, ok := args.(map[string]any)
	if !ok {
		return invalid("", "must be an object, not "+typeName(args))
	}
	if !c.affordable(obj) {
		return unjudged(TooLarge, "the schema and the arguments are too large together")
	}
	return c.validate(obj)
}

func (c *compiled) validate(obj map[string]any) (v Verdict) {
	// As in compile: a fault in a library may cost a judgement, not the process.
	defer func() {
		if p := recover(); p != nil {
			v = unjudged(SchemaRejected, panicText(p))
		}
	}()
	err := c.schema.Validate(obj)
	if err == nil {
		return Verdict{Outcome: Accepted}
	}
	var failure *jsonschema.ValidationError
	if !errors.As(err, &failure) {
		return unjudged(SchemaRejected, "the validator failed")
	}
	var f findings
	f.add(failure)
	v = Verdict{Outcome: Invalid, Missing: f.names(), Problems: f.problems()}
	if len(obj) == 0 || len(v.Missing) > 0 {
		v.Outcome = Missing
	}
	return v
}

// unreadable says why arguments are no JSON text.
func unreadable(err error) string {
	switch err {
	case errBlank:
		return "must be a JSON object, not blank"
	case errTruncated:
		return "is cut off: the JSON text ends too early"
	case errTrailing:
		return "must be one JSON object and nothing after it"
	}
	return "is not valid JSON"
}
