package proxy

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"runtime"
	"strings"
	"testing"

	"turngate/proxy/mock"
)

// nest is JSON that is deeper than any reader should follow it.
func nest(size int) string { return strings.Repeat("[", size) }

// TestE1NestOfBracketsAsBody sends 6 MB of opening brackets, alone and inside a
// request. Nothing of it reaches the upstream, and the process lives.
func TestE1NestOfBracketsAsBody(t *testing.T) {
	deep := nest(6 << 20)
	for name, body := range map[string]string{
		"alone":        deep,
		"in the input": `{"model":"m","stream":true,"input":` + deep,
		"closed":       `{"model":"m","input":` + deep + strings.Repeat("]", len(deep)) + `}`,
	} {
		t.Run(name, func(t *testing.T) {
			rig := newRig(t, nil, new(mock.Stream).Created().Completed().Turn())
			got := rig.post([]byte(body), nil)
			if code := errorCode(rig, got); code != "invalid_json" {
				t.Errorf("error code %q", code)
			}
			if n := rig.upstream.Counts().Received; n != 0 {
				t.Errorf("the upstream got %d requests", n)
			}
			rig.check(got, ending{status: 400, outcome: "local_error", code: "invalid_json"}, "[[[[")
		})
	}
}

// TestG13NestOfBracketsAsEvent sends 6 MB of opening brackets in an event: it is
// refused where it could carry a call, and passes untouched where it could not.
func TestG13NestOfBracketsAsEvent(t *testing.T) {
	deep := nest(6 << 20)
	for _, tc := range []struct {
		name, event string
		refused     bool
	}{
		{"no call in it", `{"type":"response.output_text.delta","x":` + deep, false},
		{"a call behind it", `{"type":"response.output_item.done","x":` + deep + `,"item":{"type":"function_call","name":"rm_all"}}`, true},
		{"a call before it", `{"type":"response.output_item.done","item":{"type":"function_call","name":"rm_all"},"x":` + deep, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := new(mock.Stream).Created()
			before := s.Len()
			s.Raw("data: " + tc.event + "\n\n").Completed()
			turn := mock.Turn{Body: s.Bytes(), Chunk: 1 << 20}
			rig := newRig(t, nil, turn)
			got := rig.post(requestBody(t, "one-tool", true), nil)
			if got.err != nil {
				t.Fatal(got.err)
			}
			if !tc.refused {
				if !bytes.Equal(got.body, turn.Body) {
					t.Errorf("%d bytes, not those of the upstream", len(got.body))
				}
				rig.check(got, ending{status: 200, outcome: "completed", upstream: "completed"})
				return
			}
			checkFailure(t, got.body[before:], "unreadable_event", "resp_1", 1)
			rig.check(got, ending{status: 200, outcome: "refused", upstream: "completed"}, "[[[[")
		})
	}
}

// endless is an upstream that sends head, then filler until nobody reads any
// more, then tail. sent is how much filler at most.
func endless(t *testing.T, contentType, head string, limit int, tail string) *url.URL {
	filler := bytes.Repeat([]byte("x"), 1<<20)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", contentType)
		io.WriteString(w, head)
		for range limit >> 20 {
			if _, err := w.Write(filler); err != nil {
				return
			}
		}
		io.WriteString(w, tail)
	}))
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	base, err := url.Parse(server.URL + "/v1")
	if err != nil {
		t.Fatal(err)
	}
	return base
}

// TestG13EventOfFortyMegabytes is one event over the limit; TestKD3LongLine is
// one within it.
func TestG13EventOfFortyMegabytes(t *testing.T) {
	created := string(new(mock.Stream).Created().Bytes())
	base := endless(t, "text/event-stream", created+`data: {"type":"response.output_text.delta","delta":"`, 40<<20, "\"}\n\n")
	rig := newRig(t, func(c *Config) { c.Upstreams[0].BaseURL = base })
	got := rig.post(requestBody(t, "one-tool", true), nil)
	tail, ok := bytes.CutPrefix(got.body, []byte(created))
	if got.err != nil || !ok {
		t.Fatalf("error %v, %d bytes", got.err, len(got.body))
	}
	checkFailure(t, tail, "unreadable_event", "resp_1", 1)
	record := rig.check(got, ending{status: 200, outcome: "refused", upstream: "cancelled"}, "xxxx")
	if record.Refusal == nil || record.Refusal.Reason != "unreadable_event" {
		t.Errorf("refusal %+v", record.Refusal)
	}
	if n := rig.metric("turngate_refusals_total", "reason", "unreadable_event", "mode", "refuse"); n != 1 {
		t.Errorf("%v refusals counted", n)
	}
}

func TestKD3LongLine(t *testing.T) {
	for _, size := range []int{1_500_000, 30 << 20} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			body := new(mock.Stream).Created().TextDelta(0, strings.Repeat("x", size)).Completed().Bytes()
			rig := newRig(t, nil, mock.Turn{Body: body, Chunk: 1 << 20})
			got := rig.post(requestBody(t, "one-tool", true), nil)
			if got.err != nil || !bytes.Equal(got.body, body) {
				t.Errorf("error %v, %d bytes, want %d", got.err, len(got.body), len(body))
			}
			rig.check(got, ending{status: 200, outcome: "completed", upstream: "completed"})
		})
	}
}

// TestG13JSONOverTheLimit is a JSON answer without an end in sight.
func TestG13JSONOverTheLimit(t *testing.T) {
	base := endless(t, "application/json", `{"object":"response","output":[{"type":"message","text":"`, 40<<20, `"}]}`)
	rig := newRig(t, func(c *Config) { c.Upstreams[0].BaseURL = base })
	got := rig.post(requestBody(t, "one-tool", false), nil)
	if code := errorCode(rig, got); code != "unreadable_event" {
		t.Errorf("error code %q", code)
	}
	rig.check(got, ending{status: 502, outcome: "refused", upstream: "cancelled", code: "unreadable_event"}, "xxxx")
}

// TestG13MemoryIsGivenBack serves events over the limit again and again: what
// the proxy holds afterwards must not grow with their number.
func TestG13MemoryIsGivenBack(t *testing.T) {
	created := string(new(mock.Stream).Created().Bytes())
	base := endless(t, "text/event-stream", created+`data: {"type":"x","delta":"`, 9<<20, "\"}\n\n")
	rig := newRig(t, func(c *Config) { c.Upstreams[0].BaseURL, c.MaxEventBytes = base, 8<<20 })
	held := func() uint64 {
		runtime.GC()
		runtime.GC() // what a pool keeps goes with the second
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	var before uint64
	for i := range 12 {
		if got := rig.post(requestBody(t, "one-tool", true), nil); !bytes.Contains(got.body, []byte("unreadable_event")) {
			t.Fatalf("not refused: %d bytes", len(got.body))
		}
		if i == 1 {
			before = held()
		}
	}
	rig.stop()
	if after := held(); after > before+8<<20 {
		t.Errorf("%d bytes are held after ten more events, %d before", after, before)
	}
}
