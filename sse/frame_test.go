package sse

import (
	"slices"
	"testing"
)

// Raw and Closing together are a whole frame with the same event, to the
// standard and to readers that know only line feeds (S7).
func TestClosingMakesWholeFrames(t *testing.T) {
	ends := []string{"", "\r", "\n", "\r\n", "\r\n\r", "\n\r"}
	for _, start := range []string{"", ":c", "data: x", "data: x\ndata: y", "data: x\r\ndata: y", "\xEF\xBB\xBF", "\xEF\xBB\xBFdata: x"} {
		for _, end := range ends {
			frames := mustRead(t, whole(start+end))
			if len(frames) == 0 || !frames[len(frames)-1].Cut {
				continue
			}
			last := frames[len(frames)-1]
			closed := mustRead(t, whole(start+end+last.Closing+"data: next\n\n"))
			f, next := closed[len(frames)-1], closed[len(closed)-1]
			if f.Cut || f.Data != last.Data || f.Is != last.Is || f.LoneCR != last.LoneCR {
				t.Errorf("%q closed with %q reads %+v, want %+v", start+end, last.Closing, f, last)
			}
			if next.Data != "next" || next.LoneCR {
				t.Errorf("%q closed with %q: the next event reads %+v", start+end, last.Closing, next)
			}
			events := lineFeedEvents(start + end + last.Closing + "data: next\n\n")
			if !slices.Contains(events, event{Data: "next"}) {
				t.Errorf("%q closed with %q: line-feed readers see %q", start+end, last.Closing, events)
			}
		}
	}
}

func TestIgnored(t *testing.T) {
	for name, tt := range map[string]struct {
		in   string
		want []string
	}{
		"nothing":           {"event: a\ndata: x\nid\nretry: 1\n\n", nil},
		"comments":          {":a\r\n", []string{":a"}},
		"inside, and names": {"data: x\n: a\nfoo\n data: y\nDATA: z\n\n", []string{": a", "foo", " data: y", "DATA: z"}},
		"every line end":    {"a\rb\r\nc\n\n", []string{"a", "b", "c"}},
		"no line end":       {"data: x\nfoo", []string{"foo"}},
		// The mark once made a line of the stream's first field name unknown.
		"byte order mark":          {"\xEF\xBB\xBFdata: x\n\n", nil},
		"byte order mark, comment": {"\xEF\xBB\xBF:a\n", []string{":a"}},
		"a mark elsewhere counts":  {"id\n\xEF\xBB\xBFdata: x\n\n", []string{"\xEF\xBB\xBFdata: x"}},
	} {
		t.Run(name, func(t *testing.T) {
			f, err := NewReader(whole(tt.in), &Buffers{}, 0).Next()
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for line := range f.Ignored {
				got = append(got, string(line))
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("ignored lines = %q, want %q", got, tt.want)
			}
			for range f.Ignored {
				break // yield may end it
			}
		})
	}
}
