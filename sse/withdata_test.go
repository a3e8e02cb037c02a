package sse

import (
	"io"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWithData(t *testing.T) {
	for name, tt := range map[string]struct{ frame, data, want string }{
		"the usual form":       {"event: e\ndata: old\n\n", "new", "event: e\ndata: new\n\n"},
		"no space":             {"data:old\n\n", "new", "data: new\n\n"},
		"CRLF":                 {"event: e\r\ndata: old\r\n\r\n", "new", "event: e\r\ndata: new\r\n\r\n"},
		"CR":                   {"event: e\rdata: old\r\r", "new", "event: e\rdata: new\r\r"},
		"other lines":          {"id: 7\n: c\ndata: old\nretry: 9\ndatum: x\ndata\nevent: e\n\n", "new", "id: 7\n: c\ndata: new\nretry: 9\ndatum: x\nevent: e\n\n"},
		"several data lines":   {"data: {\ndata: }\nevent: e\n\n", "{}", "data: {}\nevent: e\n\n"},
		"line feeds in it":     {"data: old\r\n\r\n", "{\n}", "data: {\r\ndata: }\r\n\r\n"},
		"a byte order mark":    {"\uFEFFdata: old\n\n", "new", "\uFEFFdata: new\n\n"},
		"cut in its data":      {"event: e\ndata: old", "new", "event: e\ndata: new\n\n"},
		"cut behind it":        {"data: old\n", "new", "data: new\n\n"},
		"cut in half a CRLF":   {"data: old\r\n\r", "new", "data: new\r\n\r\n"},
		"a comment of its own": {": c\n", "new", ": c\n"},
	} {
		t.Run(name, func(t *testing.T) {
			f, err := NewReader(whole(tt.frame), &Buffers{}, 0).Next()
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, string(f.WithData([]byte(tt.data)))); diff != "" {
				t.Errorf("frame (-want +got):\n%s", diff)
			}
		})
	}
}

// A reader finds the new data, and all else that it found before.
func FuzzWithData(f *testing.F) {
	f.Add("event: e\ndata: x\n\n", "new")
	f.Add("\uFEFFdata: x\r\ndata: y\r\r", "a\nb")
	f.Fuzz(func(t *testing.T, in, data string) {
		for i := range len(data) {
			if data[i] == '\r' {
				return
			}
		}
		old, err := NewReader(whole(in), &Buffers{}, 0).Next()
		if err != nil || !old.IsEvent() {
			return
		}
		out := NewReader(whole(string(old.WithData([]byte(data)))), &Buffers{}, 0)
		got, err := out.Next()
		if err != nil || string(got.Data) != data || string(got.Event) != string(old.Event) {
			t.Fatalf("%q with %q: data %q, event %q, error %v", in, data, got.Data, got.Event, err)
		}
		for {
			rest, err := out.Next()
			if err == io.EOF {
				return
			}
			if err != nil || rest.IsEvent() {
				t.Fatalf("%q with %q: behind it %q, %v", in, data, rest.Raw, err)
			}
		}
	})
}
