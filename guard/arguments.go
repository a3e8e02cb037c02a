package guard

import (
	"fmt"
	"hash/maphash"
	"strings"

	"github.com/tidwall/gjson"

	"turngate/guard/schema"
)

// arguments judges what a declared function is called with, once it is complete
// (A1). Where the arguments have several readings, or the name was declared
// with several schemas, each reading must satisfy one of the schemas.
func (g *Guard) arguments(typ string, id identity, m *itemReadings) *Refusal {
	if g.opt.Tools == nil || g.opt.Arguments == Off {
		return nil
	}
	if m[keyStatus].has("incomplete") {
		return g.doomed(typ, id, m, schema.Verdict{Outcome: schema.Invalid,
			Problems: []schema.Problem{{Message: "the call is incomplete"}}}, g.opt.Arguments)
	}
	return g.judgeArguments(typ, id, m, g.opt.Arguments)
}

// judgeArguments judges the arguments of a call, or of a call that a person is
// asked to approve.
func (g *Guard) judgeArguments(typ string, id identity, m *itemReadings, mode Mode) *Refusal {
	schemas := g.catalog.schemasOf(id)
	if len(schemas) == 0 {
		g.unjudged(schema.NoSchema, id, m)
		return nil
	}
	values := m[keyArguments]
	if len(values) == 0 {
		values = readings{{Type: gjson.Null}} // absent
	}
	for _, v := range values {
		// The same arguments come up to three times: as their own end, in the
		// finished item, and in the snapshot.
		if g.seenArguments(id, m[keyCallID].first(), v) {
			continue
		}
		verdict := g.verdict(schemas, v)
		switch verdict.Outcome {
		case schema.Unjudged:
			g.unjudged(verdict.Reason, id, m)
		case schema.Missing, schema.Invalid:
			if r := g.doomed(typ, id, m, verdict, mode); r != nil {
				return r
			}
		}
	}
	return nil
}

// seenArguments reports whether a call was judged by these arguments before, and
// was let pass.
func (g *Guard) seenArguments(id identity, callID string, v gjson.Result) bool {
	var h maphash.Hash
	h.SetSeed(g.opt.Tools.seed)
	for _, s := range []string{id.namespace, "\x00", id.name, "\x00", callID, "\x00", v.Raw} {
		h.WriteString(s)
	}
	key := h.Sum64()
	if _, seen := g.judged[key]; seen {
		return true
	}
	if g.judged == nil {
		g.judged = map[uint64]struct{}{}
	}
	if len(g.judged) < maxTold {
		g.judged[key] = struct{}{}
	}
	return false
}

// verdict is the best that one of the schemas says about one reading of the
// arguments; else what the one that was declared last says.
func (g *Guard) verdict(schemas []*Schema, v gjson.Result) (verdict schema.Verdict) {
	if v.Type != gjson.String && v.Type != gjson.Null {
		return schema.Verdict{Outcome: schema.Invalid, Problems: []schema.Problem{
			{Message: "the arguments are not the text of a JSON object"}}}
	}
	for _, k := range schemas {
		verdict = g.opt.Tools.judge.Judge(k.raw, bytesOf(text(v.Str)))
		if verdict.Outcome == schema.Accepted || verdict.Outcome == schema.Unjudged {
			break
		}
	}
	return verdict
}

// doomed takes the finding that a call cannot work. It tells how the tool wants
// to be called, and never what it was called with.
func (g *Guard) doomed(typ string, id identity, m *itemReadings, v schema.Verdict, mode Mode) *Refusal {
	r := &Refusal{Reason: InvalidToolArguments, ItemType: shown(typ), Name: optional(id.name),
		CallID: optional(m[keyCallID].first()), ItemID: optional(m[keyID].first())}
	if v.Outcome == schema.Missing {
		r.Reason = MissingRequiredArguments
	}
	if ns := m[keyNamespace].first(); ns != "" {
		r.Namespace = optional(ns)
	}
	g.list(r)
	r.Missing = append(r.Missing, v.Missing...)
	for _, p := range v.Problems {
		r.Problems = append(r.Problems, Problem(p))
	}
	if schemas := g.catalog.schemasOf(id); len(schemas) > 0 {
		last := schemas[len(schemas)-1]
		r.InputSummary, r.SchemaHash = last.Summary(), optional(last.Hash())
	}
	r.detail = fmt.Sprintf("the upstream called %q with arguments that cannot work: %s", shown(id.String()), faultsOf(v))
	if typ == "mcp_approval_request" {
		r.detail = fmt.Sprintf("the upstream asked to approve a call of %q with arguments that cannot work: %s", shown(id.name), faultsOf(v))
	}
	return g.foundIn(mode, r)
}

// faultsOf says in a line what is wrong.
func faultsOf(v schema.Verdict) string {
	var faults []string
	if len(v.Missing) > 0 {
		faults = append(faults, "missing "+strings.Join(v.Missing[:min(len(v.Missing), maxNamed)], ", "))
	}
	for _, p := range v.Problems[:min(len(v.Problems), 3)] {
		if p.Pointer == "" {
			faults = append(faults, p.Message)
		} else {
			faults = append(faults, Shown(p.Pointer, maxShown)+" "+p.Message)
		}
	}
	if len(faults) == 0 {
		return "arguments are required"
	}
	return strings.Join(faults, "; ")
}

// unjudged counts a call whose arguments could not be judged.
func (g *Guard) unjudged(reason schema.Reason, id identity, m *itemReadings) {
	if g.opt.OnUnjudged != nil && g.once("unjudged\x00"+id.String()+"\x00"+shown(m[keyCallID].first())) {
		g.opt.OnUnjudged(string(reason))
	}
}

// announce remembers which call an output_item.added announced, for the events
// of its arguments, which do not name it. Some providers change ids from event
// to event; the output index is what stays. Others give every item the same
// index: then it says nothing, and only the finished items are judged.
func (g *Guard) announce(root gjson.Result, id identity, m *itemReadings) {
	index := root.Get("output_index")
	before, again := g.announced[index.Raw]
	if index.Type != gjson.Number || len(index.Raw) >= maxShown || !again && len(g.announced) >= maxTold {
		return
	}
	if g.announced == nil {
		g.announced = map[string]announced{}
	}
	// What is kept must not lie in the frame, and is bounded.
	g.announced[strings.Clone(index.Raw)] = announced{
		identity: identity{strings.Clone(id.namespace), strings.Clone(id.name)},
		callID:   shown(m[keyCallID].first()), itemID: shown(m[keyID].first()),
		unclear: again && (before.unclear || before.identity != id),
	}
}

// announced is a call as its output_item.added told it.
type announced struct {
	identity
	callID, itemID string
	unclear        bool // another call has the same output index
}

// argumentsOf judges the arguments that ended for an announced call.
func (g *Guard) argumentsOf(call announced, m *itemReadings) *Refusal {
	m[keyCallID] = readings{{Type: gjson.String, Str: call.callID}}
	m[keyID] = readings{{Type: gjson.String, Str: call.itemID}}
	m[keyNamespace] = readings{{Type: gjson.String, Str: call.namespace}}
	return g.arguments("function_call", call.identity, m)
}

// approvalArguments judges what a person would be asked to approve, before the
// request can reach anybody (A7): at its announcement if that has the arguments,
// and when it is complete.
func (g *Guard) approvalArguments(typ string, id identity, m *itemReadings, at place) *Refusal {
	if g.opt.Tools == nil || g.opt.Approvals == Off || !at.complete && !hasText(m[keyArguments]) {
		return nil
	}
	return g.judgeArguments(typ, id, m, g.opt.Approvals)
}

func hasText(r readings) bool {
	for _, v := range r {
		if v.Type == gjson.String && v.Str != "" {
			return true
		}
	}
	return false
}

// listTools takes the schemas that an MCP server's list of tools gives. They
// authorise nothing.
func (g *Guard) listTools(m *itemReadings) {
	if g.opt.Tools == nil || g.opt.Approvals == Off || len(m[keyServerLabel]) != 1 || len(m[keyTools]) != 1 {
		return
	}
	raw := m[keyTools][0].Raw
	if g.widened += len(raw); g.widened > maxWidened {
		return
	}
	label := m[keyServerLabel].first()
	g.learn(raw, func(d *declarations, t tool) { d.list(label, t) })
}
