package guard

import (
	"bytes"
	"strings"

	"github.com/tidwall/gjson"
)

// Kind is what an event means for the turn.
type Kind uint8

const (
	KindNone       Kind = iota // no event: a comment, a blank line
	KindOther                  // an event that decides nothing: deltas, unknown ones
	KindLifecycle              // created, queued, in_progress
	KindItem                   // output_item.added
	KindItemDone               // output_item.done
	KindCompleted              // terminal
	KindIncomplete             // terminal
	KindFailed                 // terminal
	KindError                  // an error event, or data with a top-level error object
	KindDone                   // [DONE]
	KindLate                   // an event after the terminal one
	KindBroken                 // not JSON where JSON is needed
)

func kindOfEvent(typ string) Kind {
	switch typ {
	case "response.created", "response.queued", "response.in_progress":
		return KindLifecycle
	case "response.output_item.added":
		return KindItem
	case "response.output_item.done":
		return KindItemDone
	case "response.completed", "response.done":
		return KindCompleted
	case "response.incomplete":
		return KindIncomplete
	case "response.failed":
		return KindFailed
	case "error":
		return KindError
	}
	return KindOther
}

// Usage counts the tokens that the upstream says it spent.
type Usage struct{ Input, CachedInput, Output, Reasoning int64 }

// Turn is what the events of a turn have said so far. Its strings and byte
// slices are the turn's own: the frames they came from are overwritten.
type Turn struct {
	ID       string // the response's id as seen last
	FirstID  string // and as seen first; some providers change it
	Terminal Kind   // KindCompleted, KindIncomplete, KindFailed; KindNone while open
	Usage    Usage

	Snapshot []byte   // the response object of the first lifecycle event; nil if none came
	Items    [][]byte // finished items, in the order in which they came
	Dropped  int      // finished items that were too much to be among them

	// Error is what an error event, or the failed response, gave as cause.
	Error struct {
		Seen          bool
		Code, Message string
	}

	Events       int   // events seen
	LastSequence int64 // the last sequence_number; -1 if none was seen

	sequenced bool
	kept      int
}

// maxKept bounds the finished items that are kept for a failure's output; what
// is beyond is left out of it.
const maxKept = 32 << 20

// NextSequence returns the number that an event made by the proxy gets: one
// after the last, or the count of events where the upstream does not number.
func (t *Turn) NextSequence() int64 {
	if t.sequenced {
		return t.LastSequence + 1
	}
	return int64(t.Events)
}

// count counts an event and notes its number.
func (t *Turn) count(number int64, numbered bool) {
	t.Events++
	if numbered {
		t.LastSequence, t.sequenced = number, true
	}
}

// note takes what an event of this kind says.
func (t *Turn) note(kind Kind, e *outline) {
	switch kind {
	case KindLifecycle:
		if r := e.response(); r != nil {
			t.identify(r)
			if t.Snapshot == nil {
				t.Snapshot = bytes.Clone(r.raw)
			}
		}
	case KindItemDone:
		switch {
		case !value(e.item).isObject():
		case t.kept+len(e.item) > maxKept:
			t.Dropped++
		default:
			t.kept += len(e.item)
			t.Items = append(t.Items, bytes.Clone(e.item))
		}
	case KindCompleted, KindIncomplete, KindFailed:
		t.Terminal = kind
		if r := e.response(); r != nil {
			t.identify(r)
			if kind == KindFailed {
				t.cause(parse(r.err))
			}
		}
	case KindError:
		switch {
		case value(e.err).isObject():
			t.cause(parse(e.err))
		case value(e.err).isString():
			t.Error.Seen, t.Error.Message = true, strings.Clone(value(e.err).text())
		default:
			t.cause(parse(e.raw))
		}
	}
}

// noteRefused takes what a refused event says of the response, and nothing that
// could be shown to the client.
func (t *Turn) noteRefused(kind Kind, e *outline) {
	if seen := t.ID; seen != "" {
		defer func() { t.ID = seen }() // the id that the client knows
	}
	switch kind {
	case KindLifecycle:
		if r := e.response(); r != nil {
			t.identify(r)
		}
	case KindCompleted, KindIncomplete, KindFailed:
		t.note(kind, e)
	}
}

// noteAnswer takes a JSON answer, a response object by itself.
func (t *Turn) noteAnswer(e *outline) {
	t.identify(&e.snapshot)
	t.Terminal = KindCompleted
	switch string(e.status) {
	case `"incomplete"`:
		t.Terminal = KindIncomplete
	case `"failed"`, `"cancelled"`:
		t.Terminal = KindFailed
		t.cause(parse(e.err))
	}
}

// identify takes a response's id and usage.
func (t *Turn) identify(r *snapshot) {
	if id := value(r.id).text(); id != "" {
		t.ID = strings.Clone(id)
		if t.FirstID == "" {
			t.FirstID = t.ID
		}
	}
	t.usage(parse(r.usage))
}

func (t *Turn) usage(u gjson.Result) {
	if !u.IsObject() {
		return
	}
	count := func(path string) int64 {
		if v := u.Get(path); v.Type == gjson.Number && v.Num > 0 && v.Num < 1e15 {
			return int64(v.Num)
		}
		return 0
	}
	t.Usage = Usage{
		Input:       count("input_tokens"),
		CachedInput: count("input_tokens_details.cached_tokens"),
		Output:      count("output_tokens"),
		Reasoning:   count("output_tokens_details.reasoning_tokens"),
	}
}

// cause notes an error object's code and message.
func (t *Turn) cause(e gjson.Result) {
	t.Error.Seen = true
	if c := e.Get("code"); c.Type == gjson.String || c.Type == gjson.Number {
		t.Error.Code = shown(text(c.String()))
	}
	if t.Error.Code == "" && e.Get("type").String() != "error" {
		t.Error.Code = shown(text(e.Get("type").String()))
	}
	t.Error.Message = strings.Clone(text(e.Get("message").String()))
}
