package guard

import (
	"bytes"

	"turngate/sse"
)

// Options say how a Guard judges. The zero value refuses what is undeclared and
// tells nobody.
type Options struct {
	Undeclared  Mode
	Arguments   Mode     // of declared functions
	Approvals   Mode     // of MCP calls that a person is asked to approve
	HostedCalls []string // globs of custom_tool_call names that the upstream runs itself

	// Tools judges arguments; nil judges none, whatever the modes. It should be
	// the one that has read the request.
	Tools *Tools

	// OnRefusal, if set, is called for each finding, once per call and turn:
	// with Refuse for the one that ends the turn, with Report for those that
	// were let pass.
	OnRefusal func(*Refusal, Mode)
	// OnUnusual, if set, is called with "unknown_call" or "kind_mismatch", once
	// per call and turn.
	OnUnusual func(kind string)
	// OnUnjudged, if set, is called for each call whose arguments could not be
	// judged, with the reason: "no_schema", "schema_rejected" or "too_large".
	OnUnjudged func(reason string)
}

// Guard judges one turn: every event of its stream, or its JSON answer. A
// refusal is sticky: once given, the turn stays refused whatever comes after.
// Not safe for concurrent use.
type Guard struct {
	catalog *Catalog
	opt     Options
	active  bool // the undeclared rule is in force
	looks   bool // some rule is
	refusal *Refusal
	turn    Turn
	told    map[string]bool // findings already reported
	widened int             // bytes of declarations in the output so far

	announced map[string]*announced // calls by output index

	declared      []string // as refusals list it; nil until one does
	declaredTotal int

	outline  outline             // of what was inspected last, if that was not flat
	data     []byte              // from which it was read
	current  *snapshot           // of outline, see Snapshot
	carriers carriers            // of what is being judged
	judged   map[uint64]struct{} // arguments that passed
	last     template            // of the events that decide nothing
}

// New returns the guard of a turn whose request declared catalog. The guard
// owns the catalog from now on.
func New(catalog *Catalog, opt Options) *Guard {
	g := &Guard{
		catalog: catalog, opt: opt, active: opt.Undeclared != Off && !catalog.StandsDown(),
		turn: Turn{LastSequence: -1},
	}
	// G8 is about the undeclared rule only. A request that stands down can still
	// get calls of tools that the upstream knows: from a search for tools, or from
	// a prompt that it keeps.
	g.looks = g.active || opt.Tools != nil && (opt.Arguments != Off || opt.Approvals != Off)
	return g
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
func (g *Guard) Inspect(f *sse.Frame) (Kind, *Refusal) {
	g.forget()
	if g.refusal != nil {
		return KindNone, g.refusal
	}
	if g.turn.Terminal == KindNone && isPlain(f) {
		if number, numbered, ok := g.cleared(f); ok {
			g.turn.count(number, numbered)
			return KindOther, nil
		}
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
	return g.inspectSlowly(f, false)
}

// read makes the outline of data, which it keeps until forget.
func (g *Guard) read(data []byte) (*outline, error) {
	g.data = data
	return &g.outline, g.outline.read(data)
}

// forget drops what was kept of the event before: it lies in a buffer that is
// not the guard's.
func (g *Guard) forget() {
	if g.data != nil {
		g.outline.reset()
		g.carriers.reset()
		g.current, g.data = nil, nil
	}
}

// inspectSlowly reads a frame that its form did not clear. closely judges it
// even if its outline clears it; the verdict must not differ.
func (g *Guard) inspectSlowly(f *sse.Frame, closely bool) (Kind, *Refusal) {
	e, err := g.read(f.Data)
	if err != nil {
		return g.inspectBroken(f)
	}
	kind := kindOfFrame(f, e)
	if g.looks && (closely || e.suspect(f.Event) || bytes.IndexByte(f.Data, '\n') >= 0) {
		seen := e
		if closely {
			seen = nil
		}
		if r := g.judgeFrame(f, seen); r != nil {
			g.turn.noteRefused(kind, e)
			return kind, r
		}
	}
	if kind == KindOther && value(e.err).isObject() {
		kind = KindError
	}
	g.turn.count(e.sequence, e.sequenced)
	g.turn.note(kind, e)
	switch kind {
	case KindLifecycle, KindCompleted, KindIncomplete, KindFailed:
		g.current = e.response()
	}
	return kind, nil
}

// inspectBroken judges data that is not JSON: it is refused if it could carry a
// call to a reader less strict, and passes untouched otherwise.
func (g *Guard) inspectBroken(f *sse.Frame) (Kind, *Refusal) {
	if f.Cut { // half an event: the stream is truncated, that is all
		return KindBroken, nil
	}
	if g.active && mayCarryCall(f) {
		if r := g.found(g.unreadable("an event that is not valid JSON and could carry a call")); r != nil {
			return KindBroken, r
		}
	}
	g.turn.count(0, false)
	return KindOther, nil
}

// judgeHidden refuses a frame that hides what could be a call, for what its
// standard reading shows if that is enough.
func (g *Guard) judgeHidden(f *sse.Frame) *Refusal {
	if valid(f.Data) {
		if r := g.judgeFrame(f, nil); r != nil {
			return r
		}
	}
	return g.found(g.unreadable("an event whose lines readers would cut differently around what could be a call"))
}

// judgeFrame judges an event as its readers see it; e is its outline, nil to look
// more closely. Some take each data line for an event of its own; none agrees
// with the others about what is not an object.
func (g *Guard) judgeFrame(f *sse.Frame, e *outline) *Refusal {
	root := valueOf(f.Data)
	if !root.isObject() {
		if evidenceFree(f.Data) {
			return nil
		}
		return g.found(g.unreadable("an event that is not a JSON object and could carry a call"))
	}
	if r := g.judge(root, e, string(f.Event)); r != nil {
		return r
	}
	if bytes.IndexByte(f.Data, '\n') < 0 {
		return nil
	}
	for line := range bytes.Lines(f.Data) {
		if !evidenceFree(line) && valid(line) {
			if r := g.judge(valueOf(line), nil, noEvent); r != nil {
				return r
			}
		}
	}
	return nil
}

// Account notes what a frame says of a turn that has been refused: what the
// upstream spends after the refusal is still spent (S5). It judges nothing.
func (g *Guard) Account(f *sse.Frame) {
	if f.Data == nil {
		return
	}
	e, err := g.read(f.Data)
	if err != nil {
		return
	}
	if kind := kindOfFrame(f, e); kind != KindItemDone {
		g.turn.note(kind, e)
	}
}

// kindOfFrame takes the type that the data gives, and the event line's only
// where there is none.
func kindOfFrame(f *sse.Frame, e *outline) Kind {
	if e.typ == "" {
		return kindOfEvent(string(f.Event))
	}
	return kindOfEvent(e.typ)
}

// Valid reports whether b is one JSON value, read as strictly as a frame that
// could carry a call.
func Valid(b []byte) bool { return valid(b) }
