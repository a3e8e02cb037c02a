package guard

import (
	"strings"

	"github.com/tidwall/gjson"
)

// judge looks at every carrier of an event or answer (G11), whatever its type
// says, and returns the first refusal. eventLine is a further reading of the
// type, "" if there is none.
func (g *Guard) judge(root gjson.Result, eventLine string) *Refusal {
	const typ, item, output, response = 0, 1, 2, 3
	names := [...]string{"type", "item", "output", "response"}
	var top [len(names)]readings
	ok := members(root, names[:], top[:])
	at := place{listed: true, declares: true}
	for _, r := range top {
		at.declares = at.declares && len(r) <= 1
	}
	inItem, inOutput, knownKind := at, at, false
	types := top[typ]
	if !types.has(eventLine) {
		types = append(types, gjson.Result{Type: gjson.String, Str: eventLine})
	}
	itself := false // the event could be an item
	for _, t := range types {
		itself = itself || t.Str != "" && !strings.HasPrefix(t.Str, "response.")
		if r := g.argumentsEvent(t.Str, root); r != nil {
			return r
		}
		kind := kindOfEvent(t.Str)
		inItem.complete = inItem.complete || kind == KindItemDone
		inOutput.complete = inOutput.complete || kind == KindCompleted
		inItem.announced = inItem.announced || kind == KindItem
		knownKind = knownKind || kind != KindOther
	}
	inItem.declares, inOutput.declares = at.declares && knownKind, at.declares && knownKind
	if inItem.announced {
		inItem.event = root
	}
	if itself {
		if r := g.item(root, place{}); r != nil {
			return r
		}
	}
	for _, v := range top[item] {
		if r := g.carrier(v, inItem); r != nil {
			return r
		}
	}
	outputs := top[output]
	for _, v := range top[response] {
		var in [1]readings
		ok = members(v, []string{"output"}, in[:]) && ok
		inOutput.declares = inOutput.declares && len(in[0]) <= 1
		outputs = append(outputs, in[0]...)
	}
	for _, v := range outputs {
		if r := g.carrier(v, inOutput); r != nil {
			return r
		}
	}
	if !ok {
		return g.found(g.unreadable(repeatsKeys))
	}
	return nil
}

const repeatsKeys = "an event that repeats keys around what could be a call"

// place says where an item was found.
type place struct {
	listed    bool         // where output items belong
	declares  bool         // and where all readers see it
	complete  bool         // in what a client executes: arguments are whole
	announced bool         // in an output_item.added,
	event     gjson.Result // which is this
}

// noEvent is an event line that says nothing.
const noEvent = ""

// answerEvent is the event that a JSON answer corresponds to.
func answerEvent(e *outline) string {
	switch string(e.status) {
	case `"incomplete"`:
		return "response.incomplete"
	case `"failed"`, `"cancelled"`:
		return "response.failed"
	}
	return "response.completed"
}

// carrier judges an item, or a list of items in order.
func (g *Guard) carrier(v gjson.Result, at place) *Refusal {
	if !v.IsArray() {
		return g.item(v, at)
	}
	for item := range elements(v) {
		var r *Refusal
		if item.IsArray() {
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
func (g *Guard) argumentsEvent(typ string, root gjson.Result) *Refusal {
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
	if !members(root, itemKeyNames[:], m[:]) {
		return g.found(g.unreadable(repeatsKeys))
	}
	// The end of the arguments is judged if it has any; the item is, anyway.
	complete := strings.HasSuffix(typ, "_arguments.done") && !m[keyArguments].null() && !m[keyArguments].has("")
	if g.namesNoCall(&m) {
		if call, ok := g.announced[root.Get("output_index").Raw]; ok && complete && !call.unclear {
			return g.argumentsOf(call, &m)
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
