package guard

import (
	"slices"
	"strings"
)

// carriers are the places of an event, or of an answer, where a call can stand
// (G11), as all readers together see them.
type carriers struct {
	types   []string // as the data says; "" for one that is no string
	items   readings // what "item" holds
	outputs readings // what "output" holds, and that of "response"
	index   value    // the output index, nil if there is none or several

	differs bool // readers could see different ones at the top,
	nested  bool // or in the response
	repeats bool // some key is repeated too often to be judged
}

// reset forgets everything but the room that it took.
func (c *carriers) reset() {
	clear(c.types)
	clear(c.items)
	clear(c.outputs)
	*c = carriers{types: c.types[:0], items: c.items[:0], outputs: c.outputs[:0]}
}

// read looks for carriers in root as closely as can be.
func (c *carriers) read(root value) {
	const typ, item, output, response, index = 0, 1, 2, 3, 4
	names := [...]string{"type", "item", "output", "response", "output_index"}
	var top [len(names)]readings
	c.repeats = !root.members(names[:], top[:])
	for _, r := range top[:index] {
		c.differs = c.differs || len(r) > 1
	}
	for _, v := range top[typ] {
		c.types = append(c.types, v.text())
	}
	c.items, c.outputs = append(c.items, top[item]...), append(c.outputs, top[output]...)
	for _, v := range top[response] {
		var in [1]readings
		c.repeats = !v.members([]string{"output"}, in[:]) || c.repeats
		c.nested = c.nested || len(in[0]) > 1
		c.outputs = append(c.outputs, in[0]...)
	}
	if len(top[index]) == 1 {
		c.index = top[index][0]
	}
}

// outlined takes the carriers from an outline that found nothing odd.
func (c *carriers) outlined(e *outline) {
	c.types = append(c.types, e.typ)
	if e.item != nil {
		c.items = append(c.items, e.item)
	}
	for _, v := range []value{e.output, e.nested.output} {
		if v != nil {
			c.outputs = append(c.outputs, v)
		}
	}
	c.index = e.index
}

// judge looks at every carrier of an event or answer, whatever its type says,
// and returns the first refusal. eventLine is a further reading of the type, ""
// if there is none. e is the outline of root; nil to look more closely.
func (g *Guard) judge(root value, e *outline, eventLine string) *Refusal {
	c := &g.carriers
	c.reset() // several lines of data are judged one by one
	if e != nil && !e.odd {
		c.outlined(e)
	} else {
		c.read(root)
	}
	at := place{listed: true, declares: !c.differs}
	inItem, inOutput, knownKind := at, at, false
	if !slices.Contains(c.types, eventLine) {
		c.types = append(c.types, eventLine)
	}
	itself := false // the event could be an item
	for _, t := range c.types {
		itself = itself || t != "" && !strings.HasPrefix(t, "response.")
		if r := g.argumentsEvent(t, root, c.index); r != nil {
			return r
		}
		kind := kindOfEvent(t)
		inItem.complete = inItem.complete || kind == KindItemDone
		inOutput.complete = inOutput.complete || kind == KindCompleted
		inItem.announced = inItem.announced || kind == KindItem
		knownKind = knownKind || kind != KindOther
	}
	inItem.declares = at.declares && knownKind
	inOutput.declares = at.declares && knownKind && !c.nested
	inItem.index = c.index
	if itself {
		if r := g.item(root, place{}); r != nil {
			return r
		}
	}
	for _, v := range c.items {
		if r := g.carrier(v, inItem); r != nil {
			return r
		}
	}
	if inItem.complete {
		g.finished(c.index)
	}
	for _, v := range c.outputs {
		if r := g.carrier(v, inOutput); r != nil {
			return r
		}
	}
	if c.repeats {
		return g.found(g.unreadable(repeatsKeys))
	}
	return nil
}

const repeatsKeys = "an event that repeats keys around what could be a call"

// place says where an item was found.
type place struct {
	listed    bool  // where output items belong
	declares  bool  // and where all readers see it
	complete  bool  // in what a client executes: arguments are whole
	announced bool  // in an output_item.added
	index     value // its output index
}

// noEvent is an event line that says nothing.
const noEvent = ""

// carrier judges an item, or a list of items in order.
func (g *Guard) carrier(v value, at place) *Refusal {
	if !v.isArray() {
		return g.item(v, at)
	}
	for item := range v.elements() {
		var r *Refusal
		if item.isArray() {
			r = g.illTyped(item)
		} else {
			r = g.item(item, at)
		}
		if r != nil {
			return r
		}
	}
	return nil
}

// argumentsEvent judges an event of the arguments family by the call that it
// names, if it does: "response.function_call_arguments.done" may carry a name,
// the commands of a shell call and the diff of a patch say it by their type.
func (g *Guard) argumentsEvent(typ string, root, index value) *Refusal {
	var m itemReadings
	switch {
	case strings.Contains(typ, "mcp_call_arguments."):
		return nil
	case strings.Contains(typ, "shell_call_command."):
		declared := g.catalog.has(localShell) || g.catalog.has("shell")
		return g.typedCall("shell_call", &m, declared)
	case strings.Contains(typ, "apply_patch_call_operation_diff."):
		return g.typedCall("apply_patch_call", &m, g.catalog.has("apply_patch"))
	case strings.Contains(typ, "_arguments."), strings.Contains(typ, "_input."),
		strings.Contains(typ, "_command."), strings.Contains(typ, "_diff."):
	default:
		return nil
	}
	if !root.members(itemKeyNames[:], m[:]) {
		return g.found(g.unreadable(repeatsKeys))
	}
	// The end of the arguments is judged if it has any; the item is, anyway.
	complete := strings.HasSuffix(typ, "_arguments.done") && !m[keyArguments].null() && !m[keyArguments].has("")
	if g.namesNoCall(&m) {
		if call := g.announced[string(index)]; call != nil && complete && !call.unclear {
			return g.arguments(call.called, &m)
		}
		return nil
	}
	if strings.Contains(typ, "custom_tool_call_input.") {
		return g.namedCall("custom_tool_call", &m, place{})
	}
	return g.namedCall("function_call", &m, place{complete: complete})
}

// namesNoCall reports whether an event of the arguments family leaves it to the
// item to say which call it is part of: it has no name or an empty one, or it
// has the bare name of a tool in a namespace and, as such events do, no
// namespace. What the client executes is the item, which is judged by itself.
func (g *Guard) namesNoCall(m *itemReadings) bool {
	names, ok := m[keyName].strings()
	for _, n := range names {
		if n != "" && (len(m[keyNamespace]) > 0 || !g.catalog.inSomeNamespace(n)) {
			return false
		}
	}
	return ok
}
