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
// name: there is no nesting, no escaped or folded key, and one type. last is
// what earlier events left, and is kept up to date.
func readFlat(data []byte, last *template) (e flat, ok bool) {
	if m, ok := last.match(data); ok {
		return m, true
	}
	s := scanner{b: data}
	last.begin()
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
		switch string(key) {
		case "sequence_number", "delta", "obfuscation":
			last.variable(from, s.i, key[0] == 's')
		}
	}
	if !s.take('}') || !s.end() || e.typ == nil {
		return e, false
	}
	last.keep(data, e)
	return e, true
}

// template is a flat event that was read before, and where its values lie that
// change from one delta of an item to the next. An event that has the same
// bytes around such values is as flat, and says the same.
type template struct {
	bytes     [512]byte
	n         int // 0: there is none
	variables [4]variable
	count     int
	flat      flat // typ lies in bytes
}

type variable struct {
	from, to int
	sequence bool
}

func (t *template) begin() { t.n, t.count = 0, 0 }

func (t *template) variable(from, to int, sequence bool) {
	if t.count < len(t.variables) {
		t.variables[t.count] = variable{from, to, sequence}
		t.count++
	}
}

// keep makes t the template of what was read from data.
func (t *template) keep(data []byte, e flat) {
	if len(data) > len(t.bytes) {
		return
	}
	t.n = copy(t.bytes[:], data)
	at := bytes.Index(t.bytes[:t.n], e.typ)
	t.flat = flat{typ: t.bytes[at : at+len(e.typ)]}
}

// match reads data by the template.
func (t *template) match(data []byte) (e flat, ok bool) {
	if t.n == 0 {
		return e, false
	}
	e = t.flat
	s := scanner{b: data}
	at := 0
	for _, v := range t.variables[:t.count] {
		if !bytes.HasPrefix(data[s.i:], t.bytes[at:v.from]) {
			return e, false
		}
		s.i += v.from - at
		from := s.i
		if _, ok := s.scalar(); !ok {
			return e, false
		}
		if v.sequence {
			e.sequence, e.sequenced = readCount(data[from:s.i])
		}
		at = v.to
	}
	return e, bytes.Equal(data[s.i:], t.bytes[at:t.n])
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
