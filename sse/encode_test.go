package sse

import (
	"strings"
	"testing"
)

func TestAppendEvent(t *testing.T) {
	for name, tt := range map[string]struct{ dst, typ, data, want string }{
		"typed":         {"", "response.failed", `{"a":1}`, "event: response.failed\ndata: {\"a\":1}\n\n"},
		"untyped":       {"", "", "[DONE]", "data: [DONE]\n\n"},
		"appends":       {"data: x\n\n", "", "y", "data: x\n\ndata: y\n\n"},
		"line ends":     {"", "", "a\nb\r\nc\rd", "data: a\ndata: b\ndata: c\ndata: d\n\n"},
		"leading space": {"", "", " x", "data:  x\n\n"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := string(AppendEvent([]byte(tt.dst), tt.typ, []byte(tt.data))); got != tt.want {
				t.Errorf("AppendEvent = %q, want %q", got, tt.want)
			}
		})
	}
}

// What we say, we read; and it lies behind what dst held.
func TestAppendEventReadsBack(t *testing.T) {
	for _, in := range corpus {
		for _, f := range mustRead(t, whole(in)) {
			if !f.Is || f.Data == "" || strings.HasSuffix(f.Data, "\n") {
				continue // go-sse writes no empty data line at the end
			}
			frames := mustRead(t, whole(string(AppendEvent([]byte(":c\n"), f.Event, []byte(f.Data)))))
			if len(frames) != 2 || frames[1].Event != f.Event || frames[1].Data != f.Data || frames[1].LoneCR {
				t.Errorf("%+v written and read = %+v", f, frames)
			}
		}
	}
}
