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

// readFlat reads an event of that shape; ok is false for any other, and for one
// with a key that can have to do with a call or an end: those are looked at
// more closely. In what it takes no reader can see an item, a snapshot or a
// name: there is no nesting, no escaped or folded key, and one type. vary gets
// where the values lie that change.
func readFlat(data []byte, vary *variables) (e flat, ok bool) {
	s := scanner{b: data}
	for first := true; ; first = false {
		if first && !s.take('{') || !first && !s.take(',') {
			break
		}
		key, ok := s.key()
		if !ok {
			return e, false
		}
		s.peek()
		from := s.i
		value, ok := s.scalar()
		if !ok || !e.member(key, value) {
			return e, false
		}
		vary.add(key, from, value)
	}
	return e, s.take('}') && s.end() && e.typ != nil
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
	return c >= 'a' && c <= 'z' || c == '_' || isDigit(c)
}

// readCount reads a number that counts; ok is false for any other.
func readCount(b []byte) (n int64, ok bool) {
	if len(b) == 0 || len(b) > maxCountDigits {
		return 0, false
	}
	for _, c := range b {
		if !isDigit(c) {
			return 0, false
		}
		n = n*10 + int64(c-'0')
	}
	return n, true
}

// maxCountDigits is how long a number may be that counts.
const maxCountDigits = 18

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

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
