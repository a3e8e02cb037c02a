package guard

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"
)

// Reasons of a refusal, as they are written on the wire.
const (
	UndeclaredToolCall       = "undeclared_tool_call"
	MissingRequiredArguments = "missing_required_arguments"
	InvalidToolArguments     = "invalid_tool_arguments"
	UnreadableEvent          = "unreadable_event"
)

const (
	maxShown    = 100 // characters of a name that comes from upstream
	maxDeclared = 32  // tools listed in a refusal
	maxNamed    = 12  // tools listed in its message
)

// Refusal says why a turn was ended, and what the reader needs to repair it.
// Its strings are bounded and free of control characters. It marshals to the
// "refusal" object of the error; Upstream and RequestID are for the proxy to
// fill in. It holds no reference to the stream and is not changed once made.
type Refusal struct {
	Reason   string `json:"reason"`
	ItemType string `json:"item_type"`
	// Name is nil for items that have none, Namespace where it is absent.
	Name      *string `json:"name"`
	Namespace *string `json:"namespace"`
	CallID    *string `json:"call_id"`
	ItemID    *string `json:"item_id"`

	Declared      []string `json:"declared"` // sorted, at most 32
	DeclaredTotal int      `json:"declared_total"`

	Missing      []string       `json:"missing"`
	Problems     []Problem      `json:"problems"`
	InputSummary jsontext.Value `json:"input_summary"`
	SchemaHash   *string        `json:"schema_hash"`

	Upstream  string `json:"upstream"`
	RequestID string `json:"request_id"`

	detail string
}

// Problem is one fault of a call's arguments: where, as a JSON pointer, and
// what. It never quotes the arguments.
type Problem struct {
	Pointer string `json:"pointer"`
	Message string `json:"message"`
}

// Message is the sentence that a person reads.
func (r *Refusal) Message() string { return "turngate: " + r.detail }

// undeclared makes the refusal of a call that the catalog does not authorise.
func (g *Guard) undeclared(itemType string, m *itemReadings, id identity, named bool) *Refusal {
	r := &Refusal{Reason: UndeclaredToolCall, ItemType: shown(itemType)}
	if m != nil {
		r.CallID = optional(m[keyCallID].first())
		r.ItemID = optional(m[keyID].first())
		if id.namespace == "" {
			id.namespace = m[keyNamespace].first()
		}
		r.Namespace = optional(id.namespace)
	}
	g.list(r)
	switch {
	case id.name != "":
		r.Name = optional(id.name)
		full := id.name
		if r.Namespace != nil {
			full = *r.Namespace + "." + id.name
		}
		r.detail = fmt.Sprintf("the upstream called %q, which this request does not declare (%s)", shown(full), r.declared())
	case named:
		r.detail = fmt.Sprintf("the upstream sent a %s without a usable name (%s)", r.ItemType, r.declared())
	default:
		r.detail = fmt.Sprintf("the upstream sent a %s, which this request does not declare (%s)", r.ItemType, r.declared())
	}
	return r
}

// unreadable makes the refusal of an event that could carry a call and that
// readers would not agree about.
func (g *Guard) unreadable(why string) *Refusal {
	r := &Refusal{Reason: UnreadableEvent, ItemType: "event", detail: "the upstream sent " + why}
	g.list(r)
	return r
}

// Oversized makes the refusal of an event or answer over limit bytes.
func (g *Guard) Oversized(limit int64) *Refusal {
	r := g.unreadable(fmt.Sprintf("an event over the limit of %d bytes", limit))
	g.refused(r, Refuse)
	return r
}

// list puts into r what is declared: sorted, and made out once.
func (g *Guard) list(r *Refusal) {
	if g.declared == nil {
		all := g.catalog.Declared()
		g.declaredTotal = len(all)
		g.declared = []string{} // [] on the wire, never null
		for _, name := range all[:min(len(all), maxDeclared)] {
			g.declared = append(g.declared, shown(name))
		}
	}
	r.Declared, r.DeclaredTotal = g.declared, g.declaredTotal
	r.Missing, r.Problems = []string{}, []Problem{}
}

func (r *Refusal) declared() string {
	if len(r.Declared) == 0 {
		return "declared: nothing"
	}
	s := "declared: " + strings.Join(r.Declared[:min(len(r.Declared), maxNamed)], ", ")
	if more := r.DeclaredTotal - maxNamed; more > 0 {
		s += fmt.Sprintf(" and %d more", more)
	}
	return s
}

func optional(s string) *string {
	if s == "" {
		return nil
	}
	s = shown(s)
	return &s
}

// shown makes a name from upstream fit to be shown.
func shown(s string) string { return Shown(s, maxShown) }

// Shown makes a text from a stranger fit to be shown: at most n characters, and
// U+FFFD for those that control or format.
func Shown(s string, n int) string {
	if len(s) <= n && isPrintable(s) {
		return strings.Clone(s)
	}
	for i := range s {
		if n == 0 {
			s = s[:i]
			break
		}
		n--
	}
	// strings.Map returns s itself where nothing changes, and s may lie in a
	// frame's buffer.
	return strings.Clone(strings.Map(func(r rune) rune {
		switch {
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r), r == '\u2028', r == '\u2029':
			return '\uFFFD'
		}
		return r
	}, s))
}

// isPrintable reports whether s is of ASCII characters that can all be shown.
func isPrintable(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}
