package guard

import "bytes"

// Edit is a new value for a member of a JSON object.
type Edit struct {
	Key   string
	Value []byte // raw JSON; nil removes the member
}

// AppendEdited appends object to dst with each edit made: in place of every
// member of its key, or at the end if there is none. Keys are told apart by what
// they mean, not by how they are written. All other bytes stay as they are.
// What is not a JSON object is appended unchanged.
func AppendEdited(dst, object []byte, edits ...Edit) []byte {
	e := editor{scanner: scanner{b: object}, out: dst, edits: edits, made: make([]bool, len(edits))}
	if e.peek() != '{' {
		return append(dst, object...)
	}
	e.done = e.i + 1
	e.out = append(e.out, object[:e.done]...)
	if e.object(e.member) != nil || !e.end() {
		return append(dst, object...)
	}
	for i, edit := range edits {
		if !e.made[i] && edit.Value != nil {
			if e.kept > 0 {
				e.out = append(e.out, ',')
			}
			e.kept++
			e.out = append(append(append(append(e.out, '"'), edit.Key...), `":`...), edit.Value...)
		}
	}
	return append(e.out, object[e.done:]...)
}

// editor copies an object member by member.
type editor struct {
	scanner
	out   []byte
	edits []Edit
	made  []bool
	done  int // bytes of the object that were dealt with
	kept  int // members written
}

// member deals with one member and all that stands before it: white space, the
// comma, the key.
func (e *editor) member(key []byte) error {
	e.peek()
	from := e.i
	if err := e.skip(); err != nil {
		return err
	}
	lead, value := e.b[e.done:from], e.b[from:e.i]
	first := e.done == bytes.IndexByte(e.b, '{')+1
	e.done = e.i
	key = unquote(key, nil)
	for i, edit := range e.edits {
		if edit.Key == string(key) {
			if e.made[i] || edit.Value == nil {
				e.made[i] = true
				return nil
			}
			e.made[i], value = true, edit.Value
		}
	}
	if e.kept == 0 && !first {
		lead = lead[bytes.IndexByte(lead, ',')+1:] // of a member that was removed
	}
	e.kept++
	e.out = append(append(e.out, lead...), value...)
	return nil
}
