package schema

import (
	"encoding/json"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// maxWork bounds one validation, in units of some 20 ns. A call of fifteen
// properties takes about 500; the bound admits some 100,000 visits of a
// subschema to a value, or uniqueItems over 1,400 strings.
const maxWork = 2 << 20

// visitWork is what the validator spends on one visit beside what is counted
// one by one.
const visitWork = 16

// budget is a dry run of a validation: it visits every pair of subschema and
// value that the validator could visit, as if no branch ever decided anything,
// and stops when they are too many. The validator cannot be stopped, so this is
// how it is known beforehand to end soon. Errors take memory, so their number
// is bounded too: one a visit, and one path as long as the visit is deep.
//
// Each method reports whether there is budget left. Every visit spends, and
// [rewrite] leaves no circles, so the dry run itself is bounded.
type budget struct {
	left  int64
	child int // what a visit spends on each member or item of its value
}

// affordable reports whether v can be validated within the budget.
func (c *compiled) affordable(v any) bool {
	b := budget{left: maxWork, child: 2}
	if c.unevaluated {
		// Each visit keeps a set of what it has not yet evaluated.
		b.child = 20
	}
	return b.visit(c.schema, v, 0)
}

func (b *budget) spend(n int) bool {
	b.left -= int64(n)
	return b.left >= 0
}

// visit counts the validation of v by s, which is depth visits below the root.
func (b *budget) visit(s *jsonschema.Schema, v any, depth int) bool {
	if s == nil {
		return true
	}
	depth++
	return b.spend(visitWork+depth) && b.compare(s, v) && b.inPlace(s, v, depth) && b.inside(s, v, depth)
}

// compare counts enum and const.
func (b *budget) compare(s *jsonschema.Schema, v any) bool {
	if s.Const != nil && !(b.weigh(v) && b.weigh(*s.Const)) {
		return false
	}
	if s.Enum == nil {
		return true
	}
	for _, want := range s.Enum.Values {
		if typeName(want) != typeName(v) {
			if !b.spend(1) {
				return false
			}
		} else if !(b.weigh(v) && b.weigh(want)) {
			return false
		}
	}
	return true
}

// weigh counts what comparing v with another value costs on its side.
func (b *budget) weigh(v any) bool {
	switch v := v.(type) {
	case json.Number:
		return b.spend(numberWork(v))
	case []any:
		for _, item := range v {
			if !b.weigh(item) {
				return false
			}
		}
	case map[string]any:
		for _, item := range v {
			if !b.weigh(item) {
				return false
			}
		}
	}
	return b.spend(1)
}

// numberWork is what reading a number as an exact fraction costs.
func numberWork(n json.Number) int {
	return visitWork + len(n) + exponent(n)
}

// inPlace counts the subschemas that look at the same value.
func (b *budget) inPlace(s *jsonschema.Schema, v any, depth int) bool {
	for _, sub := range [...]*jsonschema.Schema{s.Ref, s.Not, s.If, s.Then, s.Else} {
		if !b.visit(sub, v, depth) {
			return false
		}
	}
	for _, list := range [...][]*jsonschema.Schema{s.AllOf, s.AnyOf, s.OneOf} {
		for _, sub := range list {
			if !b.visit(sub, v, depth) {
				return false
			}
		}
	}
	for _, sub := range s.DependentSchemas {
		if !b.visit(sub, v, depth) {
			return false
		}
	}
	for _, dependency := range s.Dependencies {
		if sub, ok := dependency.(*jsonschema.Schema); ok && !b.visit(sub, v, depth) {
			return false
		}
	}
	return true
}

// inside counts what depends on the type of the value.
func (b *budget) inside(s *jsonschema.Schema, v any, depth int) bool {
	switch v := v.(type) {
	case map[string]any:
		return b.object(s, v, depth)
	case []any:
		return b.array(s, v, depth)
	case string:
		// Counting characters and decoding base64 cost little for each byte.
		return b.spend(len(v)/16) && b.match(s.Pattern, v)
	case json.Number:
		if s.Types == nil && s.Minimum == nil && s.Maximum == nil && s.ExclusiveMinimum == nil &&
			s.ExclusiveMaximum == nil && s.MultipleOf == nil {
			return true
		}
		return b.spend(4 * numberWork(v))
	}
	return true
}

// match counts the matching of text by a pattern of the schema, or by none.
func (b *budget) match(re jsonschema.Regexp, text string) bool {
	p, ok := re.(*pattern)
	return !ok || b.spend((1+len(text))*p.work)
}

func (b *budget) object(s *jsonschema.Schema, obj map[string]any, depth int) bool {
	names := len(s.Required)
	for _, list := range s.DependentRequired {
		names += 1 + len(list)
	}
	for _, dependency := range s.Dependencies {
		list, _ := dependency.([]string)
		names += 1 + len(list)
	}
	if !b.spend(names + len(s.DependentSchemas) + b.child*len(obj)) {
		return false
	}
	additional, _ := s.AdditionalProperties.(*jsonschema.Schema)
	for name, v := range obj {
		declared, ok := s.Properties[name]
		if !ok {
			declared = additional
		}
		if !b.visit(declared, v, depth) || !b.visit(s.UnevaluatedProperties, v, depth) {
			return false
		}
		if s.PropertyNames != nil && !b.visit(s.PropertyNames, name, depth) {
			return false
		}
		for re, sub := range s.PatternProperties {
			if !b.match(re, name) || !b.visit(sub, v, depth) {
				return false
			}
		}
	}
	return true
}

func (b *budget) array(s *jsonschema.Schema, arr []any, depth int) bool {
	if !b.spend(b.child * len(arr)) {
		return false
	}
	items, _ := s.Items.(*jsonschema.Schema)
	tuple, _ := s.Items.([]*jsonschema.Schema)
	additional, _ := s.AdditionalItems.(*jsonschema.Schema)
	for i, v := range arr {
		each := [...]*jsonschema.Schema{items, additional, s.Items2020, s.Contains, s.UnevaluatedItems, at(tuple, i), at(s.PrefixItems, i)}
		for _, sub := range each {
			if !b.visit(sub, v, depth) {
				return false
			}
		}
	}
	return !s.UniqueItems || b.pairs(arr)
}

// pairs counts comparing every item with every other. The validator hashes long
// arrays first, but its hash has no separators: equal ones can be made at will.
func (b *budget) pairs(arr []any) bool {
	before := b.left
	for _, v := range arr {
		if !b.weigh(v) {
			return false
		}
	}
	one := before - b.left
	b.left = before - one*int64(len(arr)) // at most maxWork * maxArgumentValues
	return b.left >= 0
}

// at returns the subschema for item i of a tuple, or nil.
func at(tuple []*jsonschema.Schema, i int) *jsonschema.Schema {
	if i < len(tuple) {
		return tuple[i]
	}
	return nil
}
