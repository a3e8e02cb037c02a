package proxy

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"turngate/proxy/mock"
)

// TestS9SlowClient reads nothing for a while: the upstream is held back after
// a few events, and gets rid of all of them once the client reads. In a bubble
// nothing is buffered by a system, and "a while" is when nobody can go on.
func TestS9SlowClient(t *testing.T) {
	const events, size = 512, 32 << 10
	s := new(mock.Stream).Created()
	before := s.Len()
	delta := bytes.Clone(s.TextDelta(0, strings.Repeat("x", size)).Bytes()[before:])
	created := s.Bytes()[:before]
	end := new(mock.Stream).Completed().Bytes()
	synctest.Test(t, func(t *testing.T) {
		var sent atomic.Int64
		rig := newBubble(t, func(c *Config) { c.Heartbeat = 0 }, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			w.Write(created)
			for range events {
				if _, err := w.Write(delta); err != nil {
					return
				}
				sent.Add(1)
			}
			w.Write(end)
		}))
		resp, err := rig.begin(t.Context(), requestBody(t, "one-tool", true))
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		synctest.Wait()
		if n := sent.Load(); n > 8 {
			t.Errorf("the upstream could send %d events of %d bytes to a client that reads nothing", n, size)
		}
		got, err := io.ReadAll(resp.Body)
		want := append(append(bytes.Clone(created), bytes.Repeat(delta, events)...), end...)
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("error %v, %d bytes, want %d", err, len(got), len(want))
		}
		if n := sent.Load(); n != events {
			t.Errorf("the upstream sent %d events, want %d", n, events)
		}
		rig.checkCounted(rig.lastTurn(), ending{outcome: "completed", upstream: "completed"})
	})
}

// TestS9SlowIsNotSilent has an upstream that is silent for a while and then a
// client that takes its time, longer than the idle limit together: only the
// former is the upstream's silence.
func TestS9SlowIsNotSilent(t *testing.T) {
	created, _, completed := texts()
	delta := "data: {\"type\":\"response.x\"}\n\n" // short: it is there as soon as the silence ends, in one read
	synctest.Test(t, func(t *testing.T) {
		rig := newBubble(t, func(c *Config) { c.Heartbeat = 0 }, // and the idle limit 30 s
			script("text/event-stream", step{0, created}, step{25 * time.Second, delta}, step{25 * time.Second, completed}))
		resp, err := rig.begin(t.Context(), requestBody(t, "one-tool", true))
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		time.Sleep(40 * time.Second) // 15 of them the delta waits for the client
		got, err := io.ReadAll(resp.Body)
		if want := created + delta + completed; err != nil || string(got) != want {
			t.Errorf("error %v, %d bytes, want %d", err, len(got), len(want))
		}
		if record := rig.lastTurn(); record.Outcome != "completed" || record.DurationMS < 50_000 {
			t.Errorf("outcome %s after %d ms", record.Outcome, record.DurationMS)
		}
	})
}

// TestS9ClientThatTakesNothing is given up after the idle limit, and the
// upstream with it.
func TestS9ClientThatTakesNothing(t *testing.T) {
	created, delta, _ := texts()
	synctest.Test(t, func(t *testing.T) {
		handler, left := flood([]byte(created), []byte(delta))
		rig := newBubble(t, func(c *Config) { c.Heartbeat = 0 }, handler)
		ctx, leave := context.WithCancel(t.Context())
		defer leave()
		resp, err := rig.begin(ctx, requestBody(t, "one-tool", true))
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		<-left // only the fake clock can bring this about
		rig.checkCounted(rig.lastTurn(), ending{outcome: "client_gone", upstream: "cancelled"})
	})
}
