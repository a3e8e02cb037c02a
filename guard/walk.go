package guard

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// object reads an object and calls member for each key; member must consume the
// value. A value that is no object is skipped.
func (r *requestReader) object(member func(key []byte) error) error {
	if r.d.PeekKind() != '{' {
		return r.d.SkipValue()
	}
	if _, err := r.d.ReadToken(); err != nil {
		return err
	}
	for r.d.PeekKind() != '}' {
		quoted, err := r.d.ReadValue()
		if err != nil {
			return err
		}
		if err := member(r.unquote(quoted)); err != nil {
			return err
		}
	}
	_, err := r.d.ReadToken()
	return err
}

// array reads an array and calls element for each value; element must consume
// it. Another value is skipped.
func (r *requestReader) array(element func() error) error {
	if r.d.PeekKind() != '[' {
		return r.d.SkipValue()
	}
	if _, err := r.d.ReadToken(); err != nil {
		return err
	}
	for r.d.PeekKind() != ']' {
		if err := element(); err != nil {
			return err
		}
	}
	_, err := r.d.ReadToken()
	return err
}

// unquote returns the text of a string literal. It is valid until the next
// token is read.
func (r *requestReader) unquote(quoted jsontext.Value) []byte {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return quoted[1 : len(quoted)-1]
	}
	// The decoder has validated the literal; what is reported here is UTF-8
	// that was replaced.
	r.key, _ = jsontext.AppendUnquote(r.key[:0], quoted)
	return r.key
}

// string reads a string into s; another value is skipped and leaves s alone.
func (r *requestReader) string(s *string) error {
	if r.d.PeekKind() != '"' {
		return r.d.SkipValue()
	}
	tok, err := r.d.ReadToken()
	if err == nil {
		*s = text(tok.String())
	}
	return err
}

// value runs read and keeps the raw value that it consumed. The decoder reads
// from the body itself, so the value stays valid.
func (r *requestReader) value(v *jsontext.Value, read func() error) error {
	r.d.PeekKind()
	from := r.d.InputOffset()
	if err := read(); err != nil {
		return err
	}
	*v = bytes.TrimLeft(r.whole[from:r.d.InputOffset()], " \t\r\n:,")
	return nil
}

// duplicates remembers which of a set of keys an object has had.
type duplicates uint16

// once reports a second occurrence of one of keys as an error.
func (r *requestReader) once(seen *duplicates, key []byte, keys []string) error {
	i := slices.IndexFunc(keys, func(k string) bool { return string(key) == k })
	if i < 0 {
		return nil
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

// place names the value that was read last as the API names a parameter, for
// example "input[3].tools[0].name".
func (r *requestReader) place() string {
	at := r.base
	for token := range r.d.StackPointer().Tokens() {
		switch _, err := strconv.Atoi(token); {
		case err == nil:
			at += "[" + token + "]"
		case at == "":
			at = token
		default:
			at += "." + token
		}
	}
	return at
}
