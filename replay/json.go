package replay

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/tidwall/gjson"
)

// valid reports whether b is one JSON value of the given kind ('[', '{') with
// nothing behind it. It is strict about syntax and depth, and lenient about what
// decides nothing: duplicate names and invalid UTF-8. Everything that came from
// outside passes here before gjson reads it.
func valid(b []byte, kind jsontext.Kind) bool {
	v := jsontext.Value(b)
	return v.Kind() == kind && v.IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}

// item is one element of an input or output array, and what rules ask of it.
// Its strings alias the array it was read from.
type item struct {
	raw    string
	object bool

	typ, id, callID, role, status string
	name, namespace, execution    string
	async                         bool
	hostedShell                   bool // has an environment that is not local

	// doubtful: a key that decides something occurs twice or in another case,
	// so two readers could differ about the item. No rule acts on it.
	doubtful bool
	// declares: by some reading of its type, the item declares tools.
	declares bool
	// bare: has nothing but an id and perhaps a type.
	bare bool
	// output: came from the upstream.
	output bool
	// trim: has a member that normalize removes.
	trim bool
}

// maxItems bounds the items of an input, of a record's parts, and of an
// expansion. An item is two bytes at the least and some two hundred once read.
const maxItems = 1 << 17

// tooMany reports whether a valid JSON array has more than maxItems elements.
func tooMany(array []byte) bool {
	if bytes.Count(array, []byte(",")) < maxItems {
		return false
	}
	n := 0
	gjson.ParseBytes(array).ForEach(func(_, _ gjson.Result) bool {
		n++
		return n <= maxItems
	})
	return n > maxItems
}

// readItems splits a valid JSON array.
func readItems(array []byte) []item {
	if len(array) == 0 {
		return nil
	}
	var items []item
	gjson.Parse(string(array)).ForEach(func(_, v gjson.Result) bool {
		items = append(items, readItem(v.Raw))
		return true
	})
	return items
}

// readItem reads the top level of one valid JSON value.
func readItem(raw string) item {
	it := item{raw: raw}
	v := gjson.Parse(raw)
	if !v.IsObject() {
		return it
	}
	it.object, it.bare = true, true
	var seen [len(itemKeys)]bool
	v.ForEach(func(k, v gjson.Result) bool {
		i, exact := itemKey(k.Str)
		if i < 0 {
			it.bare = false
			it.trim = it.trim || k.Str == "created_by" || k.Str == "parsed_arguments"
			return true
		}
		it.doubtful = it.doubtful || seen[i] || !exact
		seen[i] = true
		it.set(i, v)
		return true
	})
	it.trim = it.trim || it.typ == "custom_tool_call_output" && seen[statusKey]
	return it
}

// itemKeys are the members that decide something.
var itemKeys = [...]string{"type", "id", "call_id", "role", "status", "name", "namespace", "execution", "async", "environment"}

const idKey, statusKey = 1, 4 // in itemKeys

func (it *item) set(key int, v gjson.Result) {
	str := ""
	if v.Type == gjson.String {
		str = v.Str
	}
	it.trim = it.trim || v.Type == gjson.Null && (key == idKey || key == statusKey)
	if key > idKey || str == "" && v.Type != gjson.Null {
		it.bare = false
	}
	switch itemKeys[key] {
	case "type":
		it.typ = str
		it.declares = it.declares || str == "additional_tools" || str == "tool_search_output"
	case "id":
		it.id = str
	case "call_id":
		it.callID = str
	case "role":
		it.role = str
	case "status":
		it.status = str
	case "name":
		it.name = str
	case "namespace":
		it.namespace = str
	case "execution":
		it.execution = str
	case "async":
		it.async = v.Type == gjson.True
	case "environment":
		env := v.Get("type")
		it.hostedShell = v.IsObject() && env.Type == gjson.String && env.Str != "local"
	}
}

// itemKey returns the index of the item key that k means to any reader, or -1;
// exact is false if only a reader that folds case takes it for that.
func itemKey(k string) (i int, exact bool) {
	for i, n := range itemKeys {
		if k == n {
			return i, true
		}
	}
	if lower(k) {
		return -1, false
	}
	for i, n := range itemKeys {
		if strings.EqualFold(k, n) {
			return i, false
		}
	}
	return -1, false
}

// lower reports whether k has nothing whose case could be folded.
func lower(k string) bool {
	for i := range len(k) {
		if c := k[i]; c >= utf8.RuneSelf || 'A' <= c && c <= 'Z' {
			return false
		}
	}
	return true
}

// reference reports whether the item is an item_reference; the type is optional
// in the API, so an object that has nothing but an id is one too.
func (it item) reference() bool {
	return !it.doubtful && it.id != "" && (it.typ == "item_reference" || it.typ == "" && it.bare)
}

// without returns the JSON object raw without the members that drop names. If
// nothing is dropped raw itself is returned, else the rest in its own bytes.
func without(raw string, drop func(key string, v gjson.Result) bool) string {
	var b strings.Builder
	dropped := false
	gjson.Parse(raw).ForEach(func(k, v gjson.Result) bool {
		if drop(k.Str, v) {
			dropped = true
			return true
		}
		sep := byte(',')
		if b.Len() == 0 {
			sep = '{'
		}
		b.WriteByte(sep)
		b.WriteString(k.Raw)
		b.WriteByte(':')
		b.WriteString(v.Raw)
		return true
	})
	if !dropped {
		return raw
	}
	if b.Len() == 0 {
		return "{}"
	}
	b.WriteByte('}')
	return b.String()
}

// joinItems writes items as a JSON array.
func joinItems(items []item) []byte {
	n := 2
	for _, it := range items {
		n += len(it.raw) + 1
	}
	b := append(make([]byte, 0, n), '[')
	for i, it := range items {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, it.raw...)
	}
	return append(b, ']')
}

// emptyObject reports whether a valid JSON object has no member.
func emptyObject(raw string) bool {
	empty := true
	gjson.Parse(raw).ForEach(func(_, _ gjson.Result) bool {
		empty = false
		return false
	})
	return empty
}
