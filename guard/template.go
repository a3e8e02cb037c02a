package guard

import (
	"bytes"

	"turngate/sse"
)

// template is a frame whose event is flat and decides nothing, inspected before,
// without the values that change from one delta of an item to the next. A frame
// that has the same bytes around such values is as flat, and says the same.
type template struct {
	fixed    [384]byte
	n        int    // of fixed; 0: there is none
	from, to int    // the data; from is 0 if what stands around that is not known
	typ      []byte // lies in fixed
	gaps     [maxVariables]gap
	count    int // of gaps
}

// gap is where in fixed a value was left out.
type gap struct {
	at       int
	sequence bool // it is a number that counts; else it is a string
}

// maxVariables is how many values of an event may change. Deltas have three.
const maxVariables = 3

// variables are the values of an event that change, in the order in which they
// come.
type variables struct {
	all       [maxVariables]variable
	count     int  // may be more than there is room for
	sequenced bool // a sequence number is among them
}

// variable is where in the data a value lies.
type variable struct {
	from, to int
	sequence bool
}

// add takes a member if its value is one that changes.
func (v *variables) add(key []byte, from int, value []byte) {
	sequence := false
	switch string(key) {
	case "sequence_number":
		if sequence = isDigit(value[0]); !sequence {
			return
		}
	case "delta", "obfuscation":
		if value[0] != '"' {
			return
		}
	default:
		return
	}
	if v.count < len(v.all) {
		v.all[v.count] = variable{from, from + len(value), sequence}
	}
	v.count++
	v.sequenced = v.sequenced || sequence
}

// keep makes t the template of f, of which e was read.
func (t *template) keep(f *sse.Frame, e *flat, vary *variables) {
	if vary.count > len(vary.all) || vary.sequenced != e.sequenced {
		return // keys repeat
	}
	head, tail := around(f)
	n := len(head) + len(f.Data) + len(tail)
	for _, v := range vary.all[:vary.count] {
		n -= v.to - v.from
	}
	if n > len(t.fixed) {
		return
	}
	t.n, t.from, t.count = n, len(head), vary.count
	fixed := append(t.fixed[:0], head...)
	done := 0
	for i, v := range vary.all[:vary.count] {
		fixed = append(fixed, f.Data[done:v.from]...)
		t.gaps[i] = gap{len(fixed), v.sequence}
		done = v.to
	}
	fixed = append(fixed, f.Data[done:]...)
	t.to = len(fixed)
	at := t.from + bytes.Index(fixed[t.from:], e.typ)
	t.typ = fixed[at : at+len(e.typ)]
	copy(t.fixed[t.to:], tail)
}

// around returns what stands before and behind the data of a plain frame, nil if
// that is not written as most write it.
func around(f *sse.Frame) (head, tail []byte) {
	const tails = "\n\n"
	n := len(f.Raw) - len(tails) - len(f.Data)
	if n < 0 || string(f.Raw[n+len(f.Data):]) != tails || !bytes.Equal(f.Raw[n:n+len(f.Data)], f.Data) {
		return nil, nil
	}
	head = f.Raw[:n]
	fields, ok := bytes.CutSuffix(head, []byte("data: "))
	if f.Event != nil {
		fields = bytes.TrimPrefix(fields, []byte("event: "))
		fields = bytes.TrimSuffix(fields, []byte("\n"))
	}
	if !ok || !bytes.Equal(fields, f.Event) {
		return nil, nil
	}
	return head, f.Raw[n+len(f.Data):]
}

// matchData reads an event's data by the template, and returns its number.
func (t *template) matchData(data []byte) (number int64, numbered, ok bool) {
	n, number, numbered := t.match(data, t.from, t.to)
	return number, numbered, n > 0 && n == len(data)
}

// matchFrame returns the length of the frame that b begins with, 0 if it is not
// of the template, and the number of its event.
func (t *template) matchFrame(b []byte) (n int, number int64, numbered bool) {
	if t.from == 0 {
		return 0, 0, false
	}
	return t.match(b, 0, t.n)
}

// match reads b by what lies in the template between from and to, and returns
// how much of b that is, 0 if it differs.
func (t *template) match(b []byte, from, to int) (n int, number int64, numbered bool) {
	s := scanner{b: b}
	for i := range t.gaps[:t.count] {
		g := &t.gaps[i]
		ok := s.same(t.fixed[from:g.at])
		switch {
		case !ok:
		case g.sequence:
			number, ok = s.ordinal()
			numbered = ok
		default:
			ok = s.str()
		}
		if !ok {
			return 0, 0, false
		}
		from = g.at
	}
	if !s.same(t.fixed[from:to]) {
		return 0, 0, false
	}
	return s.i, number, numbered
}

// same consumes b if that comes next.
func (s *scanner) same(b []byte) bool {
	if len(s.b)-s.i < len(b) || string(s.b[s.i:s.i+len(b)]) != string(b) {
		return false
	}
	s.i += len(b)
	return true
}

// str consumes a string if one comes next.
func (s *scanner) str() bool {
	if s.i == len(s.b) || s.b[s.i] != '"' {
		return false
	}
	_, err := s.quoted()
	return err == nil
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
