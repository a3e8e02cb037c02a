package schema

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// rewriter turns a stranger's schema into one that is safe to compile. Only
// keywords that are asserted survive, each with a value of the right form.
// Every $ref is resolved here, within the document, and points to a copy of its
// target under /definitions; there are no other references, no identifiers and
// no anchors left, so the compiler has nothing to look up anywhere. nullable is
// expressed by what the dialects know.
//
// It never changes the schema it reads. It recurs at most once a subschema, so
// maxSubschemas bounds its depth.
type rewriter struct {
	root        any
	rootID      string // the root's identifier, without fragment
	defs        map[string]*definition
	definitions map[string]any // what defs became, by name

	subschemas, pointerBytes, patternWork int

	unevaluated bool // unevaluatedProperties or unevaluatedItems was seen
}

// place is where a subschema stands in what is being written.
type place struct {
	pointer  int  // bytes of its JSON pointer, percent-encoded at worst
	root     bool // it is the whole schema
	embedded bool // it is inside a subschema with an identifier of its own
}

func (at place) below(names ...string) place {
	at.root = false
	for _, name := range names {
		at.pointer += 1 + 3*len(name)
	}
	return at
}

// rewritten is a subschema fit to be compiled, and the number of subschemas it
// has once every reference in it is expanded.
type rewritten struct {
	value any // bool or map[string]any
	paths int
}

func rewrite(root any) (*rewriter, map[string]any, error) {
	r := &rewriter{root: root, defs: map[string]*definition{}, definitions: map[string]any{}}
	if obj, ok := root.(map[string]any); ok {
		r.rootID = identifier(obj)
	}
	out, err := r.schema(root, place{root: true})
	if err != nil {
		return nil, nil, err
	}
	doc, ok := out.value.(map[string]any)
	if !ok { // true or false
		doc = map[string]any{"allOf": []any{out.value}}
	}
	if len(r.definitions) > 0 {
		doc["definitions"] = r.definitions
	}
	return r, doc, nil
}

// schema rewrites v, which stands where a schema is expected.
func (r *rewriter) schema(v any, at place) (rewritten, error) {
	r.subschemas++
	r.pointerBytes += at.pointer
	if r.subschemas > maxSubschemas || r.pointerBytes > maxPointerBytes {
		return rewritten{}, tooLarge("too many subschemas")
	}
	obj, ok := v.(map[string]any)
	if !ok {
		if _, ok := v.(bool); !ok {
			return rewritten{}, reject("a schema is neither an object nor a boolean")
		}
		return rewritten{v, 1}, nil
	}
	if !at.root && identifier(obj) != "" {
		at.embedded = true
	}
	w := writer{r: r, at: at, out: map[string]any{}, paths: 1}
	for _, name := range slices.Sorted(maps.Keys(obj)) {
		if err := w.keyword(name, obj[name]); err != nil {
			return rewritten{}, err
		}
	}
	if w.paths > maxRefPaths {
		return rewritten{}, reject("references expand to more than %d subschemas", maxRefPaths)
	}
	if nullable, _ := obj["nullable"].(bool); nullable && !at.root {
		return rewritten{allowNull(w.out), w.paths + 2}, nil
	}
	return rewritten{w.out, w.paths}, nil
}

// writer writes the keywords of one subschema.
type writer struct {
	r     *rewriter
	at    place
	out   map[string]any
	paths int
}

// sub rewrites a subschema below the keyword.
func (w *writer) sub(v any, names ...string) (any, error) {
	out, err := w.r.schema(v, w.at.below(names...))
	w.paths = min(w.paths+out.paths, maxRefPaths+1)
	return out.value, err
}

func (w *writer) keyword(name string, v any) (err error) {
	var out any
	switch keywordForm(name) {
	case formIgnored:
		return w.reference(name, v)
	case formSchema:
		w.r.unevaluated = w.r.unevaluated || strings.HasPrefix(name, "unevaluated")
		out, err = w.sub(v, name)
	case formSchemas:
		out, err = w.list(name, v)
	case formItems:
		if _, ok := v.([]any); ok {
			out, err = w.list(name, v)
		} else {
			out, err = w.sub(v, name)
		}
	case formNamed, formPatterns, formDependencies, formNameLists:
		out, err = w.members(name, v)
	case formEncoding:
		if v != "base64" {
			return nil
		}
		out = v
	default:
		out, err = w.r.plain(name, v)
	}
	w.out[name] = out
	return err
}

// reference writes a $ref. What else it gets is no keyword that counts.
func (w *writer) reference(name string, v any) error {
	switch name {
	case "$ref":
		def, err := w.r.resolve(v, w.at)
		if err != nil {
			return err
		}
		w.paths = min(w.paths+def.paths, maxRefPaths+1)
		w.out[name] = "#/definitions/" + def.name
	case "$dynamicRef", "$recursiveRef":
		return reject("%s is not supported", name)
	}
	return nil
}

func (w *writer) list(name string, v any) (any, error) {
	list, ok := v.([]any)
	if !ok {
		return nil, reject("%s is not a list", name)
	}
	out := make([]any, len(list))
	for i, item := range list {
		var err error
		if out[i], err = w.sub(item, name, strconv.Itoa(i)); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (w *writer) members(name string, v any) (any, error) {
	obj, ok := v.(map[string]any)
	if !ok {
		return nil, reject("%s is not an object", name)
	}
	out := make(map[string]any, len(obj))
	for _, key := range slices.Sorted(maps.Keys(obj)) {
		var err error
		if out[key], err = w.member(name, key, obj[key]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (w *writer) member(name, key string, v any) (any, error) {
	f := keywordForm(name)
	if f == formPatterns {
		if err := w.r.pattern(key); err != nil {
			return nil, err
		}
	}
	if _, list := v.([]any); f == formNameLists || f == formDependencies && list {
		return v, namesOnly(name, v)
	}
	return w.sub(v, name, key)
}

// plain checks the value of a keyword that has no schema in it.
func (r *rewriter) plain(name string, v any) (any, error) {
	ok := true
	switch keywordForm(name) {
	case formNames:
		return v, namesOnly(name, v)
	case formType:
		if _, one := v.(string); !one {
			return v, namesOnly(name, v)
		}
	case formPattern:
		text, isText := v.(string)
		if isText {
			return v, r.pattern(text)
		}
		ok = false
	case formEnum:
		list, isList := v.([]any)
		if ok = isList; ok && len(list)*countValues(list) > maxEnumWork {
			return nil, tooLarge("enum has too many values")
		}
	case formNumber:
		_, ok = v.(json.Number)
	case formBound:
		_, number := v.(json.Number)
		_, flag := v.(bool)
		ok = number || flag
	case formFlag:
		_, ok = v.(bool)
	}
	if !ok {
		return nil, reject("%s has a value of the wrong type", name)
	}
	return v, nil
}

// namesOnly keeps anything but strings out of the lists that the metaschema
// compares pairwise.
func namesOnly(name string, v any) error {
	list, ok := v.([]any)
	for _, item := range list {
		_, text := item.(string)
		ok = ok && text
	}
	if !ok {
		return reject("%s is not a list of names", name)
	}
	return nil
}

// countValues counts the JSON values in v, which parse has bounded.
func countValues(v any) int {
	n := 1
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			n += countValues(item)
		}
	case map[string]any:
		for _, item := range v {
			n += countValues(item)
		}
	}
	return n
}
