package guard

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/bits"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// maxDepth bounds nesting, so that a nest of brackets cannot use up the stack.
const maxDepth = 10_000

// errSyntax says that the bytes are not JSON; the scanner stands where.
var errSyntax = errors.New("not valid JSON")

// scanner reads JSON in place, without building anything. It is strict about
// syntax and nesting and lenient about what decides nothing: duplicate names,
// which the reader of the names deals with, and UTF-8 (JSON.stringify emits lone
// surrogates, and a delta can be cut inside an emoji).
//
// It does what jsontext.Decoder does, held to it by a fuzz test, at several times
// the speed: strings, of which requests and responses mostly consist, are read
// eight bytes at once, and by larger blocks where the processor can. What the
// guard costs is decided here.
type scanner struct {
	b     []byte
	i     int // the next byte
	depth int
}

// peek skips white space and returns the byte that the next token begins with,
// 0 at the end.
func (s *scanner) peek() byte {
	for s.i < len(s.b) {
		switch c := s.b[s.i]; c {
		case ' ', '\t', '\r', '\n':
			s.i++
		default:
			return c
		}
	}
	return 0
}

// take consumes c if it comes next.
func (s *scanner) take(c byte) bool {
	if s.peek() != c {
		return false
	}
	s.i++
	return true
}

// skip consumes one value.
func (s *scanner) skip() error {
	switch s.peek() {
	case '{':
		return s.object(nil)
	case '[':
		return s.array(nil)
	case '"':
		_, err := s.quoted()
		return err
	case 't':
		return s.literal("true")
	case 'f':
		return s.literal("false")
	case 'n':
		return s.literal("null")
	}
	return s.number()
}

// raw consumes one value and returns its bytes.
func (s *scanner) raw() ([]byte, error) {
	s.peek()
	from := s.i
	err := s.skip()
	return s.b[from:s.i:s.i], err
}

// end reports whether nothing but white space is left.
func (s *scanner) end() bool { return s.peek() == 0 && s.i == len(s.b) }

// object consumes an object and calls member for each key, as it is written
// between its quotes; member must consume the value. nil skips all values.
func (s *scanner) object(member func(key []byte) error) error {
	if err := s.open('{'); err != nil {
		return err
	}
	for more := !s.take('}'); more; {
		if s.peek() != '"' {
			return errSyntax
		}
		key, err := s.quoted()
		if err != nil {
			return err
		}
		if !s.take(':') {
			return errSyntax
		}
		if member == nil {
			err = s.skip()
		} else {
			err = member(key[1 : len(key)-1])
		}
		if err != nil {
			return err
		}
		if more = s.take(','); !more && !s.take('}') {
			return errSyntax
		}
	}
	s.depth--
	return nil
}

// array consumes an array and calls element for each value, which it must
// consume. nil skips all values.
func (s *scanner) array(element func() error) error {
	if err := s.open('['); err != nil {
		return err
	}
	for more := !s.take(']'); more; {
		var err error
		if element == nil {
			err = s.skip()
		} else {
			err = element()
		}
		if err != nil {
			return err
		}
		if more = s.take(','); !more && !s.take(']') {
			return errSyntax
		}
	}
	s.depth--
	return nil
}

// open enters an object or array. Errors are final, so only its good end
// leaves it again.
func (s *scanner) open(c byte) error {
	if !s.take(c) || s.depth == maxDepth {
		return errSyntax
	}
	s.depth++
	return nil
}

func (s *scanner) literal(word string) error {
	if !bytes.HasPrefix(s.b[s.i:], []byte(word)) {
		return errSyntax
	}
	s.i += len(word)
	return nil
}

// quoted consumes a string and returns it with its quotes.
func (s *scanner) quoted() ([]byte, error) {
	from := s.i
	s.i = skipPlain(s.b, s.i+1)
	if s.i < len(s.b) && s.b[s.i] == '"' { // as in most
		s.i++
		return s.b[from:s.i], nil
	}
	s.i += skipBlocks(s.b[s.i:])
	if !s.text() {
		return nil, errSyntax
	}
	return s.b[from:s.i], nil
}

// text consumes what is inside of a string, up to and with the closing quotation
// mark; false if there is an error before that, or no mark. It looks at eight
// bytes at once for one that does not stand for itself: a quotation mark, a
// backslash, a byte below 0x20.
func (s *scanner) text() bool {
	const (
		ones    = 0x0101010101010101
		high    = 0x80 * ones
		spaces  = 0x20 * ones
		quotes  = '"' * ones
		slashes = '\\' * ones
	)
	b, i := s.b, s.i
	for i < len(b) {
		if i+8 <= len(b) {
			x := binary.LittleEndian.Uint64(b[i:])
			q, e := x^quotes, x^slashes
			// Of each term the lowest set bit is exact; borrows can only add
			// higher ones.
			hit := ((x-spaces)&^x | (q-ones)&^q | (e-ones)&^e) & high
			if hit == 0 {
				i += 8
				continue
			}
			i += bits.TrailingZeros64(hit) / 8
		}
		switch c := b[i]; {
		case c == '"':
			s.i = i + 1
			return true
		case c == '\\':
			n := escapeLen(b[i:])
			if n == 0 {
				s.i = i
				return false
			}
			i += n
		case c < ' ':
			s.i = i
			return false
		default:
			i++
		}
	}
	s.i = i
	return false
}

// escapeLen returns the length of the escape sequence at the start of b, 0 if
// it is none.
func escapeLen(b []byte) int {
	if len(b) < 2 {
		return 0
	}
	switch b[1] {
	case 'n', '"', '\\', 't', 'r', '/', 'b', 'f':
		return 2
	case 'u':
		return unicodeEscapeLen(b)
	}
	return 0
}

func unicodeEscapeLen(b []byte) int {
	if len(b) < 6 {
		return 0
	}
	for _, c := range b[2:6] {
		if (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'f') {
			return 0
		}
	}
	return 6
}

// number consumes a number, or nothing that is one.
func (s *scanner) number() error {
	if s.i < len(s.b) && s.b[s.i] == '-' {
		s.i++
	}
	if s.i < len(s.b) && s.b[s.i] == '0' {
		s.i++
	} else if s.digits() == 0 {
		return errSyntax
	}
	if s.i < len(s.b) && s.b[s.i] == '.' {
		s.i++
		if s.digits() == 0 {
			return errSyntax
		}
	}
	if s.i < len(s.b) && s.b[s.i]|0x20 == 'e' {
		s.i++
		if s.i < len(s.b) && (s.b[s.i] == '+' || s.b[s.i] == '-') {
			s.i++
		}
		if s.digits() == 0 {
			return errSyntax
		}
	}
	return nil
}

func (s *scanner) digits() (n int) {
	for s.i < len(s.b) && isDigit(s.b[s.i]) {
		s.i++
		n++
	}
	return n
}

// unquote returns what a string means, given between its quotes, in the form
// that all strict readers end up with: U+FFFD for what is not UTF-8. scratch is
// used where s has escapes; else s itself may be returned.
func unquote(s, scratch []byte) []byte {
	if bytes.IndexByte(s, '\\') < 0 && utf8.Valid(s) {
		return s
	}
	quoted := append(append(append(make([]byte, 0, len(s)+2), '"'), s...), '"')
	// The scanner has validated the literal; what is reported here is UTF-8
	// that was replaced.
	scratch, _ = jsontext.AppendUnquote(scratch[:0], quoted)
	return scratch
}
