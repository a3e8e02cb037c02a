package schema

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// TestHashProperties checks that the order of keys and white space never change
// a hash, and that every other change does.
func TestHashProperties(t *testing.T) {
	for seed := range uint64(250) {
		r := newRandom(seed)
		text := `{"x":` + r.tool() + `}` // never null, which has no hash
		hash := Hash([]byte(text))
		if len(hash) != 12 || strings.Trim(hash, "0123456789abcdef") != "" {
			t.Fatalf("seed %d: hash %q", seed, hash)
		}
		if same := Hash([]byte(shuffled(r.Rand, read(t, text)))); same != hash {
			t.Fatalf("seed %d: hash %s, in another order %s, of %s", seed, hash, same, text)
		}
		changed := appendCanonical(nil, r.change(read(t, text)))
		if other := Hash(changed); other == hash || other == "" {
			t.Fatalf("seed %d: hash %s of both %s and %s", seed, hash, text, changed)
		}
	}
}

// change returns v with one thing in it changed.
func (r random) change(v any) any {
	switch v := v.(type) {
	case map[string]any:
		if len(v) == 0 || r.IntN(6) == 0 {
			v["new"+fmt.Sprint(len(v))] = nil
			return v
		}
		name := slices.Sorted(maps.Keys(v))[r.IntN(len(v))]
		switch r.IntN(6) {
		case 0:
			delete(v, name)
		case 1:
			v[name+"'"] = v[name]
			delete(v, name)
		default:
			v[name] = r.change(v[name])
		}
		return v
	case []any:
		if len(v) == 0 || r.IntN(6) == 0 {
			return append(v, nil)
		}
		i := r.IntN(len(v))
		v[i] = r.change(v[i])
		return v
	case json.Number:
		if strings.ContainsAny(string(v), ".e") {
			return json.Number("3")
		}
		return v + ".0" // the same number, but another literal
	case string:
		return v + "'"
	case bool:
		return !v
	}
	return false
}

func TestHashCanonicalForm(t *testing.T) {
	same := [][2]string{
		{`{"a":1,"b":[2,{"d":4,"c":3}]}`, "\n{ \"b\" : [ 2 , {\"c\":3,\"d\":4} ],\t\"a\":1 }"},
		{`{"é<&>\n":"\u00e9"}`, `{"\u00e9\u003c\u0026\u003e\u000A":"é"}`},
		{`{"a":"\ud83d"}`, `{"a":"�"}`},
		{`{"a":1,"a":2}`, `{"a":2}`},
	}
	for _, pair := range same {
		if a, b := Hash([]byte(pair[0])), Hash([]byte(pair[1])); a != b || a == "" {
			t.Errorf("%s has %s, %s has %s", pair[0], a, pair[1], b)
		}
	}
	different := []string{`{"a":1}`, `{"a":1.0}`, `{"a":10e-1}`, `{"a":"1"}`, `{"a":[1]}`, `{"a":{"1":null}}`, `{"A":1}`, `{}`, `[]`, `true`, `{"a":[1,2]}`, `{"a":[2,1]}`}
	seen := map[string]string{}
	for _, text := range different {
		hash := Hash([]byte(text))
		if other, ok := seen[hash]; ok {
			t.Errorf("%s and %s share %s", text, other, hash)
		}
		seen[hash] = text
	}
	for _, text := range []string{``, ` `, `null`, `{`, `{}{}`, nest(9_000, "[", "", "]")} {
		if hash := Hash([]byte(text)); hash != "" {
			t.Errorf("hash %s of %.20q", hash, text)
		}
	}
	// Keys are ordered by bytes: U+FF61 before U+1F600, unlike in UTF-16.
	if got := string(appendCanonical(nil, read(t, `{"😀":1,"｡":2}`))); got != `{"｡":2,"😀":1}` {
		t.Errorf("got %s", got)
	}
}
