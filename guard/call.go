package guard

import (
	"slices"
	"strings"
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
	keyArguments
	keyStatus
	itemKeyCount
)

var itemKeyNames = [itemKeyCount]string{"type", "name", "namespace", "call_id", "id",
	"execution", "environment", "server_label", "tools", "arguments", "status"}

// itemReadings is an output item as all readers together see it.
type itemReadings [itemKeyCount]readings

// illTyped refuses a list where an item or its type belongs, if it could be a
// call to a reader that flattens lists or compares loosely.
func (g *Guard) illTyped(v value) *Refusal {
	if evidenceFree(v) {
		return nil
	}
	return g.found(g.unreadable("a list where an output item or its type belongs"))
}

// item judges one output item: the one verdict, whatever carried it.
func (g *Guard) item(v value, at place) *Refusal {
	var m itemReadings
	ok := v.members(itemKeyNames[:], m[:])
	if at.announced && !m[keyType].has("function_call") {
		g.unclear(at.index)
	}
	types, _ := m[keyType].strings()
	for _, t := range types {
		if r := g.itemAs(t, &m, at); r != nil {
			return r
		}
	}
	for _, t := range m[keyType] {
		if at.listed && t.isArray() {
			if r := g.illTyped(t); r != nil {
				return r
			}
		}
	}
	if !ok && !evidenceFree(v) {
		return g.found(g.unreadable(repeatsKeys))
	}
	return nil
}

// itemAs judges an item under one reading of its type. Where other keys have
// several readings, each of them must be authorised.
func (g *Guard) itemAs(typ string, m *itemReadings, at place) *Refusal {
	c := g.catalog
	switch typ {
	case "function_call", "custom_tool_call":
		return g.namedCall(typ, m, at)
	case "local_shell_call":
		return g.typedCall(typ, m, c.has("local_shell"))
	case "shell_call":
		return g.typedCall(typ, m, c.has(localShell) || !mayBeLocal(m[keyEnvironment]))
	case "apply_patch_call":
		return g.typedCall(typ, m, c.has("apply_patch"))
	case "computer_call":
		return g.typedCall(typ, m, c.has("computer") || c.has("computer_use_preview"))
	case "tool_search_call":
		return g.typedCall(typ, m, c.has(clientToolSearch) || !m[keyExecution].has("client"))
	case "mcp_approval_request":
		return g.approval(typ, m, at)
	case "mcp_list_tools":
		g.listTools(m)
	case "tool_search_output", "additional_tools":
		if at.declares && len(m[keyType]) == 1 && len(m[keyTools]) == 1 {
			g.widen(m[keyTools][0])
		}
	case "web_search_call", "file_search_call", "code_interpreter_call", "image_generation_call",
		"mcp_call", "x_search_call", "code_execution_call", "multi_agent_call":
	default:
		if at.listed && strings.HasSuffix(typ, "_call") && m[keyCallID].first() != "" {
			g.unusual("unknown_call", shown(typ)+"\x00"+shown(m[keyCallID].first()))
		}
	}
	return nil
}

// namedCall judges a call by (namespace, name), and by its arguments once they
// are complete.
func (g *Guard) namedCall(typ string, m *itemReadings, at place) *Refusal {
	names, ok := m[keyName].strings()
	if !ok || m[keyName].null() || slices.Contains(names, "") {
		return g.found(g.undeclared(typ, m, identity{"", m[keyName].first()}, true))
	}
	namespaces, ok := namespacesOf(m[keyNamespace])
	for _, name := range names {
		for _, ns := range namespaces {
			id := newIdentity(ns, name)
			if !ok || !g.authorised(typ, id, m) {
				if at.announced {
					g.unclear(at.index)
				}
				if r := g.found(g.undeclared(typ, m, identity{ns, name}, true)); r != nil {
					return r
				}
				continue
			}
			if at.announced && typ == "function_call" {
				g.announce(at.index, calledAs(typ, id, m))
			}
			if typ == "function_call" && at.complete && g.catalog.kindsOf(id)&kindFunction != 0 {
				if r := g.arguments(calledAs(typ, id, m), m); r != nil {
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
	if (r.null() || len(all) == 0) && !slices.Contains(all, "") {
		all = append(all, "")
	}
	return all, ok
}

func (g *Guard) authorised(typ string, id identity, m *itemReadings) bool {
	declared := g.catalog.kindsOf(id)
	if declared == 0 {
		return typ == "custom_tool_call" && id.namespace == "" && g.catalog.hosted(id.name, g.opt.HostedCalls)
	}
	declared &^= itself
	if typ == "function_call" && declared == kindCustom || typ == "custom_tool_call" && declared == kindFunction {
		g.unusual("kind_mismatch", id.String()+"\x00"+shown(m[keyCallID].first()))
	}
	return true
}

// typedCall judges a call that the type of a declared tool authorises.
func (g *Guard) typedCall(typ string, m *itemReadings, authorised bool) *Refusal {
	if authorised {
		return nil
	}
	return g.found(g.undeclared(typ, m, identity{}, false))
}

// mayBeLocal reports whether some reading of a shell_call's environment means
// that the client runs it. Only an object that names another type does not.
func mayBeLocal(environments readings) bool {
	if len(environments) == 0 {
		return true
	}
	for _, v := range environments {
		var typ [1]readings
		unambiguous := v.members([]string{"type"}, typ[:])
		names, ok := typ[0].strings()
		if !ok || !unambiguous || typ[0].null() || slices.Contains(names, "local") {
			return true
		}
	}
	return false
}

// approval judges a request to approve a call of an MCP server's tool.
func (g *Guard) approval(typ string, m *itemReadings, at place) *Refusal {
	labels, okLabel := m[keyServerLabel].strings()
	names, okName := m[keyName].strings()
	if !okLabel || !okName || m[keyServerLabel].null() || m[keyName].null() || slices.Contains(names, "") {
		return g.found(g.undeclared(typ, m, identity{"", m[keyName].first()}, true))
	}
	for _, label := range labels {
		for _, name := range names {
			if !g.catalog.approvable(label, name) {
				if r := g.found(g.undeclared(typ, m, identity{"", name}, true)); r != nil {
					return r
				}
			}
			if r := g.approvalArguments(typ, ofServer(label, name), m, at); r != nil {
				return r
			}
		}
	}
	return nil
}

// widen adds the tools that an output item declares, if a search for tools was
// among what the request declared (G6): otherwise an upstream could authorise
// itself.
func (g *Guard) widen(tools value) {
	if g.widened += len(tools); g.LoadsTools() {
		g.learn(tools, (*declarations).declare)
	}
}

// learn adds what a raw list of tools in the output comes to.
func (g *Guard) learn(tools value, declare func(*declarations, tool)) {
	g.declared = nil
	g.catalog.widen(tools, g.opt.Tools, declare)
}

// LoadsTools reports whether what the turn's output declares counts (G6), as it
// then does in turns that continue this one (R14).
func (g *Guard) LoadsTools() bool {
	return g.catalog.has("tool_search") && g.widened <= maxWidened
}

// maxWidened bounds the declarations that a turn's output may add, in bytes.
const maxWidened = 16 << 20
