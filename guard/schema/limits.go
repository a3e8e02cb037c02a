package schema

import "encoding/json"

// What a schema may be, to be compiled. The compiler's cost grows with the
// square of the number of subschemas times the length of their JSON pointers;
// the bounds keep the worst schema that is let in near a tenth of a second,
// and are several times what the largest tools in use need.
const (
	maxSchemaBytes  = 64 << 10
	maxSchemaDepth  = 64
	maxSchemaValues = 10_000
	maxSubschemas   = 2_000
	maxRefPaths     = 10_000  // subschemas once every $ref is expanded
	maxPointerBytes = 1 << 20 // JSON pointers of all subschemas, percent-encoded
	maxEnumWork     = 1 << 20 // values times JSON values in them
	maxPatternBytes = 1_024
	maxPatternWork  = 2_000  // instructions of one compiled pattern
	maxPatternTotal = 16_000 // and of all in one schema
)

// What arguments may be, to be judged.
const (
	maxArgumentBytes  = 4 << 20
	maxArgumentDepth  = 256
	maxArgumentValues = 50_000
)

// maxNumber bounds the digits of a number literal and the size of its exponent,
// in schemas and in arguments: the validator computes with exact fractions, and
// 1e1000000 is a megabit.
const maxNumber = 400

// What is read to be described only, by [Summary] and [Hash]. A tool that is too
// large to be judged still has a name for its schema. The depth stays under the
// 10,000 at which the JSON reader gives up.
const (
	maxDescribedBytes  = 4 << 20
	maxDescribedDepth  = 8_000
	maxDescribedValues = 250_000
)

// What a verdict may show.
const (
	maxMissing    = 32
	maxProblems   = 8
	maxShownName  = 100 // code points
	maxShownPath  = 300 // code points
	maxShownEnum  = 8
	maxShownValue = 40 // code points
)

// limits bound the reading of one JSON text. A number limit of 0 is none.
type limits struct {
	bytes, values, depth, number int
}

func schemaLimits() limits {
	return limits{maxSchemaBytes, maxSchemaValues, maxSchemaDepth, maxNumber}
}

func argumentLimits() limits {
	return limits{maxArgumentBytes, maxArgumentValues, maxArgumentDepth, maxNumber}
}

func describedLimits() limits {
	return limits{bytes: maxDescribedBytes, values: maxDescribedValues, depth: maxDescribedDepth}
}

// allows reports whether the number n is small enough to compute with.
func (l limits) allows(n json.Number) bool {
	if l.number == 0 {
		return true
	}
	return len(n) <= l.number && exponent(n) <= l.number
}

// exponent returns the size of a literal's exponent without its sign, or 1000
// for whatever is larger than that.
func exponent(n json.Number) int {
	size, inside := 0, false
	for _, c := range []byte(n) {
		switch {
		case c == 'e' || c == 'E':
			inside = true
		case inside && c >= '0' && c <= '9':
			size = min(size*10+int(c-'0'), 1000)
		}
	}
	return size
}
