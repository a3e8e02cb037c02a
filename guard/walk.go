package guard

import (
	"bytes"
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// step is one level of where the reader stands: a key, or an index.
type step struct {
	key   []byte // nil in an array
	index int
}

// members reads an object and calls member for each key; member must consume
// the value. A value that is no object is skipped.
func (r *requestReader) members(member func(key []byte) error) error {
	if r.peek() != '{' {
		return r.skip()
	}
	at := len(r.path)
	r.path = append(r.path, step{})
	err := r.object(func(key []byte) error {
		r.path[at].key = key
		return member(r.unquote(key))
	})
	if err == nil {
		r.path = r.path[:at]
	}
	return err
}

// elements reads an array and calls element for each value; element must
// consume it. Another value is skipped.
func (r *requestReader) elements(element func() error) error {
	if r.peek() != '[' {
		return r.skip()
	}
	at := len(r.path)
	r.path = append(r.path, step{index: -1})
	err := r.array(func() error {
		r.path[at].index++
		return element()
	})
	if err == nil {
		r.path = r.path[:at]
	}
	return err
}

// unquote returns what a key means. It is valid until the next key is read.
func (r *requestReader) unquote(key []byte) []byte {
	if isPlainKey(key) || bytes.IndexByte(key, '\\') < 0 && utf8.Valid(key) {
		return key // not to be taken for scratch: it is the body's
	}
	r.key = unquote(key, r.key)
	return r.key
}

// string reads a string into s; another value is skipped and leaves s alone.
func (r *requestReader) string(s *string) error {
	if r.peek() != '"' {
		return r.skip()
	}
	quoted, err := r.quoted()
	if err == nil {
		*s = intern(unquote(quoted[1:len(quoted)-1], nil))
	}
	return err
}

// value runs read and keeps the raw value that it consumed.
func (r *requestReader) value(v *jsontext.Value, read func() error) error {
	r.peek()
	from := r.i
	if err := read(); err != nil {
		return err
	}
	*v = r.b[from:r.i:r.i]
	return nil
}

// duplicates remembers which of a set of keys an object has had.
type duplicates uint16

// once reports a second occurrence of one of keys as an error.
func (r *requestReader) once(seen *duplicates, key []byte, keys []string) error {
	for i, k := range keys {
		if string(key) != k {
			continue
		}
		if *seen&(1<<i) != 0 {
			param := r.place()
			return &RequestError{
				Message: fmt.Sprintf("Duplicate key %q: readers differ about which one counts.", param),
				Param:   param,
			}
		}
		*seen |= 1 << i
		return nil
	}
	return nil
}

// place names the value that is being read as the API names a parameter, for
// example "input[3].tools[0].name".
func (r *requestReader) place() string {
	at := r.base
	for _, s := range r.path {
		switch {
		case s.key == nil:
			at += "[" + strconv.Itoa(s.index) + "]"
		case at == "":
			at = string(unquote(s.key, nil))
		default:
			at += "." + string(unquote(s.key, nil))
		}
	}
	return at
}
