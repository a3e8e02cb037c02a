package guard

import "bytes"

// template is a flat event that decides nothing, read before, and where its
// values lie that change from one delta of an item to the next. An event that
// has the same bytes around such values is as flat, and says the same.
type template struct {
	bytes [512]byte
	n     int    // 0: there is none
	typ   []byte // lies in bytes
	variables
}

// variables are values that change, in the order in which they come.
type variables struct {
	all       [3]variable
	count     int  // may be more than there is room for
	sequenced bool // a sequence number is among them
}

// variable is where a value lies.
type variable struct {
	from, to int
	sequence bool // it is a number that counts; else it is a string
}

// add takes a member if its value is one that changes.
func (v *variables) add(key []byte, from, to int, first byte) {
	sequence := first >= '0' && first <= '9'
	switch string(key) {
	case "sequence_number":
		if !sequence {
			return
		}
	case "delta", "obfuscation":
		if first != '"' {
			return
		}
	default:
		return
	}
	if v.count < len(v.all) {
		v.all[v.count] = variable{from, to, sequence}
	}
	v.count++
	v.sequenced = v.sequenced || sequence
}

// keep makes t the template of what was read from data.
func (t *template) keep(data []byte, e *flat, vary *variables) {
	if len(data) > len(t.bytes) || vary.count > len(vary.all) || vary.sequenced != e.sequenced {
		return // also where keys repeat
	}
	t.n = copy(t.bytes[:], data)
	at := bytes.Index(t.bytes[:t.n], e.typ)
	t.typ = t.bytes[at : at+len(e.typ)]
	t.variables = *vary
}

// match reads data by the template, and returns its number.
func (t *template) match(data []byte) (number int64, numbered, ok bool) {
	s := scanner{b: data}
	at := 0
	for i := range t.all[:t.count] {
		v := &t.all[i]
		if !s.same(t.bytes[at:v.from]) || s.i == len(data) {
			return 0, false, false
		}
		if v.sequence {
			number, numbered = s.ordinal()
		} else if data[s.i] != '"' {
			return 0, false, false
		} else if _, err := s.quoted(); err != nil {
			return 0, false, false
		}
		at = v.to
	}
	return number, numbered, s.same(t.bytes[at:t.n]) && s.i == len(data) && t.n > 0
}

// same consumes b if that comes next.
func (s *scanner) same(b []byte) bool {
	if len(s.b)-s.i < len(b) || string(s.b[s.i:s.i+len(b)]) != string(b) {
		return false
	}
	s.i += len(b)
	return true
}

// ordinal consumes a number that counts, as readCount takes it. Of any other
// something is left over.
func (s *scanner) ordinal() (n int64, ok bool) {
	from := s.i
	for until := min(from+maxCountDigits, len(s.b)); s.i < until && isDigit(s.b[s.i]); {
		n = n*10 + int64(s.b[s.i]-'0')
		s.i++
		if n == 0 {
			break // no digit may follow
		}
	}
	return n, s.i > from
}
