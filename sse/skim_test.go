package sse

import (
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// skimIf takes the frames that are one data line, end in a blank line, and pass.
func skimIf(pass func(raw string) bool, seen *[]string) Skim {
	return func(b []byte) (n, events int) {
		for {
			frame, _, ok := strings.Cut(string(b[n:]), "\n\n")
			raw := frame + "\n\n"
			if !ok || !strings.HasPrefix(frame, "data: ") || strings.ContainsAny(frame, "\r\n") || !pass(raw) {
				return n, events
			}
			*seen = append(*seen, raw)
			n += len(raw)
			events++
		}
	}
}

func skimAll(seen *[]string) Skim { return skimIf(func(string) bool { return true }, seen) }

// What is skimmed is whole, begins where a frame begins for all readers, and is
// within the limit; all else is inspected.
func TestSkim(t *testing.T) {
	for name, tt := range map[string]struct {
		reads              []string
		limit              int
		inspected, skimmed []string
		writes             []string
	}{
		"the first is inspected": {
			[]string{"data: a\n\ndata: b\n\ndata: c\n\n"}, 0,
			[]string{"data: a\n\n"}, []string{"data: b\n\n", "data: c\n\n"},
			[]string{"data: a\n\ndata: b\n\ndata: c\n\n"}},
		"half a frame is not": {
			[]string{"data: a\n\ndata: b\n\ndata: c\n", "\ndata: d\n\n"}, 0,
			[]string{"data: a\n\n", "data: c\n\n"}, []string{"data: b\n\n", "data: d\n\n"},
			[]string{"data: a\n\ndata: b\n\n", "data: c\n\ndata: d\n\n"}},
		"nor what no frame was inspected before": {
			[]string{"data: a\n\n", "data: b\n\n"}, 0,
			[]string{"data: a\n\n", "data: b\n\n"}, nil,
			[]string{"data: a\n\n", "data: b\n\n"}},
		"a lone carriage return": {
			[]string{"data: a\r\rdata: b\n\ndata: c\n\n"}, 0,
			[]string{"data: a\r\r", "data: b\n\n"}, []string{"data: c\n\n"},
			[]string{"data: a\r\rdata: b\n\ndata: c\n\n"}},
		"half a CRLF": {
			[]string{"data: a\r\n\r", "\ndata: b\n\n"}, 0,
			[]string{"data: a\r\n\r\n"}, []string{"data: b\n\n"},
			[]string{"data: a\r\n\r\ndata: b\n\n"}},
		"more than the limit together": {
			[]string{"data: a\n\ndata: b\n\ndata: c\n\n"}, 9,
			[]string{"data: a\n\n", "data: b\n\n"}, []string{"data: c\n\n"},
			[]string{"data: a\n\ndata: b\n\ndata: c\n\n"}},
	} {
		t.Run(name, func(t *testing.T) {
			src := &chunks{err: io.EOF}
			for _, s := range tt.reads {
				src.parts = append(src.parts, []byte(s))
			}
			var inspected, skimmed []string
			w := &wire{}
			err := Tee(NewReader(src, &Buffers{}, tt.limit), func(f *Frame, _ func() error) ([]byte, error) {
				inspected = append(inspected, string(f.Raw))
				return f.Raw, nil
			}, skimAll(&skimmed), w)
			if err != io.EOF {
				t.Fatal(err)
			}
			for what, diff := range map[string]string{
				"inspected": cmp.Diff(tt.inspected, inspected), "skimmed": cmp.Diff(tt.skimmed, skimmed), "writes": cmp.Diff(tt.writes, w.writes),
			} {
				if diff != "" {
					t.Errorf("%s (-want +got):\n%s", what, diff)
				}
			}
		})
	}
}

// Behind a frame that was changed or dropped, and in the middle of a batch that
// was flushed, a run goes on as any other; behind an error nothing is skimmed.
func TestSkimBesideWhatChanged(t *testing.T) {
	const a, b, c = "data: a\n\n", "data: b\n\n", "data: c\n\n"
	for name, tt := range map[string]struct {
		inspect Inspect
		writes  []string
		events  []int
		skimmed []string
	}{
		"changed": {func(*Frame, func() error) ([]byte, error) { return []byte("data: new\n\n"), nil },
			[]string{"data: new\n\n" + b + c}, []int{3}, []string{b, c}},
		"dropped":  {func(*Frame, func() error) ([]byte, error) { return nil, nil }, []string{b + c}, []int{2}, []string{b, c}},
		"flushed":  {func(f *Frame, flush func() error) ([]byte, error) { return f.Raw, flush() }, []string{a + b + c}, []int{3}, []string{b, c}},
		"an error": {func(f *Frame, _ func() error) ([]byte, error) { return f.Raw, errStop }, []string{a}, []int{1}, nil},
	} {
		var skimmed []string
		w := &wire{}
		Tee(NewReader(whole(a+b+c), &Buffers{}, 0), tt.inspect, skimAll(&skimmed), w)
		if diff := cmp.Diff(tt.writes, w.writes) + cmp.Diff(tt.events, w.events) + cmp.Diff(tt.skimmed, skimmed); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// A frame over the limit that came in one read with the one before was cut twice,
// the second time by what the first had left: its pieces passed as other frames.
func TestTooLongBehindAnother(t *testing.T) {
	long := "data: {\"type\":\"response.output_item.done\"}"
	for _, end := range []string{"\n\n", "\r\n\r\n", "\r\r", "\r\r\n", "\n\n\r"} {
		for _, before := range []string{"data: a\n\n", ":c\n", "\n", "data: a\r\n\r\n"} {
			for limit := len(before); limit < len(long)+2; limit++ {
				for name, skim := range map[string]Skim{"inspected": nil, "skimmed": skimAll(new([]string))} {
					w := &wire{}
					err := Tee(NewReader(whole(before+long+end+"data: b\n\n"), &Buffers{}, limit), pass, skim, w)
					if err != ErrFrameTooLong || w.all() != before {
						t.Fatalf("%s, limit %d, %q behind %q: %v, relayed %q", name, limit, long+end, before, err, w.all())
					}
				}
			}
		}
	}
}

// A frame over the limit ends the stream, however much a skim would take.
func TestSkimKeepsTheLimit(t *testing.T) {
	var seen []string
	w := &wire{}
	err := Tee(NewReader(whole("data: a\n\ndata: too long\n\ndata: b\n\n"), &Buffers{}, 9), pass, skimAll(&seen), w)
	if err != ErrFrameTooLong || w.all() != "data: a\n\n" || seen != nil {
		t.Errorf("%v; relayed %q, skimmed %q", err, w.all(), seen)
	}
}
