package schema

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// message says in our words what an error of the validator means. The
// validator's own texts quote the offending value. Here only the field Got of
// [kind.Type], a type's name, is taken from the value; everything else comes
// from the schema.
func message(k jsonschema.ErrorKind) string {
	switch k := k.(type) {
	case *kind.Type:
		return "must be " + strings.Join(k.Want, " or ") + ", not " + k.Got
	case *kind.Enum:
		return "must be one of " + wanted(k.Want)
	case *kind.Const:
		return "must be " + showValue(k.Want)
	case *kind.FalseSchema:
		return "is not allowed"
	case *kind.Not:
		return "has a form that is not allowed"
	case *kind.Pattern:
		return "must match the pattern " + showName(k.Want)
	case *kind.ContentEncoding:
		return "must be encoded as base64"
	case *kind.Minimum:
		return "must be at least " + number(k.Want)
	case *kind.Maximum:
		return "must be at most " + number(k.Want)
	case *kind.ExclusiveMinimum:
		return "must be greater than " + number(k.Want)
	case *kind.ExclusiveMaximum:
		return "must be less than " + number(k.Want)
	case *kind.MultipleOf:
		return "must be a multiple of " + number(k.Want)
	}
	return sizeMessage(k)
}

// sizeMessage is message for what concerns how much there is, and of what.
func sizeMessage(k jsonschema.ErrorKind) string {
	switch k := k.(type) {
	case *kind.MinLength:
		return "must have at least " + count(k.Want, "character", "characters")
	case *kind.MaxLength:
		return "must have at most " + count(k.Want, "character", "characters")
	case *kind.MinItems:
		return "must have at least " + count(k.Want, "item", "items")
	case *kind.MaxItems:
		return "must have at most " + count(k.Want, "item", "items")
	case *kind.AdditionalItems:
		return "has more items than are declared"
	case *kind.UniqueItems:
		return fmt.Sprintf("must not have equal items, as at %d and %d", k.Duplicates[0], k.Duplicates[1])
	case *kind.Contains, *kind.MinContains:
		return "has too few items of the form that it must contain"
	case *kind.MaxContains:
		return "has too many items of the form that it must contain"
	case *kind.MinProperties:
		return "must have at least " + count(k.Want, "property", "properties")
	case *kind.MaxProperties:
		return "must have at most " + count(k.Want, "property", "properties")
	case *kind.PropertyNames:
		return "has a property " + showName(k.Property) + ", whose name is not allowed"
	case *kind.Dependency:
		return "lacks " + showNames(k.Missing) + ", required beside " + showName(k.Prop)
	case *kind.DependentRequired:
		return "lacks " + showNames(k.Missing) + ", required beside " + showName(k.Prop)
	}
	return "does not satisfy the schema"
}

// count shows a number of things.
func count(n int, one, many string) string {
	if n == 1 {
		many = one
	}
	return strconv.Itoa(n) + " " + many
}

// wanted lists the first values of an enum.
func wanted(values []any) string {
	var b strings.Builder
	for i, v := range values {
		if i > 0 {
			b.WriteString(", ")
		}
		if i == maxShownEnum {
			b.WriteString("…")
			break
		}
		b.WriteString(showValue(v))
	}
	return b.String()
}

// number shows a bound of the schema.
func number(n *big.Rat) string {
	if n.IsInt() {
		return show(n.Num().String(), maxShownValue)
	}
	f, _ := n.Float64()
	return fmt.Sprintf("%g", f)
}
