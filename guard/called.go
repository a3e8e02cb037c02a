package guard

import "strings"

// called says which call arguments belong to.
type called struct {
	identity
	typ string // of the item
	// As the upstream wrote them, "" if it did not. said is the namespace.
	said, callID, itemID string
}

func calledAs(typ string, id identity, m *itemReadings) called {
	return called{id, typ, m[keyNamespace].first(), m[keyCallID].first(), m[keyID].first()}
}

// announced is a call as its output_item.added told it.
type announced struct {
	called
	unclear bool // another call has the same output index
	open    int  // items announced at the index that are not done
}

// unclear makes an output index say nothing: another item was announced at it.
func (g *Guard) unclear(index value) {
	if c := g.announced[string(index)]; c != nil {
		c.unclear = true
		c.open++
	}
}

// finished notes that an item at an output index is done. When all are, the index
// is free: some providers use it for the next.
func (g *Guard) finished(index value) {
	if c := g.announced[string(index)]; c != nil {
		if c.open--; c.open <= 0 {
			delete(g.announced, string(index))
		}
	}
}

// announce remembers which call an output_item.added announced, for the events
// of its arguments, which do not name it. Some providers change ids from event
// to event; the output index is what stays. Others give every item the same
// index: then it says nothing, and only the finished items are judged.
func (g *Guard) announce(index value, c called) {
	before := g.announced[string(index)]
	if !g.judgesArguments() || !index.isNumber() || len(index) >= maxShown || before == nil && len(g.announced) >= maxTold {
		return
	}
	if g.announced == nil {
		g.announced = map[string]*announced{}
	}
	unclear, open := false, 1
	if before != nil {
		unclear, open = before.unclear || before.identity != c.identity, before.open+1
	}
	// What is kept must not lie in the frame, and is bounded.
	c.typ = strings.Clone(c.typ)
	c.identity = identity{strings.Clone(c.namespace), strings.Clone(c.name)}
	c.said, c.callID, c.itemID = c.namespace, shown(c.callID), shown(c.itemID)
	g.announced[string(index)] = &announced{c, unclear, open}
}
