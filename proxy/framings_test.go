package proxy

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"
)

// event is an event before it is written as bytes.
type event struct{ typ, data string }

// framing is a way to write events that all readers, or some, understand the
// same (G12).
type framing struct {
	name  string
	write func(events []event) []byte
	// closing is what the client gets behind a stream that passes (S7).
	closing string
	// opening is what comes before the proxy's own words, for readers that know
	// only line feeds.
	opening string
}

// framings are the ways of G12.
func framings() []framing {
	each := func(one func(event) string) func([]event) []byte {
		return func(events []event) []byte {
			var b strings.Builder
			for _, e := range events {
				b.WriteString(one(e))
			}
			return []byte(b.String())
		}
	}
	usual := func(e event) string { return "event: " + e.typ + "\ndata: " + e.data + "\n\n" }
	lf := each(usual)
	replaced := func(eol string) func([]event) []byte {
		return each(func(e event) string { return strings.ReplaceAll(usual(e), "\n", eol) })
	}
	return []framing{
		{name: "LF", write: lf},
		{name: "CRLF", write: replaced("\r\n")},
		{name: "CR", opening: "\n\n", write: replaced("\r")},
		{name: "BOM", write: func(events []event) []byte { return append([]byte("\xEF\xBB\xBF"), lf(events)...) }},
		{name: "several data lines", write: each(func(e event) string {
			return "event: " + e.typ + "\ndata: " + strings.ReplaceAll(e.data, `,"`, ",\ndata: \"") + "\n\n"
		})},
		{name: "no space", write: each(func(e event) string { return "event:" + e.typ + "\ndata:" + e.data + "\n\n" })},
		{name: "no final blank line", closing: "\n", write: func(events []event) []byte {
			b := lf(events)
			return b[:len(b)-1]
		}},
		{name: "no line end at the end", closing: "\n\n", write: func(events []event) []byte {
			b := lf(events)
			return b[:len(b)-2]
		}},
		{name: "no event line", write: each(func(e event) string { return "data: " + e.data + "\n\n" })},
		{name: "event line only", write: each(func(e event) string {
			data, err := sjson.Delete(e.data, "type")
			if err != nil {
				panic(err) // the table's own text
			}
			return "event: " + e.typ + "\ndata: " + data + "\n\n"
		})},
		{name: "comments and ids between", write: each(func(e event) string {
			return "id: 1\n: inside\nretry: 1000\n" + usual(e) + ": ping\n\n"
		})},
	}
}

// eventsIn reads back the events of a stream that mock.Stream wrote.
func eventsIn(stream []byte) []event {
	var events []event
	for frame := range strings.SplitSeq(strings.TrimSuffix(string(stream), "\n\n"), "\n\n") {
		typ, data, ok := strings.Cut(strings.TrimPrefix(frame, "event: "), "\ndata: ")
		if ok {
			events = append(events, event{typ, data})
		}
	}
	return events
}

// TestG12FramingsDiffer holds the framings to being different ways of writing
// the same events.
func TestG12FramingsDiffer(t *testing.T) {
	events := []event{{"response.a", `{"type":"response.a","x":"y","z":[1]}`}, {"response.b", `{"type":"response.b","x":"y","z":[2]}`}}
	seen := map[string]string{}
	for _, f := range framings() {
		b := string(f.write(events))
		if other := seen[b]; other != "" {
			t.Errorf("%s and %s are the same bytes", f.name, other)
		}
		seen[b] = f.name
		// Read as the standard says, in the simplest way there is.
		text := strings.ReplaceAll(strings.ReplaceAll(strings.TrimPrefix(b, "\xEF\xBB\xBF"), "\r\n", "\n"), "\r", "\n")
		var got []event
		var now event
		for line := range strings.SplitSeq(text+f.closing, "\n") {
			name, value, _ := strings.Cut(line, ":")
			value = strings.TrimPrefix(value, " ")
			switch {
			case line == "" && now.data != "":
				if typ := gjson.Get(now.data, "type").String(); typ != "" {
					now.typ = typ
				}
				got, now = append(got, event{now.typ, gjson.Get(now.data, "z.0").String()}), event{}
			case name == "event":
				now.typ = value
			case name == "data":
				now.data += value
			}
		}
		if diff := cmp.Diff([]event{{"response.a", "1"}, {"response.b", "2"}}, got, cmp.AllowUnexported(event{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", f.name, diff)
		}
	}
}
