package guard

import (
	"strings"

	"github.com/tidwall/gjson"
)

// judge looks at every carrier of an event or answer (G11), whatever its type
// says, and returns the first refusal. declares says that clients take the
// items in it for output, so that they may widen the catalog.
func (g *Guard) judge(root gjson.Result, eventLine string, declares bool) *Refusal {
	const typ, item, output, response = 0, 1, 2, 3
	names := [...]string{"type", "item", "output", "response"}
	var top [len(names)]readings
	ok := members(root, names[:], top[:])
	for _, r := range top {
		declares = declares && len(r) <= 1
	}

	for _, t := range append(top[typ], gjson.Result{Type: gjson.String, Str: eventLine}) {
		if r := g.argumentsEvent(t.Str, root); r != nil {
			return r
		}
	}
	if r := g.item(root, place{}); r != nil {
		return r
	}
	carriers := append(top[item], top[output]...)
	for _, v := range top[response] {
		var in [1]readings
		ok = members(v, []string{"output"}, in[:]) && ok
		declares = declares && len(in[0]) <= 1
		carriers = append(carriers, in[0]...)
	}
	for _, v := range carriers {
		if r := g.carrier(v, place{listed: true, declares: declares}); r != nil {
			return r
		}
	}
	if !ok {
		return g.found(unreadable(g.catalog, repeatsKeys))
	}
	return nil
}

const repeatsKeys = "an event that repeats keys around what could be a call"

// place says where an item was found.
type place struct {
	listed   bool // where output items belong
	declares bool // and where all readers see it
}

// carrier judges an item, or a list of items in order.
func (g *Guard) carrier(v gjson.Result, at place) (r *Refusal) {
	if !v.IsArray() {
		return g.item(v, at)
	}
	v.ForEach(func(_, item gjson.Result) bool {
		if item.IsArray() {
			r = g.illTyped(item)
		} else {
			r = g.item(item, at)
		}
		return r == nil
	})
	return r
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
		declared := g.catalog.types[localShell] || g.catalog.types["shell"]
		return g.typedCall("shell_call", &m, declared)
	case strings.Contains(typ, "apply_patch_call_operation_diff."):
		return g.typedCall("apply_patch_call", &m, g.catalog.types["apply_patch"])
	case strings.Contains(typ, "_arguments."), strings.Contains(typ, "_input."),
		strings.Contains(typ, "_command."), strings.Contains(typ, "_diff."):
	default:
		return nil
	}
	if !members(root, itemKeyNames[:], m[:]) {
		return g.found(unreadable(g.catalog, repeatsKeys))
	}
	if g.namesNoCall(&m) {
		return nil
	}
	if strings.Contains(typ, "custom_tool_call_input.") {
		return g.namedCall("custom_tool_call", &m)
	}
	return g.namedCall("function_call", &m)
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
