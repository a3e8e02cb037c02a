package guard

import (
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"turngate/sse"
)

// deltas is a stream of a text's pieces, framed by frame.
func deltas(frame func(data string) string, pieces ...string) string {
	var b strings.Builder
	for i, p := range pieces {
		b.WriteString(frame(strings.NewReplacer(`:7,`, `:`+string(rune('0'+i%10))+`,`, ` and then`, p).Replace(textDelta)))
	}
	return b.String()
}

func usual(data string) string {
	return "event: " + parse([]byte(data)).Get("type").Str + "\ndata: " + data + "\n\n"
}

func bare(data string) string { return "data: " + data + "\n\n" }

// TestSkimTakesDeltas: of a stream's deltas the first is inspected, the others
// are not, whatever their text.
func TestSkimTakesDeltas(t *testing.T) {
	for name, frame := range map[string]func(string) string{"usual": usual, "bare": bare} {
		in := deltas(frame, "a", "", ` \"quoted\"\n`, "Grüße", `\u00fc`, strings.Repeat("long ", 50), "{", "\\\\")
		g := guardOf(t, readFile)
		inspected := 0
		var got received
		err := sse.Tee(sse.NewReader(strings.NewReader(in), &sse.Buffers{}, 0), func(f *sse.Frame, _ func() error) ([]byte, error) {
			inspected++
			g.Inspect(f)
			return f.Raw, nil
		}, g.Skim, &got)
		// The reader's first read is a small one, so the second event is inspected too.
		if err != io.EOF || inspected > 2 || got.String() != in || got.events != 8 || g.Turn().Events != 8 || g.Turn().LastSequence != 7 {
			t.Errorf("%s: %v, %d inspected, %d events relayed, turn %+v, relayed\n%s", name, err, inspected, got.events, g.Turn(), &got)
		}
	}
}

// TestSkimTakesNothingElse: what is not a whole frame of the same form as the one
// before is left to Inspect.
func TestSkimTakesNothingElse(t *testing.T) {
	like := usual(textDelta)
	for name, in := range map[string]string{
		"nothing":             "",
		"half a frame":        like[:len(like)-1],
		"a comment":           ": x\n" + like,
		"carriage return":     strings.Replace(like, "\n", "\r\n", 1),
		"CRLF at its end":     strings.TrimSuffix(like, "\n") + "\r\n",
		"no event line":       bare(textDelta),
		"another type":        strings.ReplaceAll(like, "output_text", "refusal"),
		"another event line":  strings.Replace(like, "output_text.delta", "completed", 1),
		"control character":   strings.Replace(like, "and", "a\x00d", 1),
		"carriage in a text":  strings.Replace(like, "and", "a\rd", 1),
		"text not closed":     strings.Replace(like, `then"`, `then\"`, 1),
		"wrong escape":        strings.Replace(like, "and", `a\d`, 1),
		"text is an object":   strings.Replace(like, `" and then"`, `{"item":{}}`, 1),
		"text is a number":    strings.Replace(like, `" and then"`, `5`, 1),
		"number is a text":    strings.Replace(like, `:7,`, `:"7",`, 1),
		"number with zero":    strings.Replace(like, `:7,`, `:07,`, 1),
		"number is a float":   strings.Replace(like, `:7,`, `:7.5,`, 1),
		"number is too long":  strings.Replace(like, `:7,`, `:1234567890123456789,`, 1),
		"number is missing":   strings.Replace(like, `:7,`, `:,`, 1),
		"a further member":    strings.Replace(like, `"obf`, `"item":{},"obf`, 1),
		"a further data line": strings.TrimSuffix(like, "\n") + "data: {}\n\n",
		"another item":        strings.Replace(like, `msg_6`, `msg_7`, 1),
	} {
		g := guardOf(t, readFile)
		if _, r := g.Inspect(framed(textDelta)); r != nil {
			t.Fatal(r.Message())
		}
		if n, events := g.Skim([]byte(in)); n != 0 || events != 0 || g.Turn().Events != 1 {
			t.Errorf("%s: took %d bytes, %d events of %q", name, n, events, in)
		}
		if n, events := g.Skim([]byte(like + like + in)); n != 2*len(like) || events != 2 {
			t.Errorf("two frames, then %s: took %d bytes, %d events", name, n, events)
		}
	}
}

// TestSkimAfterTheEnd: nothing passes behind a refusal or a terminal event.
func TestSkimAfterTheEnd(t *testing.T) {
	for _, end := range []string{done(rmAll), typed("response.completed", `"response":{}`)} {
		g := guardOf(t, readFile)
		g.Inspect(framed(textDelta))
		g.Inspect(event(end))
		if n, events := g.Skim([]byte(usual(textDelta))); n != 0 || events != 0 {
			t.Errorf("after %s: took %d bytes, %d events", end, n, events)
		}
	}
}

// FuzzSkim: a stream that is skimmed comes to the same as one of which each
// frame is inspected: what is relayed, what was counted, and the verdict.
func FuzzSkim(f *testing.F) {
	c := catalogOf(f, body(readFile))
	for _, frame := range []func(string) string{usual, bare, func(s string) string { return strings.ReplaceAll(usual(s), "\n", "\r\n") },
		func(s string) string { return strings.ReplaceAll(usual(s), "\n", "\r") }, func(s string) string { return ": x\n" + usual(s) }} {
		f.Add(deltas(frame, "a", "b", `\n`, "\x00", `"`, `"item":{}`, "c")+frame(done(rmAll))+deltas(frame, "d"), false)
		f.Add(deltas(frame, "a", "b")+deltas(bare, "c", "d")+frame(typed("response.completed", `"response":{"id":"r"}`))+deltas(frame, "e", "f"), true)
	}
	f.Fuzz(func(t *testing.T, in string, byByte bool) {
		source := func() io.Reader {
			if byByte {
				return iotest.OneByteReader(strings.NewReader(in))
			}
			return strings.NewReader(in)
		}
		slow, fast := New(c, Options{}), New(c, Options{})
		var want, got received
		wantErr := relayBy(slow, source(), nil, &want)
		gotErr := relayBy(fast, source(), fast.Skim, &got)
		if gotErr != wantErr || got.String() != want.String() || got.events != want.events {
			t.Fatalf("%q: skimmed %v, %d events, %q; inspected %v, %d events, %q", in, gotErr, got.events, &got, wantErr, want.events, &want)
		}
		if reasonOf(fast.Refused()) != reasonOf(slow.Refused()) {
			t.Fatalf("%q: skimmed %s, inspected %s", in, reasonOf(fast.Refused()), reasonOf(slow.Refused()))
		}
		if diff := cmp.Diff(slow.Turn(), fast.Turn(), cmp.AllowUnexported(Turn{})); diff != "" {
			t.Fatalf("%q: turn (-inspected +skimmed):\n%s", in, diff)
		}
	})
}
