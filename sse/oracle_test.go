package sse

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/openai/openai-go/v3/packages/ssestream"
	gosse "github.com/tmaxmax/go-sse"
)

// event is what a client makes of a frame.
type event struct{ Event, Data string }

// standardEvents is go-sse's reading. It differs from ours on purpose in what
// the callers of this function leave out: it dispatches events without data
// (removed here) and discards the tail.
func standardEvents(in string) (events []event, err error) {
	cfg := &gosse.ReadConfig{MaxEventSize: 1 << 30}
	for e, err := range gosse.Read(strings.NewReader(in), cfg) {
		if err != nil {
			return events, err
		}
		events = append(events, event{e.Type, e.Data})
	}
	return events, nil
}

// lineFeedEvents is the reading of openai-go, which splits at line feeds only.
// It counts a line feed behind each data line, removed here.
func lineFeedEvents(in string) (events []event) {
	d := ssestream.NewDecoder(&http.Response{Body: io.NopCloser(strings.NewReader(in)), Header: http.Header{}})
	for d.Next() {
		e := d.Event()
		events = append(events, event{e.Type, strings.TrimSuffix(string(e.Data), "\n")})
	}
	return events
}

func ourEvents(frames []got) (events []event) {
	for _, f := range frames {
		if f.Is && !f.Cut {
			events = append(events, event{f.Event, f.Data})
		}
	}
	return events
}

// FuzzReaderOracle holds our reading to go-sse's. Deliberate differences, kept
// out of the comparison: go-sse dispatches frames that have an event or id line
// but no data; it drops a last event without its blank line, which we return as
// Cut, and counts half a CRLF as that blank line; it takes a byte order mark
// behind leading blank lines for one at the start.
func FuzzReaderOracle(f *testing.F) {
	for _, in := range corpus {
		f.Add(in)
	}
	f.Fuzz(func(t *testing.T, in string) {
		if strings.HasPrefix(strings.TrimLeft(in, "\r\n"), string(byteOrderMark)) && !strings.HasPrefix(in, string(byteOrderMark)) {
			t.Skip("go-sse eats a byte order mark that is not at the start")
		}
		frames := mustRead(t, whole(in))
		if n := len(frames); n > 0 && frames[n-1].Cut {
			in += frames[n-1].Closing // both readers now see the tail
			frames[n-1].Cut = false
		}
		want, err := standardEvents(in)
		if err != nil {
			t.Fatal(err)
		}
		withData := func(es []event) (out []event) {
			for _, e := range es {
				if e.Data != "" {
					out = append(out, e)
				}
			}
			return out
		}
		if diff := cmp.Diff(withData(want), withData(ourEvents(frames))); diff != "" {
			t.Errorf("%q (-go-sse +ours):\n%s", in, diff)
		}
	})
}

// FuzzLoneCR holds LoneCR to its promise: up to the first frame that has it,
// and from a frame without it on, readers that know only line feeds see what we
// see. openai-go does not strip the byte order mark, so the inputs have none.
func FuzzLoneCR(f *testing.F) {
	for _, in := range corpus {
		f.Add(in)
	}
	f.Fuzz(func(t *testing.T, in string) {
		if strings.HasPrefix(in, string(byteOrderMark)) {
			t.Skip("openai-go does not strip it")
		}
		frames := mustRead(t, whole(in))
		// What such a reader has dispatched by the end of each frame.
		var sofar bytes.Buffer
		seen := 0
		for _, fr := range frames {
			sofar.WriteString(fr.Raw + fr.Closing)
			lines := sofar.String()[:bytes.LastIndexByte(sofar.Bytes(), '\n')+1] // half a line means nothing yet
			all := lineFeedEvents(lines)
			fresh := all[seen:]
			seen = len(all)
			if fr.LoneCR {
				continue
			}
			want := ourEvents([]got{{Is: fr.Is, Event: fr.Event, Data: fr.Data}})
			if diff := cmp.Diff(want, fresh, cmpopts.EquateEmpty()); diff != "" {
				t.Fatalf("%q, frame %q without LoneCR (-ours +line feeds):\n%s", in, fr.Raw, diff)
			}
		}
	})
}
