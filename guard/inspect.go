package guard

import (
	"bytes"
	"strings"

	"github.com/tidwall/gjson"

	"turngate/sse"
)

// Options say how a Guard judges. The zero value refuses what is undeclared and
// tells nobody.
type Options struct {
	Undeclared  Mode
	HostedCalls []string // globs of custom_tool_call names that the upstream runs itself

	// OnRefusal, if set, is called for each finding, once per call and turn:
	// with Refuse for the one that ends the turn, with Report for those that
	// were let pass.
	OnRefusal func(*Refusal, Mode)
	// OnUnusual, if set, is called with "unknown_call" or "kind_mismatch", once
	// per call and turn.
	OnUnusual func(kind string)
}

// Guard judges one turn: every event of its stream, or its JSON answer. A
// refusal is sticky: once given, the turn stays refused whatever comes after.
// Not safe for concurrent use.
type Guard struct {
	catalog *Catalog
	opt     Options
	active  bool // the undeclared rule is looked at
	refusal *Refusal
	turn    Turn
	told    map[string]bool // findings already reported
	widened int             // bytes of declarations in the output so far
}

// New returns the guard of a turn whose request declared catalog. The guard
// owns the catalog from now on.
func New(catalog *Catalog, opt Options) *Guard {
	return &Guard{
		catalog: catalog, opt: opt, active: opt.Undeclared != Off && !catalog.StandsDown(),
		turn: Turn{LastSequence: -1},
	}
}

// State says whether the undeclared rule is in force: "enforced", "stood_down"
// (the request declares nothing that a client executes) or "exempt" (switched
// off for the upstream).
func (g *Guard) State() string {
	switch {
	case g.opt.Undeclared == Off:
		return "exempt"
	case !g.active:
		return "stood_down"
	}
	return "enforced"
}

// Refused returns the refusal that ended the turn, or nil.
func (g *Guard) Refused() *Refusal { return g.refusal }

// Turn returns what the guard has seen of the turn so far. It belongs to the
// guard and changes with the next event.
func (g *Guard) Turn() *Turn { return &g.turn }

// Inspect judges one frame and notes what it says of the turn. A frame that is
// refused must not be relayed, nor anything after it.
func (g *Guard) Inspect(f sse.Frame) (Kind, *Refusal) {
	if g.refusal != nil {
		return KindNone, g.refusal
	}
	if g.active && hidesCall(f) {
		if g.turn.Terminal != KindNone {
			return KindLate, nil
		}
		if r := g.judgeHidden(f); r != nil {
			return KindNone, r
		}
	}
	if f.Data == nil {
		return KindNone, nil
	}
	if string(f.Data) == "[DONE]" {
		return KindDone, nil
	}
	if g.turn.Terminal != KindNone {
		return KindLate, nil
	}
	typ := eventType(f)
	kind := kindOfEvent(typ)
	suspect := g.active && mayCarryCall(f, typ)
	if kind == KindOther && !suspect && !f.Cut && strings.HasPrefix(typ, "response.") && !bytes.Contains(f.Data, errorKey) {
		g.turn.count(f.Data)
		return kind, nil
	}
	return g.inspectSlowly(f, kind, suspect)
}

// inspectSlowly reads a frame that matters, or that its bytes did not clear.
func (g *Guard) inspectSlowly(f sse.Frame, kind Kind, suspect bool) (Kind, *Refusal) {
	if !valid(f.Data) {
		if f.Cut { // half an event: the stream is truncated, that is all
			return KindBroken, nil
		}
		if suspect {
			if r := g.found(unreadable(g.catalog, "an event that is not valid JSON and could carry a call")); r != nil {
				return KindBroken, r
			}
		}
		g.turn.count(f.Data)
		return KindOther, nil
	}
	root := parse(f.Data)
	if suspect || g.widens(kind) {
		if r := g.judgeFrame(f, root, kind); r != nil {
			g.turn.noteRefused(kind, root)
			return kind, r
		}
	}
	if kind == KindOther && root.Get("error").IsObject() {
		kind = KindError
	}
	g.turn.count(f.Data)
	g.turn.note(kind, root)
	return kind, nil
}

// judgeHidden refuses a frame that hides what could be a call, for what its
// standard reading shows if that is enough.
func (g *Guard) judgeHidden(f sse.Frame) *Refusal {
	if valid(f.Data) {
		if r := g.judgeFrame(f, parse(f.Data), KindOther); r != nil {
			return r
		}
	}
	return g.found(unreadable(g.catalog, "an event whose lines readers would cut differently around what could be a call"))
}

// judgeFrame judges an event as its readers see it. Some take each data line
// for an event of its own; none agrees with the others about what is not an
// object.
func (g *Guard) judgeFrame(f sse.Frame, root gjson.Result, kind Kind) *Refusal {
	if !root.IsObject() {
		return g.found(unreadable(g.catalog, "an event that is not a JSON object and could carry a call"))
	}
	if r := g.judge(root, string(f.Event), kind != KindOther); r != nil {
		return r
	}
	if bytes.IndexByte(f.Data, '\n') < 0 {
		return nil
	}
	for line := range bytes.Lines(f.Data) {
		if !evidenceFree(line) && valid(line) {
			if r := g.judge(parse(line), "", false); r != nil {
				return r
			}
		}
	}
	return nil
}

// InspectAnswer judges a JSON answer (stream: false). ok is false if it is not
// one JSON object that is a response or an error; the answer is then nobody's.
func (g *Guard) InspectAnswer(body []byte) (kind Kind, r *Refusal, ok bool) {
	body = bytes.TrimPrefix(body, byteOrderMark) // clients drop it
	if !valid(body) {
		if g.active && bytes.HasPrefix(bytes.TrimLeft(body, " \t\r\n"), []byte("{")) && !evidenceFree(body) {
			r = g.found(unreadable(g.catalog, "an answer that is not valid JSON and could carry a call"))
		}
		return KindBroken, r, r != nil
	}
	root := parse(body)
	switch {
	case isError(root) && !isResponse(root):
		g.turn.note(KindError, root)
		return KindError, nil, true
	case !isResponse(root):
		return KindBroken, nil, false
	}
	if g.active {
		if r := g.judge(root, "", true); r != nil {
			g.turn.noteAnswer(root)
			return KindOther, r, true
		}
	}
	g.turn.noteAnswer(root)
	return g.turn.Terminal, nil, true
}

// isError reports whether a JSON answer is an error object; some servers give
// the error as a bare string.
func isError(root gjson.Result) bool {
	e := root.Get("error")
	return e.IsObject() || e.Type == gjson.String
}

// isResponse reports whether a JSON answer is a response object (S7b).
func isResponse(root gjson.Result) bool {
	return root.IsObject() && (root.Get("object").String() == "response" || root.Get("output").IsArray())
}

// widens reports whether an event of this kind can carry items that add to the
// catalog.
func (g *Guard) widens(kind Kind) bool {
	return g.active && kind != KindOther && g.catalog.types["tool_search"]
}

// Account notes what a frame says of a turn that has been refused: what the
// upstream spends after the refusal is still spent (S5). It judges nothing.
func (g *Guard) Account(f sse.Frame) {
	kind := kindOfEvent(eventType(f))
	if f.Data == nil || kind == KindOther || kind == KindItemDone || !valid(f.Data) {
		return
	}
	g.turn.note(kind, parse(f.Data))
}

// Valid reports whether b is one JSON value, read as strictly as a frame that
// could carry a call.
func Valid(b []byte) bool { return valid(b) }
