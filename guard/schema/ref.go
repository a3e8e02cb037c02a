package schema

import (
	"net/url"
	"strconv"
	"strings"
)

// definition is a subschema that some $ref points to.
type definition struct {
	name  string // under /definitions
	paths int
	done  bool
}

// resolve finds what a $ref at a place means and rewrites it once. Only JSON
// pointers into the same document are followed: what names another document, an
// anchor, or an embedded resource rejects the schema.
func (r *rewriter) resolve(ref any, at place) (*definition, error) {
	text, ok := ref.(string)
	if !ok {
		return nil, reject("$ref is not a string")
	}
	document, fragment, _ := strings.Cut(text, "#")
	if document != "" && document != r.rootID || at.embedded {
		return nil, reject("$ref leads out of the schema")
	}
	pointer, err := url.PathUnescape(fragment)
	if err != nil || pointer != "" && pointer[0] != '/' {
		return nil, reject("$ref is not a JSON pointer")
	}
	def, known := r.defs[pointer]
	if known && !def.done || pointer == "" {
		return nil, reject("$ref refers to itself in a circle")
	}
	if known {
		return def, nil
	}
	target, embedded, err := r.lookup(pointer)
	if err != nil {
		return nil, err
	}
	def = &definition{name: "r" + strconv.Itoa(len(r.defs))}
	r.defs[pointer] = def
	out, err := r.schema(target, place{embedded: embedded}.below("definitions", def.name))
	if err != nil {
		return nil, err
	}
	def.paths, def.done = out.paths, true
	r.definitions[def.name] = out.value
	return def, nil
}

// lookup follows a JSON pointer from the root, and tells whether it leads into a
// subschema that has an identifier of its own.
func (r *rewriter) lookup(pointer string) (v any, embedded bool, err error) {
	v = r.root
	unescape := strings.NewReplacer("~1", "/", "~0", "~")
	for i, token := range strings.Split(pointer, "/")[1:] {
		token = unescape.Replace(token)
		found := false
		switch at := v.(type) {
		case map[string]any:
			embedded = embedded || i > 0 && identifier(at) != ""
			v, found = at[token]
		case []any:
			index, err := strconv.Atoi(token)
			if found = err == nil && index >= 0 && index < len(at) && strconv.Itoa(index) == token; found {
				v = at[index]
			}
		}
		if !found {
			return nil, false, reject("$ref points to nothing")
		}
	}
	return v, embedded, nil
}

// identifier returns what makes a schema a document of its own: $id, or id in
// draft 4, without its fragment. The fragments that some generators write into
// every $id do not count.
func identifier(schema map[string]any) string {
	id, ok := schema["$id"].(string)
	if !ok {
		id, _ = schema["id"].(string)
	}
	id, _, _ = strings.Cut(id, "#")
	return id
}
