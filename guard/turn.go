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

var sequenceKey = []byte(`"sequence_number":`)

// count counts an event and notes its number. In escaped text the key would
// have backslashes before its quotes, so what is found is a key.
func (t *Turn) count(data []byte) {
	t.Events++
	i := bytes.Index(data, sequenceKey)
	if i < 0 {
		return
	}
	rest := bytes.TrimLeft(data[i+len(sequenceKey):], " ")
	var n int64
	digits := 0
	for ; digits < len(rest) && digits < 18 && rest[digits] >= '0' && rest[digits] <= '9'; digits++ {
		n = n*10 + int64(rest[digits]-'0')
	}
	if digits > 0 {
		t.LastSequence, t.sequenced = n, true
	}
}

// note takes what an event of this kind says. root has been validated.
func (t *Turn) note(kind Kind, root gjson.Result) {
	switch kind {
	case KindLifecycle:
		t.lifecycle(responseOf(root))
	case KindItemDone:
		if item := root.Get("item"); item.IsObject() && t.kept+len(item.Raw) <= maxKept {
			t.kept += len(item.Raw)
			t.Items = append(t.Items, []byte(item.Raw))
		}
	case KindCompleted, KindIncomplete, KindFailed:
		t.Terminal = kind
		r := responseOf(root)
		t.identify(r)
		t.usage(r.Get("usage"))
		if kind == KindFailed {
			t.cause(r.Get("error"))
		}
	case KindError:
		switch e := root.Get("error"); {
		case e.IsObject():
			t.cause(e)
		case e.Type == gjson.String:
			t.Error.Seen, t.Error.Message = true, strings.Clone(text(e.Str))
		default:
			t.cause(root)
		}
	}
}

// noteRefused takes what a refused event says of the response, and nothing that
// could be shown to the client.
func (t *Turn) noteRefused(kind Kind, root gjson.Result) {
	switch kind {
	case KindLifecycle:
		t.identify(responseOf(root))
	case KindCompleted, KindIncomplete, KindFailed:
		t.note(kind, root)
	}
}

// noteAnswer takes a JSON answer, a response object by itself.
func (t *Turn) noteAnswer(r gjson.Result) {
	t.identify(r)
	t.usage(r.Get("usage"))
	t.Terminal = KindCompleted
	switch r.Get("status").String() {
	case "incomplete":
		t.Terminal = KindIncomplete
	case "failed", "cancelled":
		t.Terminal = KindFailed
		t.cause(r.Get("error"))
	}
}

// responseOf returns the response object of a lifecycle event. Some relays do
// not nest it.
func responseOf(root gjson.Result) gjson.Result {
	if r := root.Get("response"); r.IsObject() {
		return r
	}
	if root.Get("object").String() == "response" {
		return root
	}
	return gjson.Result{}
}

func (t *Turn) lifecycle(r gjson.Result) {
	if !r.Exists() {
		return
	}
	t.identify(r)
	t.usage(r.Get("usage"))
	if t.Snapshot == nil {
		t.Snapshot = []byte(r.Raw)
	}
}

func (t *Turn) identify(r gjson.Result) {
	if id := r.Get("id"); id.Type == gjson.String && id.Str != "" {
		t.ID = strings.Clone(text(id.Str))
		if t.FirstID == "" {
			t.FirstID = t.ID
		}
	}
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
