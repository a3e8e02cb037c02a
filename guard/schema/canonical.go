package schema

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// Hash returns the first 12 hex digits of SHA-256 over the schema in canonical
// form: keys sorted by bytes at every level, compact, number literals as they
// are, strings minimally escaped. The order of keys and white space never
// change it; any other change does. Of duplicate keys the last one counts.
//
// Hash tells versions of a schema apart for people and metrics. It is too short
// to identify a schema among hostile ones, so nothing here decides by it.
//
// It returns "" where there is no schema to speak of: nothing, null, what is not
// JSON, or is over 4 MiB, 250,000 values or 8,000 levels. It keeps nothing of
// schema and is safe for concurrent use.
func Hash(schema []byte) string {
	v, _, err := parse(schema, describedLimits())
	if err != nil || v == nil {
		return ""
	}
	sum := sha256.Sum256(appendCanonical(nil, v))
	return hex.EncodeToString(sum[:6])
}

// appendCanonical appends v, as parse made it, in canonical form.
func appendCanonical(dst []byte, v any) []byte {
	switch v := v.(type) {
	case bool:
		if v {
			return append(dst, "true"...)
		}
		return append(dst, "false"...)
	case json.Number:
		return append(dst, v...)
	case string:
		return appendString(dst, v)
	case []any:
		dst = append(dst, '[')
		for i, item := range v {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendCanonical(dst, item)
		}
		return append(dst, ']')
	case map[string]any:
		dst = append(dst, '{')
		for i, name := range slices.Sorted(maps.Keys(v)) {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(appendString(dst, name), ':')
			dst = appendCanonical(dst, v[name])
		}
		return append(dst, '}')
	}
	return append(dst, "null"...)
}

// appendString appends s as JSON, escaping only what must be.
func appendString(dst []byte, s string) []byte {
	// The error only says that invalid UTF-8 became U+FFFD, as it should.
	dst, _ = jsontext.AppendQuote(dst, s)
	return dst
}
