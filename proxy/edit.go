package proxy

import (
	"strconv"

	"github.com/tidwall/gjson"
)

// member is a key and the raw JSON of its value.
type member struct {
	key string
	raw []byte
}

// editObject returns object with each of edits in place of all members of that
// key, or at the end if there is none; a member without raw value is removed.
// All else keeps its bytes and its order. object must be valid JSON. (sjson
// would touch only the first of duplicate keys.)
func editObject(object []byte, edits []member) []byte {
	out := append(make([]byte, 0, len(object)+256), '{')
	add := func(key string, raw string) {
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(append(out, key...), ':'), raw...)
	}
	done := make([]bool, len(edits))
	gjson.ParseBytes(object).ForEach(func(k, v gjson.Result) bool {
		for i, e := range edits {
			if k.Str != e.key {
				continue
			}
			if !done[i] && e.raw != nil {
				add(k.Raw, string(e.raw))
			}
			done[i] = true
			return true
		}
		add(k.Raw, v.Raw)
		return true
	})
	for i, e := range edits {
		if !done[i] && e.raw != nil {
			add(strconv.Quote(e.key), string(e.raw))
		}
	}
	return append(out, '}')
}
