package guard

import (
	"strings"

	"github.com/tidwall/gjson"
)

// The keys of an output item that decide about a call.
const (
	keyType = iota
	keyName
	keyNamespace
	keyCallID
	keyID
	keyExecution
	keyEnvironment
	keyServerLabel
	keyTools
	itemKeyCount
)

var itemKeyNames = [itemKeyCount]string{"type", "name", "namespace", "call_id", "id",
	"execution", "environment", "server_label", "tools"}

// itemReadings is an output item as all readers together see it.
type itemReadings [itemKeyCount]readings

// judge looks at every carrier of an event or answer (G11), whatever its type
// says, and returns the first refusal.
func (g *Guard) judge(root gjson.Result, eventLine string) *Refusal {
	const typ, item, output, response = 0, 1, 2, 3
	names := [...]string{"type", "item", "output", "response"}
	var top [len(names)]readings
	members(root, names[:], top[:])

	for _, t := range append(top[typ], gjson.Result{Type: gjson.String, Str: eventLine}) {
		if r := g.argumentsEvent(t.Str, root); r != nil {
			return r
		}
	}
	if r := g.item(root, false); r != nil {
		return r
	}
	carriers := append(top[item], top[output]...)
	for _, v := range top[response] {
		var in [1]readings
		members(v, []string{"output"}, in[:])
		carriers = append(carriers, in[0]...)
	}
	for _, v := range carriers {
		if r := g.carrier(v); r != nil {
			return r
		}
	}
	return nil
}

// carrier judges an item, or a list of items in order.
func (g *Guard) carrier(v gjson.Result) (r *Refusal) {
	if !v.IsArray() {
		return g.item(v, true)
	}
	v.ForEach(func(_, item gjson.Result) bool {
		r = g.item(item, true)
		return r == nil
	})
	return r
}

// item judges one output item: the one verdict, whatever carried it.
func (g *Guard) item(v gjson.Result, listed bool) *Refusal {
	var m itemReadings
	members(v, itemKeyNames[:], m[:])
	types, _ := m[keyType].strings()
	for _, t := range types {
		if r := g.itemAs(t, &m, listed); r != nil {
			return r
		}
	}
	return nil
}

// itemAs judges an item under one reading of its type. Where other keys have
// several readings, each of them must be authorised.
func (g *Guard) itemAs(typ string, m *itemReadings, listed bool) *Refusal {
	c := g.catalog
	switch typ {
	case "function_call", "custom_tool_call":
		return g.namedCall(typ, m)
	case "local_shell_call":
		return g.typedCall(typ, m, c.types["local_shell"])
	case "shell_call":
		return g.typedCall(typ, m, c.types[localShell] || !mayBeLocal(m[keyEnvironment]))
	case "apply_patch_call":
		return g.typedCall(typ, m, c.types["apply_patch"])
	case "computer_call":
		return g.typedCall(typ, m, c.types["computer"] || c.types["computer_use_preview"])
	case "tool_search_call":
		return g.typedCall(typ, m, c.types[clientToolSearch] || !m[keyExecution].has("client"))
	case "mcp_approval_request":
		return g.approval(typ, m)
	case "tool_search_output", "additional_tools":
		g.widen(m[keyTools])
	case "web_search_call", "file_search_call", "code_interpreter_call", "image_generation_call",
		"mcp_call", "x_search_call", "code_execution_call", "multi_agent_call":
	default:
		if listed && strings.HasSuffix(typ, "_call") && m[keyCallID].first() != "" {
			g.unusual("unknown_call", typ+"\x00"+m[keyCallID].first())
		}
	}
	return nil
}

// namedCall judges a call by (namespace, name).
func (g *Guard) namedCall(typ string, m *itemReadings) *Refusal {
	names, ok := m[keyName].strings()
	if !ok || len(names) == 0 || contains(names, "") {
		return g.found(undeclared(g.catalog, typ, m, "", true))
	}
	namespaces, ok := namespacesOf(m[keyNamespace])
	for _, name := range names {
		for _, ns := range namespaces {
			if !ok || !g.authorised(typ, newIdentity(ns, name), m) {
				if r := g.found(undeclared(g.catalog, typ, m, name, true)); r != nil {
					return r
				}
			}
		}
	}
	return nil
}

// namespacesOf returns the namespaces that a call can be read to name; absent
// and null are "". ok is false if one is not a string.
func namespacesOf(r readings) (all []string, ok bool) {
	all, ok = r.strings()
	for _, v := range r {
		if v.Type == gjson.Null && !contains(all, "") {
			all = append(all, "")
		}
	}
	if len(all) == 0 {
		all = append(all, "")
	}
	return all, ok
}

func (g *Guard) authorised(typ string, id identity, m *itemReadings) bool {
	declared, ok := g.catalog.named[id]
	if !ok {
		return typ == "custom_tool_call" && id.namespace == "" && g.catalog.hosted(id.name, g.opt.HostedCalls)
	}
	if typ == "function_call" && declared == kindCustom || typ == "custom_tool_call" && declared == kindFunction {
		g.unusual("kind_mismatch", id.String()+"\x00"+m[keyCallID].first())
	}
	return true
}

// typedCall judges a call that the type of a declared tool authorises.
func (g *Guard) typedCall(typ string, m *itemReadings, authorised bool) *Refusal {
	if authorised {
		return nil
	}
	return g.found(undeclared(g.catalog, typ, m, "", false))
}

// mayBeLocal reports whether some reading of a shell_call's environment means
// that the client runs it. Only an object that names another type does not.
func mayBeLocal(environments readings) bool {
	if len(environments) == 0 {
		return true
	}
	for _, v := range environments {
		var typ [1]readings
		members(v, []string{"type"}, typ[:])
		names, ok := typ[0].strings()
		if !ok || len(names) == 0 || contains(names, "local") {
			return true
		}
	}
	return false
}

// approval judges a request to approve a call of an MCP server's tool.
func (g *Guard) approval(typ string, m *itemReadings) *Refusal {
	labels, okLabel := m[keyServerLabel].strings()
	names, okName := m[keyName].strings()
	if !okLabel || !okName || len(labels) == 0 || len(names) == 0 {
		return g.found(undeclared(g.catalog, typ, m, "", true))
	}
	for _, label := range labels {
		for _, name := range names {
			if !g.catalog.approvable(label, name) {
				if r := g.found(undeclared(g.catalog, typ, m, name, true)); r != nil {
					return r
				}
			}
		}
	}
	return nil
}

// widen adds the tools that an output item declares, if a search for tools was
// among what the request declared (G6): otherwise an upstream could authorise
// itself.
func (g *Guard) widen(tools readings) {
	if !g.catalog.types["tool_search"] {
		return
	}
	for _, v := range tools {
		g.catalog.declareAll([]byte(v.Raw))
	}
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
	members(root, itemKeyNames[:], m[:])
	if len(m[keyName]) == 0 || allNull(m[keyName]) {
		return nil
	}
	if strings.Contains(typ, "custom_tool_call_input.") {
		return g.namedCall("custom_tool_call", &m)
	}
	return g.namedCall("function_call", &m)
}

func allNull(r readings) bool {
	for _, v := range r {
		if v.Type != gjson.Null {
			return false
		}
	}
	return true
}
