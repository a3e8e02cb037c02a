package guard

import (
	"strings"
	"testing"
	"testing/iotest"
)

// framings has ways to write an event so that all readers see the same.
func framings() map[string]func(data string) string {
	lines := func(data, prefix, eol string) string {
		var b strings.Builder
		for line := range strings.SplitSeq(data, "\n") {
			b.WriteString(prefix + line + eol)
		}
		return b.String() + eol
	}
	// Between two members there is room for a line end.
	spread := func(data string) string { return strings.ReplaceAll(data, `,"`, ",\n\"") }
	return map[string]func(data string) string{
		"LF":                  func(d string) string { return lines(d, "data: ", "\n") },
		"CRLF":                func(d string) string { return lines(d, "data: ", "\r\n") },
		"CR":                  func(d string) string { return lines(d, "data: ", "\r") },
		"no space":            func(d string) string { return lines(d, "data:", "\n") },
		"byte order mark":     func(d string) string { return "\ufeff" + lines(d, "data: ", "\n") },
		"several data lines":  func(d string) string { return lines(spread(d), "data: ", "\n") },
		"several, CRLF":       func(d string) string { return lines(spread(d), "data:", "\r\n") },
		"several, CR":         func(d string) string { return lines(spread(d), "data: ", "\r") },
		"comment, id, retry":  func(d string) string { return ": hi\nid: 1\nretry: 9\n" + lines(d, "data: ", "\n") },
		"comment inside":      func(d string) string { return "id: 1\n: a_call\n" + lines(d, "data: ", "\n") },
		"comment inside, CR":  func(d string) string { return "id: 1\r: ping\r" + lines(d, "data: ", "\r") },
		"wrong event line":    func(d string) string { return "event: response.output_text.delta\n" + lines(d, "data: ", "\n") },
		"unknown field":       func(d string) string { return "foo: bar\n" + lines(d, "data: ", "\n") },
		"end without a blank": func(d string) string { return strings.TrimSuffix(lines(d, "data: ", "\n"), "\n") },
		"end without an end":  func(d string) string { return "data: " + d },
		"behind another one":  func(d string) string { return "data: {}\n\n" + lines(d, "data: ", "\n") },
	}
}

// TestG12Framing also stands for K-D2 and K-D8.
func TestG12Framing(t *testing.T) {
	for name, frame := range framings() {
		t.Run(name, func(t *testing.T) {
			for want, data := range map[string]string{
				"passed":           done(call(`"name":"read_file"`)),
				UndeclaredToolCall: done(rmAll),
			} {
				raw := frame(data)
				if got := reasonOf(stream(t, guardOf(t, readFile), raw)); got != want {
					t.Errorf("%q: %s, want %s", raw, got, want)
				}
				if got := reasonOf(streamFrom(t, guardOf(t, readFile), iotest.OneByteReader(strings.NewReader(raw)))); got != want {
					t.Errorf("%q byte by byte: %s, want %s", raw, got, want)
				}
			}
		})
	}
}

// TestG12LinesReadersCutDifferently has streams in which some real reader sees
// the undeclared call, and the standard's reading shows none.
func TestG12LinesReadersCutDifferently(t *testing.T) {
	const added, good = `{"type":"response.output_item.done","item":`, `"type":"function_call","call_id":"c","name":"read_file"`
	for name, raw := range map[string]string{
		// openai-node decodes each line by itself, and its decoder drops the mark.
		"byte order mark in front of a later data line": "data: {}\n\n\ufeffdata: " + done(rmAll) + "\n\n",
		"the same behind an event line":                 "data: {}\n\nevent: x\n\ufeffdata: " + done(rmAll) + "\n\n",
		"marks around what the standard reads alone":    "data: {}\n\ndata: " + added + "{" + good + "\n\ufeffdata: ,\"name\":\"rm_all\"\ndata: }}\n\n",
		// openai-go knows line feeds only.
		"CR, then the rest of the JSON":               "data: " + added + "\r" + rmAll + "}\n\n",
		"CR before the JSON":                          "data:\r" + done(rmAll) + "\n\n",
		"CR hides a second name, without evidence":    "data: " + added + "{" + good + "\r,\"name\":\"rm_all\"\ndata: }}\n\n",
		"CR hides a wrapper in a comment":             "data: " + added[:len(added)-len(`"item":`)] + "\n: \rdata: \"z\":{\ndata: \"item\":" + rmAll + "\n: \rdata: }\ndata: }\n\n",
		"CR hides a wrapper in an event line":         "data: " + added[:len(added)-len(`"item":`)] + "\nevent: \rdata: \"z\":{\ndata: \"item\":" + rmAll + "\nevent: \rdata: }\ndata: }\n\n",
		"three frames that are one: a list":           "data: {\"type\":\"response.completed\",\"response\":{\"output\":\r\r\ndata: [" + rmAll + "]\r\r\ndata: }}\n\n",
		"three frames that are one: only the type":    "data: " + added + "{\"name\":\"rm_all\",\"type\":\r\r\ndata: \"function_call\"\r\r\ndata: }}\n\n",
		"three frames that are one: the whole item":   "data: " + added + "\r\r\ndata: " + rmAll + "\r\r\ndata: }\n\n",
		"CR ends a comment: the standard sees a call": ": hi\rdata: " + done(rmAll) + "\n\n",
		// httpx's lines end at more characters.
		"a call in a comment, to Python":      ": \u2028data: " + done(rmAll) + "\n\n",
		"a call behind an id, to Python":      "id: 1\vdata: " + done(rmAll) + "\ndata: {}\n\n",
		"a call in the event line, to Python": "event: x\u0085data: " + done(rmAll) + "\ndata: {}\n\n",
		// Hand-made readers trim lines, and take every data line for an event.
		"a data line behind a space":        " data: " + done(rmAll) + "\n\n",
		"a line that is an event by itself": "data: {\"z\":\ndata: " + done(rmAll) + "\ndata: }\n\n",
	} {
		t.Run(name, func(t *testing.T) {
			if r := stream(t, guardOf(t, readFile), raw); r == nil {
				t.Errorf("%q passed", raw)
			}
		})
	}
}

// A frame with bare carriage returns that is only reported must still be read:
// the turn once lost its terminal event here.
func TestG10ReportedFrameIsStillRead(t *testing.T) {
	g := New(catalogOf(t, body(readFile)), Options{Undeclared: Report})
	raw := "data: {\"type\":\"response.completed\",\"response\":{\"id\":\"resp_1\",\"output\":[" + rmAll + "]}\rx_call\ndata: }\n\n"
	if r := stream(t, g, raw); r != nil {
		t.Fatalf("refused in report mode: %s", r.Message())
	}
	if g.Turn().Terminal != KindCompleted || g.Turn().ID != "resp_1" {
		t.Errorf("turn %+v, want it completed", g.Turn())
	}
}

// After the terminal event a frame that hides a call is dropped like any other.
func TestS7aHiddenCallAfterTheEndIsLate(t *testing.T) {
	g := guardOf(t, readFile)
	stream(t, g, "data: {\"type\":\"response.completed\",\"response\":{}}\n\n")
	f := event(done(rmAll))
	f.Raw, f.Data = []byte("\ufeffdata: "+done(rmAll)+"\n\n"), nil
	if k, r := g.Inspect(f); k != KindLate || r != nil {
		t.Errorf("kind %v, %s; want late and no refusal", k, reasonOf(r))
	}
}

func TestG13BrokenEvents(t *testing.T) {
	for name, tt := range map[string]struct{ raw, want string }{
		"broken call, K-D6":           {"data: " + done(rmAll)[:40] + "_call\n\n", UnreadableEvent},
		"broken text":                 {"data: {\"type\":\"response.output_text.delta\",\"delta\":\"x\n\n", "passed"},
		"broken, text names a call":   {"data: {\"type\":\"response.output_text.delta\",\"delta\":\"function_call\n\n", UnreadableEvent},
		"broken, an escape":           {"data: {\"type\":\"response.output_text.delta\",\"delta\":\"\\u001b\n\n", UnreadableEvent},
		"cut inside a call":           {"data: " + done(rmAll)[:80], "passed"},
		"not JSON at all":             {"data: OPENROUTER PROCESSING\n\n", "passed"},
		"empty data":                  {"data:\n\n", "passed"},
		"a string":                    {"data: \"hi\"\n\n", "passed"},
		"raw control character":       {"data: {\"type\":\"response.output_text.delta\",\"delta\":\"\x01\"}\n\n", "passed"},
		"event line names, data none": {"event: response.shell_call_command.delta\n\n", "passed"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := reasonOf(stream(t, guardOf(t, readFile), tt.raw)); got != tt.want {
				t.Errorf("%q: %s, want %s", tt.raw, got, tt.want)
			}
		})
	}
}

func TestG13Oversized(t *testing.T) {
	g := guardOf(t, readFile)
	r := g.Oversized(1 << 20)
	if r.Reason != UnreadableEvent || g.Refused() != r || !strings.Contains(r.Message(), "1048576") {
		t.Errorf("%+v: %s", r, r.Message())
	}
	if _, again := g.Inspect(event(`{}`)); again != r {
		t.Error("the refusal did not stick")
	}
}
