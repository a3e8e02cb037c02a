package guard

import (
	"strings"
)

// outline is what one strict pass over an event's data, or a JSON answer, finds
// out. Where it sees no more than plain keys and items that are no calls, the
// event is cleared: no reader can see a call in it. Where it does see more, the
// event is judged by all its readings (judge). The raw values alias the data.
type outline struct {
	snapshot           // of the object itself: a JSON answer, or a response that is not nested
	typ       string   // the first "type"; "" if there is none
	item      []byte   // nil, or what "item" holds
	nested    snapshot // of what "response" holds
	index     value    // the first "output_index"; nil if there is none
	sequence  int64
	sequenced bool

	odd   bool // keys or values on the way to a call that readers could differ about
	calls bool // an item that could be a call, or declare tools
}

// snapshot is what an outline keeps of a response object. The fields are raw
// values, nil where there is none.
type snapshot struct {
	raw, id, object, status, usage, err []byte

	output  value // the first list; the last value if none is one
	repeats []repeat
}

// reset forgets everything but the room that it took.
func (e *outline) reset() {
	*e = outline{snapshot: snapshot{repeats: e.repeats[:0]}, nested: snapshot{repeats: e.nested.repeats[:0]}}
}

// read makes e the outline of data. The error is errSyntax.
func (e *outline) read(data []byte) error {
	e.reset()
	s := scanner{b: data}
	if s.peek() != '{' {
		e.odd = !evidenceFree(data)
		if err := s.skip(); err != nil {
			return err
		}
	} else if err := e.root(&s); err != nil {
		return err
	}
	if !s.end() {
		return errSyntax
	}
	return nil
}

func (e *outline) root(s *scanner) error {
	from := s.i
	var seen duplicates
	err := s.object(func(key []byte) (err error) {
		e.watch(key, &seen)
		switch string(key) {
		case "type":
			var v []byte
			if v, err = s.raw(); err == nil && v[0] == '"' && e.typ == "" {
				e.typ = intern(unquote(v[1:len(v)-1], nil))
			}
			return err
		case "output_index":
			var v []byte
			if v, err = s.raw(); e.index == nil {
				e.index = v
			}
			return err
		case "sequence_number":
			var v []byte
			v, err = s.raw()
			e.sequence, e.sequenced = readCount(v)
			return err
		case "item":
			s.peek()
			from := s.i
			err = e.items(s)
			e.item = s.b[from:s.i:s.i]
			return err
		case "response":
			if s.peek() != '{' {
				return s.skip()
			}
			from := s.i
			var seen duplicates
			err = s.object(func(key []byte) error {
				e.watch(key, &seen)
				return e.member(s, &e.nested, key)
			})
			e.nested.raw = s.b[from:s.i:s.i]
			return err
		}
		return e.member(s, &e.snapshot, key)
	})
	e.raw = s.b[from:s.i:s.i]
	return err
}

// member takes a member of a response object.
func (e *outline) member(s *scanner, r *snapshot, key []byte) (err error) {
	var into *[]byte
	switch string(key) {
	case "output":
		s.peek()
		from := s.i
		err := e.items(s)
		if !r.output.isArray() {
			r.output = s.b[from:s.i:s.i]
		}
		return err
	case "id":
		into = &r.id
	case "object":
		into = &r.object
	case "status":
		into = &r.status
	case "usage":
		into = &r.usage
	case "error":
		into = &r.err
	case "previous_response_id", "store":
		v, err := s.raw()
		r.repeats = append(r.repeats, repeat{key[0] == 's', s.i - len(v), s.i})
		return err
	default:
		return s.skip()
	}
	v, err := s.raw()
	if *into == nil {
		*into = v
	}
	return err
}

// watch notes keys that readers could differ about: those that are not written
// plainly, and a second one of a kind that leads to a call.
func (e *outline) watch(key []byte, seen *duplicates) {
	if !isPlainKey(key) {
		e.odd = true
		return
	}
	bit := duplicates(0)
	switch string(key) {
	case "type":
		bit = 1
	case "item":
		bit = 2
	case "output":
		bit = 4
	case "response":
		bit = 8
	case "output_index":
		bit = 16
	}
	e.odd = e.odd || *seen&bit != 0
	*seen |= bit
}

// items reads an item or a list of items.
func (e *outline) items(s *scanner) error {
	switch s.peek() {
	case '{':
		return e.oneItem(s)
	case '[':
		return s.array(func() error {
			if s.peek() == '{' {
				return e.oneItem(s)
			}
			e.odd = true
			return s.skip()
		})
	}
	return s.skip()
}

func (e *outline) oneItem(s *scanner) error {
	var seen duplicates
	return s.object(func(key []byte) error {
		e.watch(key, &seen)
		if string(key) != "type" {
			return s.skip()
		}
		v, err := s.raw()
		if err == nil && !isInert(v) {
			e.calls = true
		}
		return err
	})
}

// isInert reports whether the raw type of an item is one that plainly is no
// call and declares nothing. Only what is known to be so counts.
func isInert(typ []byte) bool {
	switch string(typ) {
	case `"message"`, `"reasoning"`, `"compaction"`, `"web_search_call"`, `"file_search_call"`,
		`"code_interpreter_call"`, `"image_generation_call"`, `"mcp_call"`:
		return true
	}
	return false
}

// response is the response object that an event is about: the nested one, or,
// as some relays send it, the event itself. nil if there is neither.
func (e *outline) response() *snapshot {
	switch {
	case e.nested.raw != nil:
		return &e.nested
	case string(e.object) == `"response"`:
		return &e.snapshot
	}
	return nil
}

// suspect reports whether an event could carry a call, or name one.
func (e *outline) suspect(eventLine []byte) bool {
	return e.odd || e.calls || namesCalls(e.typ) || namesCalls(string(eventLine))
}

// namesCalls reports whether events of this type are part of a call.
func namesCalls(typ string) bool {
	return strings.Contains(typ, "_call") || strings.Contains(typ, "_approval_") ||
		strings.Contains(typ, "_arguments.") || strings.Contains(typ, "_input.") ||
		strings.Contains(typ, "_command.") || strings.Contains(typ, "_diff.")
}
