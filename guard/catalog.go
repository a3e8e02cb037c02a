package guard

import (
	"path"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// Catalog is the set of tools that a request declares: the only source of what
// its response may call. It holds no reference to the body it was read from.
//
// The zero value declares nothing. Reading is safe from many goroutines; the
// Guard that owns it may widen it (rule G6).
type Catalog struct {
	named map[identity]kinds
	mcp   map[string][]string // server label -> allowed names; nil: every name
	types map[string]bool     // what authorises the nameless calls, see typeOf

	pending []declared             // schemas that Keep has not taken yet
	schemas map[identity][]*Schema // of functions and of MCP servers' tools

	client bool // something that the client executes is declared
	odd    bool // tools were given in a form that declares nothing readable
}

// identity names a tool. The namespaces "" and "functions" are one (G4).
type identity struct{ namespace, name string }

func newIdentity(namespace, name string) identity {
	if namespace == "functions" {
		namespace = ""
	}
	return identity{namespace, name}
}

// String is the form in which a tool is listed to a reader: the flattened one.
func (i identity) String() string {
	if i.namespace == "" {
		return i.name
	}
	return i.namespace + "__" + i.name
}

// kinds is the set of forms in which a name was declared.
type kinds uint8

const (
	kindFunction kinds = 1 << iota
	kindCustom
	kindOther

	itself // declared so, and not only the flattened form of another
)

func kindOf(typ string) kinds {
	switch typ {
	case "function":
		return kindFunction
	case "custom":
		return kindCustom
	}
	return kindOther
}

// tool is one tool object as a body declares it.
type tool struct {
	typ, name, chatName string
	execution           string
	environment         string
	serverLabel         string
	allowed             []string // nil: no list
	schema, chatSchema  jsontext.Value
	inputSchema         jsontext.Value // of an MCP server's tool
	inner               []tool         // of a namespace
}

// declare adds a tool of the top level of a tools list.
func (c *Catalog) declare(t tool) {
	if t.typ == "namespace" {
		for _, in := range t.inner {
			c.declareIn(t.name, in)
		}
		return
	}
	c.declareIn("", t)
	c.declareType(t)
}

// declareIn adds a named tool under its namespace and, flattened, without one.
// Its bare name is not added: the client routes by the explicit namespace and
// would drop the call.
func (c *Catalog) declareIn(namespace string, t tool) {
	for _, name := range []string{t.name, t.chatName} {
		if name == "" {
			continue
		}
		c.client = true
		ids := []identity{newIdentity(namespace, name)}
		c.add(ids[0], kindOf(t.typ)|itself)
		if namespace != "" {
			ids = append(ids, identity{"", namespace + "__" + name})
			c.add(ids[1], kindOf(t.typ))
		}
		for _, id := range ids {
			c.declareSchema(id, t)
		}
	}
}

// declareSchema notes the schema of a function, if it has one.
func (c *Catalog) declareSchema(id identity, t tool) {
	for _, raw := range []jsontext.Value{t.schema, t.chatSchema} {
		if t.typ == "function" && len(raw) > 0 && raw[0] != 'n' {
			c.pending = append(c.pending, declared{id, raw})
		}
	}
}

func (c *Catalog) add(id identity, k kinds) {
	if c.named == nil {
		c.named = map[identity]kinds{}
	}
	c.named[id] |= k
}

func (c *Catalog) addType(typ string) {
	if c.types == nil {
		c.types = map[string]bool{}
	}
	c.types[typ] = true
}

// inSomeNamespace reports whether a tool of this bare name is declared, whatever
// its namespace.
func (c *Catalog) inSomeNamespace(name string) bool {
	for id := range c.named {
		if id.name == name {
			return true
		}
	}
	return false
}

// declareType notes what a tool's type alone authorises.
func (c *Catalog) declareType(t tool) {
	typ := t.typ
	switch typ {
	case "local_shell", "apply_patch", "computer", "computer_use_preview":
		c.client = true
	case "shell":
		// Without an environment, or with one that is not hosted, the client
		// runs it.
		if t.environment == "" || t.environment == "local" {
			typ = localShell
			c.client = true
		}
	case "tool_search":
		c.addType(typ)
		if t.execution == "client" {
			typ = clientToolSearch
			c.client = true
		}
	case "mcp":
		c.client = true
		c.declareServer(t)
		return
	case "x_search":
	default:
		return
	}
	c.addType(typ)
}

// What a declared type authorises where the type alone does not say it.
const (
	localShell       = "shell with a local environment"
	clientToolSearch = "tool_search executed by the client"
)

func (c *Catalog) declareServer(t tool) {
	if c.mcp == nil {
		c.mcp = map[string][]string{}
	}
	before, again := c.mcp[t.serverLabel]
	switch {
	case t.allowed == nil, again && before == nil:
		c.mcp[t.serverLabel] = nil
	default:
		if !again {
			before = []string{} // not nil, and not the other catalog's
		}
		c.mcp[t.serverLabel] = append(before, t.allowed...)
	}
}

// misshapen notes that tools came in a form that cannot be read. Such a request
// is guarded with what else it declares.
func (c *Catalog) misshapen() { c.odd = true }

// Add widens c by what other declares: the union of the client's body and the
// one that goes upstream (G2). It must not be called once a Guard uses c.
func (c *Catalog) Add(other *Catalog) {
	for id, k := range other.named {
		c.add(id, k)
	}
	for t := range other.types {
		c.addType(t)
	}
	for label, allowed := range other.mcp {
		c.declareServer(tool{serverLabel: label, allowed: allowed})
	}
	c.pending = append(c.pending, other.pending...)
	c.client = c.client || other.client
	c.odd = c.odd || other.odd
}

// StandsDown reports that the request has no tool that a client could execute,
// so that its response is not guarded (G8): some upstreams answer a request
// without tools with a call that the client understands, and refusing there
// broke real clients.
func (c *Catalog) StandsDown() bool { return !c.client && !c.odd }

// Declared lists what is authorised, sorted, each tool once.
func (c *Catalog) Declared() []string {
	all := make([]string, 0, len(c.named)+len(c.types))
	for id, k := range c.named {
		if k&itself != 0 {
			all = append(all, id.String())
		}
	}
	for t := range c.types {
		switch t {
		case localShell:
			t = "shell"
		case clientToolSearch:
			t = "tool_search"
		}
		all = append(all, t)
	}
	for label := range c.mcp {
		all = append(all, "mcp:"+label)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// hosted reports whether a custom_tool_call of this name was run upstream: xAI
// reports what it ran for x_search so (G6a), others are named by globs.
func (c *Catalog) hosted(name string, globs []string) bool {
	switch name {
	case "x_keyword_search", "x_semantic_search", "x_user_search", "x_thread_fetch":
		if c.types["x_search"] {
			return true
		}
	}
	return slices.ContainsFunc(globs, func(g string) bool {
		ok, err := path.Match(g, name)
		return ok && err == nil
	})
}

// approvable reports whether a server with this label is declared that allows
// the name.
func (c *Catalog) approvable(label, name string) bool {
	allowed, ok := c.mcp[label]
	return ok && (allowed == nil || slices.Contains(allowed, name))
}
