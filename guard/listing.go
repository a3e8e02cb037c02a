package guard

import "iter"

// ToolList is the named tools of one list that a request declared, for whoever
// shows them. The same bytes give the same ToolList for as long as a [Tools]
// remembers them. It does not change.
type ToolList struct{ Tools []Tool }

// Tool is a named tool as a request declared it.
type Tool struct {
	Namespace   string
	Name        string
	Description string  // at most 300 characters, fit to be shown
	Schema      *Schema // nil if it has none, or if none are kept
}

// maxDescription bounds a tool's description, in characters.
const maxDescription = 300

// Lists gives the lists of tools that c was read from, those that declare
// nothing with a name aside.
func (c *Catalog) Lists() iter.Seq[*ToolList] {
	return func(yield func(*ToolList) bool) {
		for _, p := range c.parts {
			if p != c.own && len(p.listing.Tools) > 0 && !yield(&p.listing) {
				return
			}
		}
	}
}

// enlist notes a tool for the listing.
func (d *declarations) enlist(id identity, t tool) {
	d.listing.Tools = append(d.listing.Tools, Tool{
		Namespace: id.namespace, Name: id.name, Description: Shown(t.description, maxDescription),
	})
}

// enlistSchemas gives the tools of the listing their schemas: of several, the
// one that was declared last.
func (d *declarations) enlistSchemas() {
	for i := range d.listing.Tools {
		t := &d.listing.Tools[i]
		if all := d.schemas[identity{t.Namespace, t.Name}]; len(all) > 0 {
			t.Schema = all[len(all)-1]
		}
	}
}

// Size is the number of bytes that the schema takes.
func (k *Schema) Size() int { return len(k.raw) }
