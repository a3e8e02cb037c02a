package guard

import (
	"unicode/utf8"
	"unsafe"

	"github.com/tidwall/gjson"
)

// valid reports whether b is one JSON value with nothing behind it. It is
// strict about syntax and nesting (10,000 levels), and lenient about what
// decides nothing: duplicate names (the reader of the names deals with those)
// and invalid UTF-8 (JSON.stringify emits lone surrogates, and a delta can be
// cut inside an emoji).
//
// Nothing that came from outside is read with gjson before this said yes:
// gjson takes non-JSON for JSON.
func valid(b []byte) bool {
	s := scanner{b: b}
	return s.skip() == nil && s.end()
}

// parse reads b without copying it: results alias b and live as long as it is
// left alone.
func parse(b []byte) gjson.Result {
	if len(b) == 0 {
		return gjson.Result{}
	}
	return gjson.Parse(unsafe.String(&b[0], len(b)))
}

// text reads s as every strict reader does in the end: with U+FFFD for each
// byte that is not UTF-8.
func text(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return string([]rune(s))
}
