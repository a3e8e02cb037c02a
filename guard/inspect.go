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
}

// New returns the guard of a turn whose request declared catalog. The guard
// owns the catalog from now on.
func New(catalog *Catalog, opt Options) *Guard {
	return &Guard{catalog: catalog, opt: opt, active: opt.Undeclared != Off && !catalog.StandsDown()}
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
	if f.LoneCR && g.active && hidesCall(f) {
		return KindNone, g.found(unreadable(g.catalog, "an event with bare carriage returns around what could be a call"))
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
	if kind == KindOther && !suspect && !f.Cut && strings.HasPrefix(typ, "response.") {
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
		if r := g.judge(root, string(f.Event)); r != nil {
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

// InspectAnswer judges a JSON answer (stream: false). ok is false if it is not
// one JSON object that is a response or an error; the answer is then nobody's.
func (g *Guard) InspectAnswer(body []byte) (kind Kind, r *Refusal, ok bool) {
	if !valid(body) {
		return KindBroken, nil, false
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
		if r := g.judge(root, ""); r != nil {
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

// found takes a finding: in mode refuse it becomes the turn's refusal and is
// returned, in mode report it is told once and nil is returned.
func (g *Guard) found(r *Refusal) *Refusal {
	if g.opt.Undeclared == Refuse {
		g.refused(r, Refuse)
		return r
	}
	if g.once(r.Reason + "\x00" + r.ItemType + "\x00" + deref(r.Namespace) + "\x00" + deref(r.Name) + "\x00" + deref(r.CallID)) {
		g.tell(r, Report)
	}
	return nil
}

func (g *Guard) refused(r *Refusal, m Mode) {
	g.refusal = r
	g.tell(r, m)
}

func (g *Guard) tell(r *Refusal, m Mode) {
	if g.opt.OnRefusal != nil {
		g.opt.OnRefusal(r, m)
	}
}

// unusual tells of something odd that passes, once per key.
func (g *Guard) unusual(kind, key string) {
	if g.opt.OnUnusual != nil && g.once(kind+"\x00"+key) {
		g.opt.OnUnusual(kind)
	}
}

// maxTold bounds what a turn remembers of its findings; those beyond are not
// told.
const maxTold = 1024

func (g *Guard) once(key string) bool {
	if g.told[key] || len(g.told) >= maxTold {
		return false
	}
	if g.told == nil {
		g.told = map[string]bool{}
	}
	g.told[key] = true
	return true
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// eventType returns the type that a frame gives itself: that of its data, else
// of its event line. It reads the usual form, where the type comes first,
// without a search.
func eventType(f sse.Frame) string {
	if t, ok := leadingType(f.Data); ok {
		return t
	}
	if t := gjson.GetBytes(f.Data, "type"); t.Type == gjson.String && t.Str != "" {
		return t.Str
	}
	return string(f.Event)
}

// leadingType reads `{"type":"X"` at the start of data, if X is plain.
func leadingType(data []byte) (string, bool) {
	rest, ok := bytes.CutPrefix(data, []byte(`{"type":`))
	if !ok {
		return "", false
	}
	rest, ok = bytes.CutPrefix(bytes.TrimPrefix(rest, []byte(" ")), []byte(`"`))
	if !ok {
		return "", false
	}
	end := bytes.IndexByte(rest[:min(len(rest), 80)], '"')
	if end <= 0 || bytes.IndexByte(rest[:end], '\\') >= 0 {
		return "", false
	}
	return intern(rest[:end]), true
}

// intern returns b as a string, without allocating for the usual deltas.
func intern(b []byte) string {
	switch string(b) {
	case "response.output_text.delta":
		return "response.output_text.delta"
	case "response.reasoning_text.delta":
		return "response.reasoning_text.delta"
	case "response.reasoning_summary_text.delta":
		return "response.reasoning_summary_text.delta"
	case functionArgumentsDelta:
		return functionArgumentsDelta
	case customInputDelta:
		return customInputDelta
	}
	return string(b)
}

const (
	functionArgumentsDelta = "response.function_call_arguments.delta"
	customInputDelta       = "response.custom_tool_call_input.delta"
)

// mayCarryCall reports false only if the frame's bytes prove that no reader can
// see a client-executed call in it. Every such call is announced by a type that
// contains "_call" or "_approval_", in a string that only \u00XX escapes could
// write otherwise.
func mayCarryCall(f sse.Frame, typ string) bool {
	data, event := f.Data, f.Event
	if typ == functionArgumentsDelta || typ == customInputDelta {
		// Deltas of arguments are evidence by their type alone. They carry a
		// call only if a key (which can be written "Name" as well) names it.
		before, rest, ok := bytes.Cut(data, []byte(typ))
		if ok && len(before) <= len(`{"type": "`) && !bytes.Contains(rest, []byte(`"n`)) && !bytes.Contains(rest, []byte(`"N`)) {
			data = rest
			if string(event) == typ {
				event = nil
			}
		}
	}
	return !evidenceFree(data) || !evidenceFree(event)
}

func evidenceFree(b []byte) bool {
	return !bytes.Contains(b, []byte("_call")) && !bytes.Contains(b, []byte("_approval_")) &&
		!bytes.Contains(b, []byte(`\u00`))
}

// hidesCall reports whether a frame with bare carriage returns holds, in lines
// that the standard ignores, what could be a call to readers that know only
// line feeds: to them such a line may be the rest of a JSON text.
func hidesCall(f sse.Frame) bool {
	for line := range f.Ignored {
		if !evidenceFree(line) {
			return true
		}
	}
	return false
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
