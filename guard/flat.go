package guard

import "bytes"

// flat is an event that is nothing but one object of strings, numbers, literals
// and empty lists under plain lower-case keys, as deltas are, and so nearly
// every event.
type flat struct {
	typ       []byte // what "type" says
	sequence  int64
	sequenced bool
}

// prefix remembers how the last flat event began, up to the value of its
// "delta", and what it said by then. The deltas of one item begin with the same
// bytes, and the same bytes mean the same.
type prefix struct {
	bytes [256]byte
	n     int
	flat  flat // typ lies in bytes
}

// readFlat reads an event of that shape; ok is false for any other, and for one
// with a key that can have to do with a call or an end: those are looked at
// more closely. In what it takes no reader can see an item, a snapshot or a
// name: there is no nesting, no escaped or folded key, and one type. last is
// what the event before left, and is kept up to date.
func readFlat(data []byte, last *prefix) (e flat, ok bool) {
	s := scanner{b: data}
	if last.n > 0 && bytes.HasPrefix(data, last.bytes[:last.n]) {
		s.i, e = last.n, last.flat
		if _, ok := s.scalar(); !ok {
			return e, false
		}
	} else if !e.begin(&s, last) {
		return e, false
	}
	for s.take(',') {
		key, ok := s.key()
		if !ok {
			return e, false
		}
		value, ok := s.scalar()
		if !ok || !e.member(key, value) {
			return e, false
		}
	}
	return e, s.take('}') && s.end() && e.typ != nil
}

// begin reads the members up to and with "delta", or all if there is none.
func (e *flat) begin(s *scanner, last *prefix) bool {
	for first := true; ; first = false {
		if first && !s.take('{') || !first && !s.take(',') {
			return !first
		}
		key, ok := s.key()
		if !ok {
			return false
		}
		if string(key) == "delta" && e.typ != nil {
			e.remember(s, last)
			_, ok := s.scalar()
			return ok
		}
		value, ok := s.scalar()
		if !ok || !e.member(key, value) {
			return false
		}
	}
}

// remember keeps what was read so far.
func (e *flat) remember(s *scanner, last *prefix) {
	last.n = 0
	if s.i > len(last.bytes) {
		return
	}
	last.n = copy(last.bytes[:], s.b[:s.i])
	last.flat = *e
	at := bytes.Index(last.bytes[:last.n], e.typ)
	last.flat.typ = last.bytes[at : at+len(e.typ)]
}

// key consumes a plain key and its colon: lower-case ASCII letters, digits and
// underscores, written as it is meant, and in the only case it has.
func (s *scanner) key() (key []byte, ok bool) {
	if s.peek() != '"' {
		return nil, false
	}
	from := s.i + 1
	to := from
	for to < len(s.b) && isPlainKeyByte(s.b[to]) {
		to++
	}
	if to == len(s.b) || s.b[to] != '"' {
		return nil, false
	}
	s.i = to + 1
	return s.b[from:to], s.take(':')
}

// member takes one member; it is false for those that a flat event must not
// have.
func (e *flat) member(key, value []byte) bool {
	switch string(key) {
	case "type":
		if e.typ != nil || value[0] != '"' || bytes.IndexByte(value, '\\') >= 0 {
			return false
		}
		e.typ = value[1 : len(value)-1]
	case "sequence_number":
		e.sequence, e.sequenced = readCount(value)
	case "name", "item", "output", "response", "error":
		return false
	}
	return true
}

// scalar consumes a string, number, literal or empty list.
func (s *scanner) scalar() ([]byte, bool) {
	c := s.peek()
	from := s.i
	switch c {
	case '"':
		v, err := s.quoted()
		return v, err == nil
	case '[':
		s.i++
		return s.b[from:s.i], s.take(']')
	case '{', 0:
		return nil, false
	}
	err := s.skip()
	return s.b[from:s.i], err == nil
}

// isPlainKey reports whether a key is of lower-case ASCII letters, digits and
// underscores.
func isPlainKey(key []byte) bool {
	for _, c := range key {
		if !isPlainKeyByte(c) {
			return false
		}
	}
	return true
}

func isPlainKeyByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c == '_' || c >= '0' && c <= '9'
}

// readCount reads a number that counts; ok is false for any other.
func readCount(b []byte) (n int64, ok bool) {
	if len(b) == 0 || len(b) > 18 {
		return 0, false
	}
	for _, c := range b {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int64(c-'0')
	}
	return n, true
}

// carriesNothing reports whether a flat event of this type is one that decides
// nothing: a piece of text, of reasoning, or of the arguments of a call that
// its item announces.
func carriesNothing(typ []byte) bool {
	switch string(typ) {
	case "response.output_text.delta", "response.output_text.done",
		"response.refusal.delta", "response.refusal.done",
		"response.reasoning_text.delta", "response.reasoning_text.done",
		"response.reasoning_summary_text.delta", "response.reasoning_summary_text.done",
		"response.function_call_arguments.delta", "response.custom_tool_call_input.delta",
		"response.mcp_call_arguments.delta", "response.code_interpreter_call_code.delta":
		return true
	}
	return false
}
