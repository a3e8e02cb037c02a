package guard

import (
	"bytes"
	"strings"
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
		`{"type":"response.output_text.delta","sequence_number":7,"sequence_number":"8"}`,
		`{"type":"response.output_text.delta","sequence_number":7,"sequence_number":8}`,
		`{"type":"response.output_text.delta","sequence_number":7,"sequence_number":8.5}`,
		`{"type":"response.output_text.delta","sequence_number":1,"sequence_number":2,"sequence_number":3,"sequence_number":4}`,
		`{"type":"response.output_text.delta","sequence_number":7,"sequence_number":07}`,
		`{"type":"response.output_text.delta","sequence_number":7,"sequence_number":123456789012345678}`,
		`{"type":"response.output_text.delta","sequence_number":7,"sequence_number":1234567890123456789}`,
		`{"type":"response.output_text.delta","delta":"` + strings.Repeat("Grüße 1234", 20) + `","sequence_number":0}`,
	}
	for _, a := range seeds {
		for _, b := range seeds {
			f.Add([]byte(a), []byte(b))
		}
	}
	f.Fuzz(func(t *testing.T, before, data []byte) {
		var fresh, warm Guard
		frame := event(string(data))
		wantN, wantNumbered, wantOK := fresh.cleared(frame)
		warm.cleared(event(string(before)))
		n, numbered, ok := warm.cleared(frame)
		if ok != wantOK || ok && (n != wantN || numbered != wantNumbered) {
			t.Fatalf("%s after %s: %d %v %v, alone %d %v %v", data, before, n, numbered, ok, wantN, wantNumbered, wantOK)
		}
		want, ok := readFlat(data, new(variables))
		if !ok {
			return
		}
		if frame.Event = want.typ; len(frame.Event) > 0 {
			if _, _, ok := warm.cleared(frame); ok != wantOK {
				t.Fatalf("%s: its type as the event line makes %v of %v", data, ok, wantOK)
			}
		}
		frame.Event = []byte("response.completed")
		if _, _, ok := warm.cleared(frame); ok {
			t.Fatalf("%s: cleared with another event line", data)
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
