package guard

import (
	"io"
	"strings"
	"testing"
)

// FuzzNoUndeclaredCall: whatever an upstream sends, no client sees an
// undeclared call in what is relayed.
func FuzzNoUndeclaredCall(f *testing.F) {
	c := catalogOf(f, body(fuzzTools)) // without a search for tools nothing widens it
	for _, s := range seeds(3000) {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, choices []byte) {
		raw := (&forge{choices: choices}).stream()
		var relayed received
		relay(New(c, Options{}), strings.NewReader(raw), &relayed)
		if call, client, found := executed(relayed.String()); found {
			t.Fatalf("a client (%s) runs %+v\nstream  %q\nrelayed %q", client, call, raw, relayed.String())
		}
	})
}

// FuzzFraming: an event gets the same verdict however it is framed and
// chunked.
func FuzzFraming(f *testing.F) {
	c := catalogOf(f, body(fuzzTools)) // without a search for tools nothing widens it
	for _, s := range seeds(300) {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, choices []byte) {
		fg := &forge{choices: choices}
		data := fg.event()
		if !valid([]byte(data)) { // broken text has no lines to spread
			return
		}
		want := reasonOf(stream(t, New(c, Options{}), "data: "+data+"\n\n"))
		for name, frame := range framings() {
			if name == "wrong event line" {
				continue // the event line can be the only place of the type
			}
			raw := frame(data)
			if got := reasonOf(stream(t, New(c, Options{}), raw)); got != want {
				t.Errorf("%s: %q: %s, want %s", name, raw, got, want)
			}
			if got := reasonOf(streamFrom(t, New(c, Options{}), &chunked{raw, fg})); got != want {
				t.Errorf("%s, chunked: %q: %s, want %s", name, raw, got, want)
			}
		}
	})
}

// chunked serves a text in chunks of chosen size.
type chunked struct {
	rest string
	f    *forge
}

func (c *chunked) Read(p []byte) (int, error) {
	if c.rest == "" {
		return 0, io.EOF
	}
	n := copy(p, c.rest[:min(len(c.rest), 1+c.f.pick(9))])
	c.rest = c.rest[n:]
	return n, nil
}

// FuzzFastPath: a frame gets the same verdict whether or not its form clears it,
// also behind a frame that begins alike.
func FuzzFastPath(f *testing.F) {
	c := catalogOf(f, body(fuzzTools)) // without a search for tools nothing widens it
	for _, s := range seeds(500) {
		f.Add([]byte((&forge{choices: s}).event()), "")
	}
	for _, s := range []string{
		`{"type":"response.output_text.delta","item_id":"msg_1","output_index":0,"content_index":0,"delta":"x","sequence_number":4}`,
		`{"type":"response.function_call_arguments.delta","item_id":"fc_1","output_index":0,"delta":"{\"name\":","sequence_number":4}`,
		`{"type": "response.custom_tool_call_input.delta","delta":"n","Name":"rm_all"}`,
		`{"type":"response.function_call_arguments.delta","delta":"x","type":"response.shell_call_command.delta"}`,
		`{"type":"response.output_text.delta","error":{"code":"x"}}`,
		`{"delta":"x","type":"response.output_text.delta"}`,
		`{"type":"response.output_text.delta","delta":"x","type":"response.completed","response":{}}`,
		`{"type":"response.shell_call_command.delta","delta":"x","sequence_number":3}`,
		`{"type":"response.output_text.delta","item_id":"x","delta":"y","item":{"type":"local_shell_call"}}`,
		`{"type":"response.output_text.delta","delta":{"delta":"y"}}`,
		`{"type":"local_shell_call","call_id":"c"}`,
	} {
		f.Add([]byte(s), "")
		f.Add([]byte(s), "response.shell_call_command.delta")
		f.Add([]byte(s), "response.function_call_arguments.done")
	}
	f.Fuzz(func(t *testing.T, data []byte, eventLine string) {
		frame := event(string(data))
		frame.Event = []byte(eventLine)
		if !valid(data) || hidesCall(frame) || string(data) == "[DONE]" {
			return
		}
		if !parse(data).IsObject() && evidenceFree(data) {
			return // no event to any reader, nor a piece of one that is a call
		}
		g := New(c, Options{})
		if before, _, ok := strings.Cut(string(data), `"delta":`); ok {
			g.Inspect(event(before + `"delta":"x"}`))
			if g.Refused() != nil || g.Turn().Terminal != KindNone {
				g = New(c, Options{})
			}
		}
		gotKind, got := g.Inspect(frame)
		wantKind, want := New(c, Options{}).inspectSlowly(frame, true)
		if reasonOf(got) != reasonOf(want) || gotKind != wantKind {
			t.Fatalf("%s (event: %s): kind %v, %s; looked at closely: kind %v, %s", data, eventLine, gotKind, reasonOf(got), wantKind, reasonOf(want))
		}
	})
}
