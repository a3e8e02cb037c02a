package guard

import (
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// declarations is what one list of tools declares. Lists come again turn after
// turn, so what was read from one is shared between turns and then not changed
// any more.
type declarations struct {
	named   map[identity]kinds
	mcp     map[string][]string // server label -> allowed names; nil: every name
	types   map[string]bool     // what authorises the nameless calls, see declareType
	schemas map[identity][]*Schema

	client bool // something that the client executes is declared
	odd    bool // tools were given in a form that declares nothing readable

	listing ToolList
	pending []pendingSchema // schemas that lie in the bytes that are being read
	count   int             // tools read
}

// pendingSchema is a schema of which the bytes are still the body's.
type pendingSchema struct {
	id  identity
	raw []byte
}

// tool is one tool object as a body declares it.
type tool struct {
	typ, name, chatName string
	description         string
	execution           string
	environment         string
	serverLabel         string
	allowed             []string // nil: no list
	schema, chatSchema  jsontext.Value
	inputSchema         jsontext.Value // of an MCP server's tool
	inner               []tool         // of a namespace
}

// declare adds a tool of the top level of a tools list.
func (d *declarations) declare(t tool) {
	if t.typ == "namespace" {
		for _, in := range t.inner {
			d.declareIn(t.name, in)
		}
		return
	}
	d.declareIn("", t)
	d.declareType(t)
}

// declareIn adds a named tool under its namespace and, flattened, without one.
// Its bare name is not added: the client routes by the explicit namespace and
// would drop the call.
func (d *declarations) declareIn(namespace string, t tool) {
	for _, name := range []string{t.name, t.chatName} {
		if name == "" {
			continue
		}
		d.client = true
		id := newIdentity(namespace, name)
		d.add(id, kindOf(t.typ)|itself, t)
		d.enlist(id, t)
		if namespace != "" {
			d.add(identity{"", namespace + "__" + name}, kindOf(t.typ), t)
		}
	}
}

func (d *declarations) add(id identity, k kinds, t tool) {
	if d.named == nil {
		d.named = map[identity]kinds{}
	}
	d.named[id] |= k
	for _, raw := range []jsontext.Value{t.schema, t.chatSchema} {
		if t.typ == "function" && len(raw) > 0 && raw[0] != 'n' {
			d.pending = append(d.pending, pendingSchema{id, raw})
		}
	}
}

// declareType notes what a tool's type alone authorises.
func (d *declarations) declareType(t tool) {
	typ := t.typ
	switch typ {
	case "local_shell", "apply_patch", "computer", "computer_use_preview":
		d.client = true
	case "shell":
		// Without an environment, or with one that is not hosted, the client
		// runs it.
		if t.environment == "" || t.environment == "local" {
			typ = localShell
			d.client = true
		}
	case "tool_search":
		d.addType(typ)
		if t.execution == "client" {
			typ = clientToolSearch
			d.client = true
		}
	case "mcp":
		d.client = true
		d.declareServer(t)
		return
	case "x_search":
	default:
		return
	}
	d.addType(typ)
}

// What a declared type authorises where the type alone does not say it.
const (
	localShell       = "shell with a local environment"
	clientToolSearch = "tool_search executed by the client"
)

func (d *declarations) addType(typ string) {
	if d.types == nil {
		d.types = map[string]bool{}
	}
	d.types[typ] = true
}

func (d *declarations) declareServer(t tool) {
	if d.mcp == nil {
		d.mcp = map[string][]string{}
	}
	before, again := d.mcp[t.serverLabel]
	switch {
	case t.allowed == nil, again && before == nil:
		d.mcp[t.serverLabel] = nil
	default:
		d.mcp[t.serverLabel] = append(before, t.allowed...)
		if d.mcp[t.serverLabel] == nil {
			d.mcp[t.serverLabel] = []string{} // no name at all, not every name
		}
	}
}

// list notes the schema of an MCP server's tool. It authorises nothing.
func (d *declarations) list(label string, t tool) {
	if len(t.inputSchema) > 0 && t.inputSchema[0] != 'n' {
		d.pending = append(d.pending, pendingSchema{ofServer(label, t.name), t.inputSchema})
	}
}

// ofServer is the identity under which the schema of an MCP server's tool is
// kept. No namespace of a declaration has a NUL in front.
func ofServer(label, name string) identity { return identity{"\x00" + label, name} }

// misshapen notes that tools came in a form that cannot be read. Such a request
// is guarded with what else it declares.
func (d *declarations) misshapen() { d.odd = true }

// keep makes d independent of the bytes that it was read from: what it needs of
// them goes to tools, or is dropped if that is nil.
func (d *declarations) keep(tools *Tools) {
	if tools != nil && len(d.pending) > 0 && d.schemas == nil {
		d.schemas = make(map[identity][]*Schema, len(d.pending))
	}
	for _, p := range d.pending {
		if tools == nil {
			break
		}
		// Several schemas of one name come from a tool that is declared again
		// with another one in mid-session.
		all, k := d.schemas[p.id], tools.schema(p.raw)
		if len(all) < maxSchemas && !slices.Contains(all, k) {
			d.schemas[p.id] = append(all, k)
		}
	}
	d.pending = nil
	d.enlistSchemas()
}

// empty reports whether d says nothing at all.
func (d *declarations) empty() bool {
	return len(d.named) == 0 && len(d.mcp) == 0 && len(d.types) == 0 && len(d.schemas) == 0 && !d.odd
}

// maxSchemas bounds the schemas of one name.
const maxSchemas = 8
