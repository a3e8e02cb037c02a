package guard

import (
	"fmt"
	"hash/maphash"
	"slices"
	"strings"

	"turngate/guard/schema"
)

// arguments judges what a declared function is called with, once it is complete
// (A1). Where the arguments have several readings, or the name was declared
// with several schemas, each reading must satisfy one of the schemas.
func (g *Guard) arguments(c called, m *itemReadings) *Refusal {
	if !g.judgesArguments() {
		return nil
	}
	if m[keyStatus].has("incomplete") {
		return g.doomed(c, schema.Verdict{Outcome: schema.Invalid,
			Problems: []schema.Problem{{Message: "the call is incomplete"}}}, g.opt.Arguments)
	}
	return g.judgeArguments(c, m[keyArguments], g.opt.Arguments)
}

func (g *Guard) judgesArguments() bool { return g.opt.Tools != nil && g.opt.Arguments != Off }

// judgeArguments judges the arguments of a call, or of a call that a person is
// asked to approve.
func (g *Guard) judgeArguments(c called, values readings, mode Mode) *Refusal {
	schemas := g.catalog.schemasOf(c.identity)
	if len(schemas) == 0 {
		g.unjudged(schema.NoSchema, c)
		return nil
	}
	if len(values) == 0 {
		values = readings{value("null")} // absent
	}
	for _, v := range values {
		// The same arguments come up to three times: as their own end, in the
		// finished item, and in the snapshot.
		if g.seenArguments(c, v) {
			continue
		}
		verdict := g.verdict(schemas, v)
		switch verdict.Outcome {
		case schema.Unjudged:
			g.unjudged(verdict.Reason, c)
		case schema.Missing, schema.Invalid:
			if r := g.doomed(c, verdict, mode); r != nil {
				return r
			}
		}
	}
	return nil
}

// seenArguments reports whether a call was judged by these arguments before, and
// was let pass.
func (g *Guard) seenArguments(c called, v value) bool {
	var h maphash.Hash
	h.SetSeed(g.opt.Tools.seed)
	for _, s := range []string{c.namespace, "\x00", c.name, "\x00", c.callID, "\x00"} {
		h.WriteString(s)
	}
	h.Write(v)
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
func (g *Guard) verdict(schemas []*Schema, v value) (verdict schema.Verdict) {
	if !v.isString() && !v.isNull() {
		return schema.Verdict{Outcome: schema.Invalid, Problems: []schema.Problem{
			{Message: "the arguments are not the text of a JSON object"}}}
	}
	for _, k := range schemas {
		verdict = g.opt.Tools.judge.Judge(k.raw, v.unquoted())
		if verdict.Outcome == schema.Accepted || verdict.Outcome == schema.Unjudged {
			break
		}
	}
	return verdict
}

// doomed takes the finding that a call cannot work. It tells how the tool wants
// to be called, and never what it was called with.
func (g *Guard) doomed(c called, v schema.Verdict, mode Mode) *Refusal {
	r := &Refusal{Reason: InvalidToolArguments, ItemType: shown(c.typ), Name: optional(c.name),
		Namespace: optional(c.said), CallID: optional(c.callID), ItemID: optional(c.itemID)}
	if v.Outcome == schema.Missing {
		r.Reason = MissingRequiredArguments
	}
	g.list(r)
	r.Missing = append(r.Missing, v.Missing...)
	for _, p := range v.Problems {
		r.Problems = append(r.Problems, Problem(p))
	}
	if schemas := g.catalog.schemasOf(c.identity); len(schemas) > 0 {
		last := schemas[len(schemas)-1]
		r.InputSummary, r.SchemaHash = last.Summary(), optional(last.Hash())
	}
	r.detail = fmt.Sprintf("the upstream called %q with arguments that cannot work: %s", shown(c.identity.String()), faultsOf(v))
	if c.typ == "mcp_approval_request" {
		r.detail = fmt.Sprintf("the upstream asked to approve a call of %q with arguments that cannot work: %s", shown(c.name), faultsOf(v))
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
func (g *Guard) unjudged(reason schema.Reason, c called) {
	if g.opt.OnUnjudged != nil && g.once("unjudged\x00"+c.identity.String()+"\x00"+shown(c.callID)) {
		g.opt.OnUnjudged(string(reason))
	}
}

// approvalArguments judges what a person would be asked to approve, before the
// request can reach anybody (A7): at its announcement if that has the arguments,
// and when it is complete.
func (g *Guard) approvalArguments(typ string, id identity, m *itemReadings, at place) *Refusal {
	if g.opt.Tools == nil || g.opt.Approvals == Off || !at.complete && !hasText(m[keyArguments]) {
		return nil
	}
	return g.judgeArguments(calledAs(typ, id, m), m[keyArguments], g.opt.Approvals)
}

func hasText(r readings) bool {
	return slices.ContainsFunc(r, func(v value) bool { return v.isString() && string(v) != `""` })
}

// listTools takes the schemas that an MCP server's list of tools gives. They
// authorise nothing.
func (g *Guard) listTools(m *itemReadings) {
	if g.opt.Tools == nil || g.opt.Approvals == Off || len(m[keyServerLabel]) != 1 || len(m[keyTools]) != 1 {
		return
	}
	raw := m[keyTools][0]
	if g.widened += len(raw); g.widened > maxWidened {
		return
	}
	label := m[keyServerLabel].first()
	g.learn(raw, func(d *declarations, t tool) { d.list(label, t) })
}
