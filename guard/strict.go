package guard

import (
	"errors"
	"iter"
	"slices"
	"strings"
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

// bytesOf is the reverse of parse: the bytes of s, not to be written to.
func bytesOf(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }

// named returns which of names the object key k means to any reader, or "".
// encoding/json folds the case of keys, and with Unicode's rules at that
// ("reſponse" is "response" to it), so folded spellings count.
func named(k string, names []string) string {
	for _, n := range names {
		if k == n {
			return n
		}
	}
	if isLower(k) {
		return ""
	}
	for _, n := range names {
		if strings.EqualFold(k, n) {
			return n
		}
	}
	return ""
}

func isLower(s string) bool {
	for i := range len(s) {
		if c := s[i]; c >= utf8.RuneSelf || 'A' <= c && c <= 'Z' {
			return false
		}
	}
	return true
}

// text reads s as every strict reader does in the end: with U+FFFD for each
// byte that is not UTF-8.
func text(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return string([]rune(s))
}

// readings is what the members of one name in one object come to: usually one
// value, several where names are duplicated or differ in case only.
type readings []gjson.Result

// strings returns the distinct texts among the readings; ok is false if one of
// them is neither a string nor null.
func (r readings) strings() (all []string, ok bool) {
	ok = true
	for _, v := range r {
		switch v.Type {
		case gjson.String:
			if s := text(v.Str); !slices.Contains(all, s) {
				all = append(all, s)
			}
		case gjson.Null:
		default:
			ok = false
		}
	}
	return all, ok
}

// has reports whether one of the readings is the string s.
func (r readings) has(s string) bool {
	for _, v := range r {
		if v.Type == gjson.String && v.Str == s {
			return true
		}
	}
	return false
}

// first returns the first string among the readings, or "".
func (r readings) first() string {
	for _, v := range r {
		if v.Type == gjson.String {
			return text(v.Str)
		}
	}
	return ""
}

// null reports whether one of the readings is null, or that there is none.
func (r readings) null() bool {
	return len(r) == 0 || slices.ContainsFunc(r, func(v gjson.Result) bool { return v.Type == gjson.Null })
}

// maxReadings bounds how often a key that matters may be repeated. Every
// reading is judged with every reading of the other keys, so without a bound
// one event could keep the guard busy for hours.
const maxReadings = 16

// members collects the readings of names in object, in the order of names. A
// name that is there in folded spellings only has null among its readings: to
// most readers it is absent. ok is false if one is repeated too often to be
// judged.
func members(object gjson.Result, names []string, out []readings) (ok bool) {
	ok = true
	if !object.IsObject() {
		return ok
	}
	var exact uint
	all := make([]gjson.Result, 0, min(len(names), 6)) // the first readings of each, mostly the only ones
	r := scanner{b: bytesOf(object.Raw)}
	r.object(func(key []byte) error { // validated before
		n := named(string(unquote(key, nil)), names)
		if n == "" {
			return r.skip()
		}
		value, err := r.raw()
		i := slices.Index(names, n)
		if string(key) == n {
			exact |= 1 << i
		}
		switch {
		case len(out[i]) == maxReadings:
			ok = false
		case len(out[i]) == 0:
			all = append(all, parse(value))
			out[i] = all[len(all)-1 : len(all) : len(all)]
		default:
			out[i] = append(out[i], parse(value))
		}
		return err
	})
	for i := range out {
		if len(out[i]) > 0 && exact&(1<<i) == 0 {
			out[i] = append(out[i], gjson.Result{Type: gjson.Null})
		}
	}
	return ok
}

// elements are those of an array. (gjson's own way goes byte by byte.)
func elements(array gjson.Result) iter.Seq[gjson.Result] {
	return func(yield func(gjson.Result) bool) {
		r := scanner{b: bytesOf(array.Raw)}
		r.array(func() error { // validated before
			value, err := r.raw()
			if err == nil && !yield(parse(value)) {
				err = errEnough
			}
			return err
		})
	}
}

var errEnough = errors.New("enough")
