package guard

import (
	"bytes"
	"errors"
	"iter"
	"unsafe"
)

// value is a JSON value as it is written, read before and found valid, without
// white space around. It aliases what it was read from. nil is none at all.
type value []byte

// valueOf is the value in b, which was read before and found valid.
func valueOf(b []byte) value { return bytes.Trim(b, " \t\r\n") }

func (v value) isObject() bool { return len(v) > 0 && v[0] == '{' }
func (v value) isArray() bool  { return len(v) > 0 && v[0] == '[' }
func (v value) isString() bool { return len(v) > 0 && v[0] == '"' }
func (v value) isNull() bool   { return len(v) > 0 && v[0] == 'n' }

// isNumber reports whether v is a number.
func (v value) isNumber() bool { return len(v) > 0 && (v[0] == '-' || isDigit(v[0])) }

// unquoted is what a string means to every strict reader in the end, with U+FFFD
// for each byte that is not UTF-8; nil for another value. It may alias v.
func (v value) unquoted() []byte {
	if !v.isString() {
		return nil
	}
	return unquote(v[1:len(v)-1], nil)
}

// text is the same as a string.
func (v value) text() string {
	b := v.unquoted()
	return unsafe.String(unsafe.SliceData(b), len(b))
}

// elements are those of an array.
func (v value) elements() iter.Seq[value] {
	return func(yield func(value) bool) {
		r := scanner{b: v}
		r.array(func() error { // validated before
			element, err := r.raw()
			if err == nil && !yield(element) {
				err = errEnough
			}
			return err
		})
	}
}

var errEnough = errors.New("enough")
