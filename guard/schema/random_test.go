package schema

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// random makes schemas and values as strangers might, from a seed, so that a
// failure can be had again.
type random struct{ *rand.Rand }

func newRandom(seed uint64) random { return random{rand.New(rand.NewPCG(seed, 5))} }

func (r random) pick(list ...string) string { return list[r.IntN(len(list))] }

// text makes a JSON string, now and then a long or an odd one.
func (r random) text() string {
	s := r.pick("a", "b", "path", "", "é", "日本", `\n`, `\"`, `<&>`, `\ud83d`, "\xff", "😀", `\u0000`)
	switch r.IntN(8) {
	case 0:
		s = strings.Repeat(s, r.IntN(400))
	case 1:
		s += r.pick("x", "y", "z") + fmt.Sprint(r.IntN(1000))
	}
	return `"` + s + `"`
}

// value makes any JSON value, at most depth deep.
func (r random) value(depth int) string {
	n := 9
	if depth <= 0 {
		n = 6
	}
	switch r.IntN(n) {
	case 0:
		return "null"
	case 1:
		return r.pick("true", "false")
	case 2:
		return r.pick("0", "-1", "1.0", "1e2", "12345678901234567890", "0.5", "7")
	case 3, 4, 5:
		return r.text()
	case 6:
		return `[` + repeat(r.IntN(5), func(int) string { return r.value(depth - 1) }) + `]`
	}
	return r.object(r.IntN(5), func(string) string { return r.value(depth - 1) })
}

// object makes an object of up to n members, whose names are all different.
func (r random) object(n int, value func(name string) string) string {
	seen := map[string]bool{}
	var members []string
	for range n {
		name := r.text()
		if key, _, _ := parse([]byte(name), describedLimits()); seen[key.(string)] {
			continue
		} else {
			seen[key.(string)] = true
		}
		members = append(members, name+":"+value(name))
	}
	return "{" + strings.Join(members, ",") + "}"
}

// schema makes a schema, mostly a valid one.
func (r random) schema(depth int) string {
	if depth <= 0 || r.IntN(20) == 0 {
		return r.pick(`true`, `{}`, `{"type":"string"}`, `{"type":"integer"}`, `{"type":"null"}`, `{"$ref":"#/$defs/a"}`, `{"enum":["a",1]}`)
	}
	if r.IntN(40) == 0 {
		return r.value(depth)
	}
	var members []string
	for _, name := range []string{
		"type", "properties", "required", "description", "enum", "items", "anyOf", "oneOf", "allOf", "not",
		"additionalProperties", "nullable", "minLength", "minimum", "uniqueItems", "pattern", "const", "contains",
		"prefixItems", "if", "then", "patternProperties", "propertyNames", "unevaluatedProperties", "default", "dependentSchemas",
	} {
		if r.IntN(9) == 0 || name == "properties" && r.IntN(2) == 0 {
			members = append(members, fmt.Sprintf("%q:%s", name, r.keyword(name, depth-1)))
		}
	}
	return "{" + strings.Join(members, ",") + "}"
}

func (r random) keyword(name string, depth int) string {
	if r.IntN(60) == 0 {
		return r.value(1)
	}
	switch name {
	case "type":
		return r.pick(`"string"`, `"object"`, `"array"`, `"integer"`, `["string","null"]`, `["object","array"]`)
	case "properties", "dependentSchemas":
		n := r.IntN(5)
		if r.IntN(6) == 0 {
			n, depth = r.IntN(60), 0
		}
		return r.object(n, func(string) string { return r.schema(depth) })
	case "required":
		return `[` + repeat(r.IntN(6), func(int) string { return r.text() }) + `]`
	case "description", "default":
		return r.text()
	case "enum":
		return `[` + repeat(r.IntN(12), func(int) string { return r.value(1) }) + `]`
	case "anyOf", "oneOf", "allOf", "prefixItems":
		return `[` + repeat(1+r.IntN(3), func(int) string { return r.schema(depth) }) + `]`
	case "nullable", "uniqueItems":
		return r.pick("true", "false")
	case "minLength", "minimum":
		return r.pick("0", "1", "3")
	case "pattern":
		return r.pick(`"^a"`, `"[0-9]+"`)
	case "patternProperties":
		return `{` + r.pick(`"^a"`, `"x"`) + `:` + r.schema(depth) + `}`
	case "const":
		return r.value(1)
	}
	return r.schema(depth)
}

// tool makes the schema of a whole tool, which random references can point into.
func (r random) tool() string {
	s := r.schema(3)
	if strings.HasPrefix(s, `{"`) {
		s = `{"$defs":{"a":` + r.pick(`{"type":"string"}`, `{"type":"array","items":{"type":"integer"}}`, `{"nullable":true,"type":"object"}`) + `},` + s[1:]
	}
	return s
}
