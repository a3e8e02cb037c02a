package guard

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// readings is what the members of one name in one object come to: usually one
// value, several where names are duplicated or differ in case only.
type readings []value

// maxReadings bounds how often a key that matters may be repeated. Every
// reading is judged with every reading of the other keys, so without a bound
// one event could keep the guard busy for hours.
const maxReadings = 16

// members collects the readings of names in v, if that is an object, in the
// order of names. A name that is there in folded spellings only has null among
// its readings: to most readers it is absent. ok is false if one is repeated too
// often to be judged.
func (v value) members(names []string, out []readings) (ok bool) {
	ok = true
	if !v.isObject() {
		return ok
	}
	var exact uint
	all := make(readings, 0, min(len(names), 6)) // the first readings of each, mostly the only ones
	r := scanner{b: v}
	r.object(func(key []byte) error { // validated before
		i := named(key, names)
		if i < 0 {
			return r.skip()
		}
		member, err := r.raw()
		if string(key) == names[i] {
			exact |= 1 << i
		}
		switch {
		case len(out[i]) == maxReadings:
			ok = false
		case len(out[i]) == 0:
			all = append(all, member)
			out[i] = all[len(all)-1 : len(all) : len(all)]
		default:
			out[i] = append(out[i], member)
		}
		return err
	})
	for i := range out {
		if len(out[i]) > 0 && exact&(1<<i) == 0 {
			out[i] = append(out[i], value("null"))
		}
	}
	return ok
}

// named returns the index of the name that an object's key, as it is written,
// means to any reader, -1 if it means none. encoding/json folds the case of
// keys, and with Unicode's rules at that ("reſponse" is "response" to it), so
// folded spellings count.
func named(key []byte, names []string) int {
	for i, n := range names {
		if string(key) == n {
			return i
		}
	}
	if isPlainKey(key) {
		return -1
	}
	k := string(unquote(key, nil))
	if i := slices.Index(names, k); i >= 0 || isLower(k) {
		return i
	}
	return slices.IndexFunc(names, func(n string) bool { return strings.EqualFold(k, n) })
}

func isLower(s string) bool {
	for i := range len(s) {
		if c := s[i]; c >= utf8.RuneSelf || 'A' <= c && c <= 'Z' {
			return false
		}
	}
	return true
}

// strings returns the distinct texts among the readings; ok is false if one of
// them is neither a string nor null.
func (r readings) strings() (all []string, ok bool) {
	ok = true
	for _, v := range r {
		switch {
		case v.isString():
			if s := v.text(); !slices.Contains(all, s) {
				all = append(all, s)
			}
		case !v.isNull():
			ok = false
		}
	}
	return all, ok
}

// has reports whether one of the readings is the string s.
func (r readings) has(s string) bool {
	const longest = len(`\uXXXX`) // a byte can be written as
	return slices.ContainsFunc(r, func(v value) bool {
		return v.isString() && len(v) <= longest*len(s)+len(`""`) && v.text() == s
	})
}

// first returns the first string among the readings, or "".
func (r readings) first() string {
	if i := slices.IndexFunc(r, value.isString); i >= 0 {
		return r[i].text()
	}
	return ""
}

// null reports whether one of the readings is null, or that there is none.
func (r readings) null() bool { return len(r) == 0 || slices.ContainsFunc(r, value.isNull) }
