package sse

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// frame describes what a test wants of a Frame; none stands for a nil Event or
// Data.
type frame struct {
	raw, event, data string
	lone, cut        bool
	closing          string
}

const none = "\x00none"

func shape(g got) frame {
	f := frame{raw: g.Raw, event: g.Event, data: g.Data, lone: g.LoneCR, cut: g.Cut, closing: g.Closing}
	if g.NoEvent {
		f.event = none
	}
	if !g.Is {
		f.data = none
	}
	return f
}

func TestFraming(t *testing.T) {
	const bom = "\xEF\xBB\xBF"
	ev := func(raw, data string) frame { return frame{raw: raw, event: none, data: data} }
	no := func(raw string) frame { return ev(raw, none) }
	lone := func(f frame) frame { f.lone = true; return f }
	cut := func(f frame, closing string) frame { f.cut, f.closing = true, closing; return f }

	for name, tt := range map[string]struct {
		in   string
		want []frame
	}{
		"empty stream": {"", nil},
		"LF":           {"event: a\ndata: x\n\n", []frame{{raw: "event: a\ndata: x\n\n", event: "a", data: "x"}}},
		"CRLF":         {"event: a\r\ndata: x\r\n\r\n", []frame{{raw: "event: a\r\ndata: x\r\n\r\n", event: "a", data: "x"}}},
		"CR, K-D2":     {"event: a\rdata: x\r\r", []frame{{raw: "event: a\rdata: x\r\r", event: "a", data: "x", lone: true}}},
		"two events":   {"data: x\n\ndata: y\n\n", []frame{ev("data: x\n\n", "x"), ev("data: y\n\n", "y")}},
		"LF then CRLF": {"data: x\n\r\n", []frame{ev("data: x\n\r\n", "x")}},
		"CRLF then LF": {"data: x\r\n\n", []frame{ev("data: x\r\n\n", "x")}},
		"blank CR, then more: the CR may hide the blank line": {"data: x\n\rdata: y\n\n",
			[]frame{lone(ev("data: x\n\r", "x")), lone(ev("data: y\n\n", "y"))}},
		"CR CRLF: the line feed is a frame of its own, and all until the next blank line is in doubt": {"data: x\r\r\ndata: y\n\ndata: z\n\n",
			[]frame{lone(ev("data: x\r\r", "x")), lone(no("\n")), lone(ev("data: y\n\n", "y")), ev("data: z\n\n", "z")}},
		"lone CR inside an event that ends well": {"data: x\rid: 1\n\ndata: y\n\n",
			[]frame{lone(ev("data: x\rid: 1\n\n", "x")), ev("data: y\n\n", "y")}},
		"lone CR ends a comment: LF-only readers take the event into the comment": {":c\rdata: x\n\n",
			[]frame{lone(no(":c\r")), lone(ev("data: x\n\n", "x"))}},
		"byte order mark, K-D8": {bom + "data: x\n\n" + bom + "data: y\n\n",
			[]frame{ev(bom+"data: x\n\n", "x"), no(bom + "data: y\n\n")}},
		"byte order mark alone on its line":  {bom + "\ndata: x\n\n", []frame{no(bom + "\n"), ev("data: x\n\n", "x")}},
		"byte order mark, comment":           {bom + ":c\ndata: x\n\n", []frame{no(bom + ":c\n"), ev("data: x\n\n", "x")}},
		"byte order mark only":               {bom, []frame{cut(no(bom), "\n\n")}},
		"two byte order marks: one is eaten": {bom + bom + "data: x\n\n", []frame{no(bom + bom + "data: x\n\n")}},
		"byte order mark after a blank line": {"\n" + bom + "data: x\n\n", []frame{no("\n"), no(bom + "data: x\n\n")}},
		"several data lines":                 {"data: x\ndata: y\ndata\ndata:z\n\n", []frame{ev("data: x\ndata: y\ndata\ndata:z\n\n", "x\ny\n\nz")}},
		"no space after the colon, K-D2":     {"data:x\nevent:a\n\n", []frame{{raw: "data:x\nevent:a\n\n", event: "a", data: "x"}}},
		"one space is taken, no more":        {"data:  x \n\n", []frame{ev("data:  x \n\n", " x ")}},
		"a tab is not a space":               {"data:\tx\n\n", []frame{ev("data:\tx\n\n", "\tx")}},
		"data without a colon":               {"data\n\n", []frame{ev("data\n\n", "")}},
		"empty data line is an event":        {"data:\n\n", []frame{ev("data:\n\n", "")}},
		"no data line is none":               {"event: a\nid: 1\n\n", []frame{{raw: "event: a\nid: 1\n\n", event: "a", data: none}}},
		"last event wins":                    {"event: a\nevent: b\ndata\n\n", []frame{{raw: "event: a\nevent: b\ndata\n\n", event: "b", data: ""}}},
		"an empty event takes it back":       {"event: a\nevent\ndata\n\n", []frame{ev("event: a\nevent\ndata\n\n", "")}},
		"the event of a dataless frame is gone": {"event: a\n\ndata: x\n\n", []frame{
			{raw: "event: a\n\n", event: "a", data: none}, ev("data: x\n\n", "x")}},
		"field names are exact":      {" data: x\nData: y\ndata : z\n\n", []frame{no(" data: x\nData: y\ndata : z\n\n")}},
		"unknown fields, id, retry":  {"foo: 1\nid: 2\nretry: 3\nbar\ndata: x\n\n", []frame{ev("foo: 1\nid: 2\nretry: 3\nbar\ndata: x\n\n", "x")}},
		"leading comments, K-D8":     {":\n: a\ndata: x\n\n", []frame{no(":\n"), no(": a\n"), ev("data: x\n\n", "x")}},
		"comments inside an event":   {"data: x\n:c\ndata: y\n\n", []frame{ev("data: x\n:c\ndata: y\n\n", "x\ny")}},
		"a comment with CRLF":        {":c\r\n\r\n", []frame{no(":c\r\n"), no("\r\n")}},
		"blank lines":                {"\n\r\n\n", []frame{no("\n"), no("\r\n"), no("\n")}},
		"null bytes, invalid UTF-8":  {"data: \x00\xff\n\n", []frame{ev("data: \x00\xff\n\n", "\x00\xff")}},
		"no blank line, S7":          {"data: x\n", []frame{cut(ev("data: x\n", "x"), "\n")}},
		"no line end, S7":            {"data: x", []frame{cut(ev("data: x", "x"), "\n\n")}},
		"no line end, two lines, S7": {"data: x\ndata: y", []frame{cut(ev("data: x\ndata: y", "x\ny"), "\n\n")}},
		"a field name cut short":     {"data: x\n\nda", []frame{ev("data: x\n\n", "x"), cut(no("da"), "\n\n")}},
		"a comment cut short":        {":c", []frame{cut(no(":c"), "\n\n")}},
		// A lone line feed here once completed the CRLF and closed nothing.
		"cut inside the data line's CRLF":   {"data: x\r", []frame{cut(ev("data: x\r", "x"), "\n\n")}},
		"cut before the blank CRLF":         {"data: x\r\n", []frame{cut(ev("data: x\r\n", "x"), "\n")}},
		"cut inside the blank line's CRLF":  {"data: x\r\n\r", []frame{cut(ev("data: x\r\n\r", "x"), "\n")}},
		"cut inside a CRLF of its own":      {"\r", []frame{cut(no("\r"), "\n")}},
		"cut inside a comment's CRLF":       {":c\r", []frame{cut(no(":c\r"), "\n\n")}},
		"CR stream without its blank line":  {"data: x\r\rdata: y\r", []frame{lone(ev("data: x\r\r", "x")), cut(lone(ev("data: y\r", "y")), "\n\n")}},
		"line feed long after a CR stream":  {"data: x\r\r\n", []frame{lone(ev("data: x\r\r", "x")), lone(no("\n"))}},
		"in step again after CR, then LFLF": {"data: x\r\r\n\ndata: y\n\n", []frame{lone(ev("data: x\r\r", "x")), lone(no("\n")), lone(no("\n")), ev("data: y\n\n", "y")}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, src := range []*chunks{whole(tt.in), every(tt.in, 1)} {
				var frames []frame
				for _, g := range mustRead(t, src) {
					frames = append(frames, shape(g))
				}
				if diff := cmp.Diff(tt.want, frames, cmp.AllowUnexported(frame{})); diff != "" {
					t.Errorf("frames of %q (-want +got):\n%s", tt.in, diff)
				}
			}
		})
	}
}
