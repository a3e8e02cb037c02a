package replay

import (
	"crypto/sha256"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/tidwall/gjson"
)

// resent returns how many items at the head of input are the end of history
// sent again, so that they are not input twice. Clients do this that name the
// previous response and yet send what it answered.
//
// What counts is the longest run of input items that equals a run at the end of
// history and holds an output item: a client that says "yes" twice sends equal
// messages and means both. If the run is not the whole history, one of its
// output items must also have an id or a call_id, which no two items share by
// chance. Items are equal if they are the same JSON value once normalised.
func resent(history, input []item) int {
	if len(history) == 0 || !mayResend(history[len(history)-1], input) {
		return 0
	}
	head := input[:min(len(input), len(history))]
	pattern := hashes(head)
	text := hashes(history[len(history)-len(head):])

	// Knuth, Morris and Pratt: after all of text, n is the length of the longest
	// prefix of pattern that text ends with.
	back := make([]int, len(pattern))
	for i, n := 1, 0; i < len(pattern); i++ {
		for n > 0 && pattern[i] != pattern[n] {
			n = back[n-1]
		}
		if pattern[i] == pattern[n] {
			n++
		}
		back[i] = n
	}
	n := 0
	for i, h := range text {
		for n > 0 && h != pattern[n] {
			n = back[n-1]
		}
		if h == pattern[n] {
			n++
		}
		if n == len(pattern) && i < len(text)-1 {
			n = back[n-1]
		}
	}

	for _, it := range history[len(history)-n:] {
		if it.output && (n == len(history) || it.id != "" || it.callID != "") {
			return n
		}
	}
	return 0
}

// mayResend tells cheaply, in most cases, that none of input is last, the item
// that a resent run would have to end with.
func mayResend(last item, input []item) bool {
	for _, it := range input {
		if it.kind() == last.kind() && it.id == last.id && it.callID == last.callID && it.role == last.role {
			return true
		}
	}
	return false
}

// kind is the type, which a message may leave out.
func (it item) kind() string {
	if it.typ == "" && it.role != "" {
		return "message"
	}
	return it.typ
}

func hashes(items []item) [][sha256.Size]byte {
	h := make([][sha256.Size]byte, len(items))
	for i, it := range items {
		h[i] = sha256.Sum256(it.comparable())
	}
	return h
}

// comparable returns bytes that are equal for items that are the same to an API.
func (it item) comparable() []byte {
	raw := it.raw
	if it.object {
		raw = it.normalize()
		if it.kind() == "message" && it.role != "assistant" {
			raw = explicit(raw)
		}
	}
	v := jsontext.Value(raw)
	if v.Canonicalize(jsontext.AllowInvalidUTF8(true), jsontext.CanonicalizeRawInts(false)) != nil {
		return []byte(raw) // duplicate names: equal only to itself
	}
	return v
}

// explicit writes a message in the long form: with its type, and a string as
// a list of one text.
func explicit(raw string) string {
	var b strings.Builder
	b.WriteString(`{"type":"message"`)
	gjson.Parse(raw).ForEach(func(k, v gjson.Result) bool {
		if k.Str == "type" {
			return true
		}
		b.WriteString("," + k.Raw + ":")
		if k.Str == "content" && v.Type == gjson.String {
			b.WriteString(`[{"type":"input_text","text":` + v.Raw + `}]`)
		} else {
			b.WriteString(v.Raw)
		}
		return true
	})
	b.WriteByte('}')
	return b.String()
}
