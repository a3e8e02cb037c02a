package guard

import (
	"errors"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
)

// Request is what turngate acts on in the body of a create request. The raw
// values alias the body they were read from and are nil where the key is absent.
type Request struct {
	Model   string // "" if absent or not a string
	Stream  bool   // false if absent or not a boolean
	Catalog *Catalog

	Input              jsontext.Value
	PreviousResponseID jsontext.Value
	Conversation       jsontext.Value
	Store              jsontext.Value
	Background         jsontext.Value
	Include            jsontext.Value

	// References is false if no item of the input can be an item_reference.
	References bool
}

// RequestError says what is wrong with a request body, in words for the caller.
type RequestError struct {
	Message string
	Param   string // the key at fault; "" if it is the body as a whole
}

func (e *RequestError) Error() string { return e.Message }

// ReadRequest reads a create request once, strictly: one JSON object, nothing
// behind it, and no duplicates of a key that turngate acts on (its reading and
// the upstream's could differ). Everything else is left to the upstream to
// judge. The error is a *RequestError.
func ReadRequest(body []byte) (*Request, error) { return (*Tools)(nil).ReadRequest(body) }

// ReadRequest is like the function of that name, and reads only those lists of
// tools that it has not read before. Without a Tools no schema is kept, and so
// no arguments are judged.
func (t *Tools) ReadRequest(body []byte) (*Request, error) {
	r := newRequestReader(body)
	r.known = t
	r.req.Catalog = &Catalog{}
	if err := r.body(); err != nil {
		if e, ok := errors.AsType[*RequestError](err); ok {
			return nil, e
		}
		return nil, &RequestError{Message: fmt.Sprintf("The body is not valid JSON: error near byte %d.", r.i)}
	}
	return &r.req, nil
}

// requestReader walks a request body once.
type requestReader struct {
	scanner
	req    Request
	base   string // where the scanned bytes stand in the body
	path   []step // where the scanner stands in them
	known  *Tools
	ahead  *knownList // the list that was read last, if it was known by its head
	count  int        // tools read
	inside bool       // a namespace
	key    []byte     // scratch for keys with escapes
}

func newRequestReader(b []byte) *requestReader { return &requestReader{scanner: scanner{b: b}} }

func (r *requestReader) body() error {
	if r.peek() != '{' {
		if err := r.skip(); err != nil {
			return err
		}
		return &RequestError{Message: "The body must be a JSON object."}
	}
	var seen duplicates
	err := r.members(func(key []byte) error {
		if err := r.once(&seen, key, topLevelKeys[:]); err != nil {
			return err
		}
		return r.topLevel(key)
	})
	if err != nil {
		return err
	}
	if !r.end() {
		return &RequestError{Message: "The body has something behind its JSON object."}
	}
	return nil
}

var topLevelKeys = [...]string{"model", "stream", "input", "tools", "previous_response_id",
	"conversation", "store", "background", "include"}

func (r *requestReader) topLevel(key []byte) error {
	switch string(key) {
	case "model":
		return r.string(&r.req.Model)
	case "stream":
		if r.peek() == 't' {
			r.req.Stream = true
		}
		return r.skip()
	case "tools":
		return r.declarations(r.req.Catalog)
	case "input":
		return r.value(&r.req.Input, r.input)
	case "previous_response_id":
		return r.value(&r.req.PreviousResponseID, r.skip)
	case "conversation":
		return r.value(&r.req.Conversation, r.skip)
	case "store":
		return r.value(&r.req.Store, r.skip)
	case "background":
		return r.value(&r.req.Background, r.skip)
	case "include":
		return r.value(&r.req.Include, r.skip)
	}
	return r.skip()
}

// declarations reads a list of tools into c.
func (r *requestReader) declarations(c *Catalog) error {
	var raw jsontext.Value
	if err := r.list(&raw); err != nil {
		return err
	}
	return r.declare(c, raw, func(in *requestReader, d *declarations) error {
		return in.tools(d.declare, d.misshapen)
	})
}

// declare adds to c what read finds in raw, unless it is known.
func (r *requestReader) declare(c *Catalog, raw []byte, read func(*requestReader, *declarations) error) error {
	if d := r.knownDeclarations(raw); d != nil {
		c.add(d)
		return r.within(c)
	}
	in := newRequestReader(raw)
	in.base = r.place()
	d := &declarations{}
	if err := read(in, d); err != nil {
		return err
	}
	d.count = in.count
	d.keep(r.known)
	c.add(d)
	if r.known != nil {
		r.known.learn(raw, d)
	}
	return r.within(c)
}

// knownDeclarations returns what raw is known to declare, or nil.
func (r *requestReader) knownDeclarations(raw []byte) *declarations {
	switch {
	case r.known == nil:
		return nil
	case r.ahead != nil: // raw is the list that was read last
		return r.ahead.declarations
	}
	return r.known.list(raw)
}

// within reports too many tools.
func (r *requestReader) within(c *Catalog) error {
	if c.count > maxTools {
		return tooManyTools()
	}
	return nil
}

func tooManyTools() error {
	return &RequestError{Message: fmt.Sprintf("The request declares more than %d tools.", maxTools), Param: "tools"}
}

// input looks for the items that declare tools. Codex sends nothing else:
// current models have no "tools" key at all (G3).
func (r *requestReader) input() error {
	return r.elements(func() error {
		var seen duplicates
		var typ, label string
		var tools jsontext.Value
		id, other := false, false // keys: "id", any but that and "type"
		err := r.members(func(key []byte) error {
			if err := r.once(&seen, key, itemKeys[:]); err != nil {
				return err
			}
			switch string(key) {
			case "type":
				return r.string(&typ)
			case "id":
				id = true
				return r.skip()
			}
			other = true
			switch string(key) {
			case "server_label":
				return r.string(&label)
			case "tools":
				return r.list(&tools)
			}
			return r.skip()
		})
		r.req.References = r.req.References || id && (typ == "item_reference" || typ == "" && !other)
		if err != nil || tools == nil {
			return err
		}
		return r.item(typ, label, tools)
	})
}

// item takes the tools of an input item. Only some types of items declare any.
func (r *requestReader) item(typ, label string, tools jsontext.Value) error {
	c := r.req.Catalog
	r.path = append(r.path, step{key: []byte("tools")})
	defer func() { r.path = r.path[:len(r.path)-1] }()
	switch typ {
	case "additional_tools", "tool_search_output":
		return r.declare(c, tools, func(in *requestReader, d *declarations) error {
			return in.tools(d.declare, d.misshapen)
		})
	case "mcp_list_tools":
		in, d := newRequestReader(tools), &declarations{}
		err := in.tools(func(t tool) { d.list(label, t) }, func() {})
		if d.count = in.count; err != nil || c.count+d.count > maxTools {
			return nil // schemas that nobody can tell are none
		}
		d.keep(r.known)
		c.add(d)
	}
	return nil
}

var itemKeys = [...]string{"type", "tools", "id", "call_id"}

// widen adds the tools of a raw list that came in the output to c. A list that
// is not unambiguous adds nothing.
func (c *Catalog) widen(raw []byte, known *Tools, declare func(*declarations, tool)) {
	var all []tool
	if newRequestReader(raw).tools(func(t tool) { all = append(all, t) }, func() {}) != nil {
		return
	}
	if c.own == nil {
		c.own = &declarations{}
		c.parts = append(c.parts, c.own)
	}
	for _, t := range all {
		declare(c.own, t)
	}
	c.own.keep(known)
}
