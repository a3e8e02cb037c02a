package guard

import (
	"bytes"
	"testing"

	"github.com/go-json-experiment/json"
)

// FuzzFlat: what is remembered of the event before changes nothing, and a flat
// event is one object without nesting, with the type that any reader sees.
func FuzzFlat(f *testing.F) {
	seeds := []string{
		`{"type":"response.output_text.delta","item_id":"msg_1","output_index":0,"content_index":0,"delta":"x","sequence_number":4,"logprobs":[]}`,
		`{"type":"response.output_text.delta","item_id":"msg_1","output_index":0,"content_index":0,"delta":"a\"b","sequence_number":5,"type":"x"}`,
		`{"type":"response.output_text.delta","delta":{"item":{}},"sequence_number":5}`,
		`{"delta":"x","type":"response.output_text.delta"}`,
		`{"type":"response.output_text.delta","delta":"x","delta":"y","name":"z"}`,
		`{ "type" : "t" , "delta" : [ ] , "sequence_number" : 7 }`,
	}
	for _, a := range seeds {
		for _, b := range seeds {
			f.Add([]byte(a), []byte(b))
		}
	}
	f.Fuzz(func(t *testing.T, before, data []byte) {
		var fresh, warm template
		want, wantOK := readFlat(data, &fresh)
		readFlat(before, &warm)
		got, ok := readFlat(data, &warm)
		if ok != wantOK || ok && (!bytes.Equal(got.typ, want.typ) || got.sequence != want.sequence || got.sequenced != want.sequenced) {
			t.Fatalf("%s after %s: %s %d %v %v, alone %s %d %v %v", data, before, got.typ, got.sequence, got.sequenced, ok,
				want.typ, want.sequence, want.sequenced, wantOK)
		}
		if !ok {
			return
		}
		if !decodes(data) {
			t.Fatalf("%s is not JSON", data)
		}
		var all map[string]any
		if err := json.Unmarshal(bytes.ToValidUTF8(data, []byte("?")), &all); err != nil {
			return // duplicate keys that decide nothing
		}
		if all["type"] != string(bytes.ToValidUTF8(want.typ, []byte("?"))) {
			t.Fatalf("%s: type %q", data, want.typ)
		}
	})
}
