package guard

import (
	"path"
	"slices"
	"strings"
)

// Catalog is the set of tools that a request declares: the only source of what
// its response may call. It holds no reference to the body it was read from.
//
// The zero value declares nothing. Reading is safe from many goroutines; the
// Guard that owns it may widen it (rule G6).
type Catalog struct {
	parts []*declarations // shared with other turns: not to be changed
	own   *declarations   // among parts: what the turn's output declared
	count int             // tools declared, and at least the number of parts
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

// Add widens c by what other declares: the union of the client's body and the
// one that goes upstream (G2). It must not be called once a Guard uses c.
func (c *Catalog) Add(other *Catalog) {
	for _, p := range other.parts {
		c.add(p)
	}
}

func (c *Catalog) add(d *declarations) {
	if d.empty() || slices.Contains(c.parts[:min(len(c.parts), maxCompared)], d) {
		return
	}
	c.parts = append(c.parts, d)
	c.count += max(d.count, 1)
}

// maxCompared bounds the search for a part that is there already; one that is
// there twice does no harm.
const maxCompared = 64

// kindsOf returns the forms in which a name was declared, 0 if it was not.
func (c *Catalog) kindsOf(id identity) (k kinds) {
	for _, p := range c.parts {
		k |= p.named[id]
	}
	return k
}

// has reports whether a declared type authorises t, see declareType.
func (c *Catalog) has(t string) bool {
	return slices.ContainsFunc(c.parts, func(p *declarations) bool { return p.types[t] })
}

// schemasOf returns the schemas of a name, in the order of their declaration.
func (c *Catalog) schemasOf(id identity) (all []*Schema) {
	for _, p := range c.parts {
		for _, s := range p.schemas[id] {
			if !slices.Contains(all, s) {
				all = append(all, s)
			}
		}
	}
	return all
}

// inSomeNamespace reports whether a tool of this bare name is declared in a
// namespace, whichever.
func (c *Catalog) inSomeNamespace(name string) bool {
	for _, p := range c.parts {
		for id := range p.named {
			if id.name == name && id.namespace != "" {
				return true
			}
		}
	}
	return false
}

// StandsDown reports that the request has no tool that a client could execute,
// so that its response is not guarded (G8): some upstreams answer a request
// without tools with a call that the client understands, and refusing there
// broke real clients.
func (c *Catalog) StandsDown() bool {
	return !slices.ContainsFunc(c.parts, func(p *declarations) bool { return p.client || p.odd })
}

// Declared lists what is authorised, sorted, each tool once.
func (c *Catalog) Declared() []string {
	all := []string{}
	for _, p := range c.parts {
		for id, k := range p.named {
			if k&itself != 0 {
				all = append(all, id.String())
			}
		}
		for t := range p.types {
			switch t {
			case localShell:
				t = "shell"
			case clientToolSearch:
				t = "tool_search"
			}
			all = append(all, t)
		}
		for label := range p.mcp {
			all = append(all, "mcp:"+label)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// hosted reports whether a custom_tool_call of this name was run upstream: xAI
// reports what it ran for x_search so (G6a), others are named by globs.
func (c *Catalog) hosted(name string, globs []string) bool {
	return isXSearch(name) && c.has("x_search") || MatchesAny(name, globs)
}

// MayBeHosted reports whether a custom_tool_call of this name, of whatever turn,
// can be one that an upstream with these globs ran itself.
func MayBeHosted(name string, globs []string) bool { return isXSearch(name) || MatchesAny(name, globs) }

func isXSearch(name string) bool {
	switch name {
	case "x_keyword_search", "x_semantic_search", "x_user_search", "x_thread_fetch":
		return true
	}
	return false
}

// MatchesAny reports whether one of the globs matches all of a name, of a tool or
// of a model. A slash is a character like any other: "vendor/model" is one name.
func MatchesAny(name string, globs []string) bool {
	flat := func(s string) string { return strings.ReplaceAll(s, "/", "\x00") } // for package path a slash is not
	return slices.ContainsFunc(globs, func(g string) bool {
		ok, err := path.Match(flat(g), flat(name))
		return ok && err == nil
	})
}

// approvable reports whether a server with this label is declared that allows
// the name.
func (c *Catalog) approvable(label, name string) bool {
	return slices.ContainsFunc(c.parts, func(p *declarations) bool {
		allowed, ok := p.mcp[label]
		return ok && (allowed == nil || slices.Contains(allowed, name))
	})
}
