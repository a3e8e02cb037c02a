package schema

import (
	"encoding/json"
	"strings"
	"unicode"
)

// show makes a stranger's text fit to be read in a refusal or a log: at most
// limit code points, none of which control a terminal or the direction of text.
func show(s string, limit int) string {
	var b strings.Builder
	n := 0
	for _, r := range s {
		if n++; n > limit {
			break
		}
		if unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) {
			r = unicode.ReplacementChar
		}
		b.WriteRune(r)
	}
	return b.String()
}

// showName quotes a property's name.
func showName(name string) string {
	return `"` + show(name, maxShownName) + `"`
}

// showNames quotes the first names of a list.
func showNames(names []string) string {
	var b strings.Builder
	for i, name := range names {
		if i > 0 {
			b.WriteString(", ")
		}
		if i == maxShownEnum {
			b.WriteString("…")
			break
		}
		b.WriteString(showName(name))
	}
	return b.String()
}

// showValue shows a value that a schema wants, never one that arguments have.
func showValue(v any) string {
	switch v := v.(type) {
	case string:
		return `"` + show(v, maxShownValue) + `"`
	case []any:
		return "an array"
	case map[string]any:
		return "an object"
	}
	return show(string(appendCanonical(nil, v)), maxShownValue)
}

// showPointer makes the JSON pointer to path. Its names may be the caller's own
// inventions, so each is shown like a name and the whole is cut.
func showPointer(path []string) string {
	var b strings.Builder
	for _, name := range path {
		b.WriteByte('/')
		name = strings.ReplaceAll(show(name, maxShownName), "~", "~0")
		b.WriteString(strings.ReplaceAll(name, "/", "~1"))
		if b.Len() > 4*maxShownPath {
			break
		}
	}
	return show(b.String(), maxShownPath)
}

// cutPointer is showPointer for a pointer that is already one.
func cutPointer(pointer string) string {
	path := strings.Split(pointer, "/")
	for i, name := range path {
		path[i] = show(name, maxShownName)
	}
	return show(strings.Join(path, "/"), maxShownPath)
}

// typeName returns what JSON Schema calls the type of v.
func typeName(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case json.Number:
		return "number"
	case string:
		return "string"
	case []any:
		return "array"
	}
	return "object"
}
