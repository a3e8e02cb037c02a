package proxy

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
)

// scattered writes a stream in pieces of sizes that lie around those of the
// relay's buffers, as chance has it.
func scattered(stream string, rnd *rand.Rand) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for rest := stream; rest != ""; {
			n := []int{1, 2, 63, 64, 65, 269, 351, 352, 353, 4096, 16384, 16385, 40_000, 40_000}[rnd.IntN(14)] + rnd.IntN(3) - 1
			n = min(max(n, 1), len(rest))
			if _, err := w.Write([]byte(rest[:n])); err != nil {
				return
			}
			if rest = rest[n:]; rnd.IntN(3) > 0 {
				w.(http.Flusher).Flush()
			}
		}
	})
}

// randomFrames returns frames of a right turn: deltas of all sizes, comments,
// other framings and other events, as chance has it.
func randomFrames(rnd *rand.Rand, n int) (frames []string) {
	for i := range n {
		size := []int{0, 5, 20, 80, 150, 155, 160, 165, 300, 4000, 16_300, 16_400}[rnd.IntN(12)] + rnd.IntN(3)
		text := strings.Repeat("x", size)
		if rnd.IntN(4) == 0 {
			text += `\n\"é\u00e9\\`
		}
		typ := "response.output_text.delta"
		if rnd.IntN(20) == 0 {
			typ = "response.vendor.thing"
		}
		frame := fmt.Sprintf("event: %s\ndata: {\"type\":%q,\"sequence_number\":%d,\"item_id\":\"msg_1\",\"output_index\":0,\"content_index\":0,\"delta\":\"%s\",\"logprobs\":[]}\n\n", typ, typ, i+1, text)
		switch rnd.IntN(30) {
		case 0:
			frame = strings.ReplaceAll(frame, "\n", "\r\n")
		case 1:
			frame = ": a comment\n\n"
		case 2:
			frame = frame[strings.Index(frame, "data: "):]
		case 3:
			frame = "id: 1\r" + frame
		}
		frames = append(frames, frame)
	}
	return frames
}

const (
	opening = "event: response.created\ndata: {\"type\":\"response.created\",\"sequence_number\":0,\"response\":{\"id\":\"resp_1\",\"object\":\"response\",\"status\":\"in_progress\",\"output\":[]}}\n\n"
	closing = "event: response.completed\ndata: {\"type\":\"response.completed\",\"response\":{\"id\":\"resp_1\",\"object\":\"response\",\"status\":\"completed\",\"output\":[]}}\n\ndata: [DONE]\n\n"
	rmAll   = "event: response.output_item.done\ndata: {\"type\":\"response.output_item.done\",\"output_index\":1,\"item\":{\"type\":\"function_call\",\"call_id\":\"call_1\",\"name\":\"rm_all\",\"arguments\":\"{}\"}}\n\n"
)

// relayScattered relays a stream, cut as chance has it, with a limit on events.
func relayScattered(t *testing.T, rnd *rand.Rand, stream string, limit int) (answer, turnRecord) {
	t.Helper()
	rig := newRig(t, func(c *Config) {
		c.Upstreams[0].BaseURL = newServer(t, scattered(stream, rnd))
		c.MaxEventBytes = int64(limit)
	})
	got := rig.post(requestBody(t, "one-tool", true), nil)
	rig.stop()
	return got, rig.lastTurn()
}

// S1: wherever the network cuts a stream, a right one arrives byte for byte, and
// of one with an undeclared call what came before that, and nothing of it.
func TestS1AnyBoundaries(t *testing.T) {
	for seed := range uint64(40) {
		rnd := rand.New(rand.NewPCG(seed, 7))
		frames := randomFrames(rnd, 1+rnd.IntN(80))
		right := opening + strings.Join(frames, "") + closing
		if got, _ := relayScattered(t, rnd, right, 32<<20); got.err != nil || string(got.body) != right {
			t.Fatalf("seed %d: %v, %d bytes of %d", seed, got.err, len(got.body), len(right))
		}
		at := rnd.IntN(len(frames) + 1)
		before := opening + strings.Join(frames[:at], "")
		got, turn := relayScattered(t, rnd, before+rmAll+strings.Join(frames[at:], "")+closing, 32<<20)
		if !refusedBehind(got.body, before) || turn.Outcome != "refused" {
			t.Fatalf("seed %d: outcome %s, got\n%.2000s\nbehind\n%.2000s", seed, turn.Outcome, got.body, before)
		}
	}
}

// An event over the limit is refused whole, wherever it is cut and whatever ends
// it: behind another of the same read its pieces were relayed unseen.
func TestS1TooLongAtAnyBoundary(t *testing.T) {
	for seed := range uint64(40) {
		rnd := rand.New(rand.NewPCG(seed, 7))
		before := strings.Repeat("data: {\"type\":\"x\"}\n\n", 1+rnd.IntN(9))
		long := strings.TrimSuffix(rmAll[rnd.IntN(2)*strings.Index(rmAll, "data: "):], "\n\n")
		limit := len(long) - 3 - rnd.IntN(len(long)-30)
		long += []string{"\n\n", "\n\n\r", "\r\r", "\r\r\n", "\r\n\r\n"}[rnd.IntN(5)]
		got, turn := relayScattered(t, rnd, before+long+before, limit)
		if !refusedBehind(got.body, before) || turn.Outcome != "refused" {
			t.Fatalf("seed %d, limit %d: outcome %s, got\n%s\nof\n%s", seed, limit, turn.Outcome, got.body, before+long)
		}
	}
}

// refusedBehind reports whether a client got before, and then the failure of the
// turn and nothing else.
func refusedBehind(got []byte, before string) bool {
	rest, ok := bytes.CutPrefix(got, []byte(before))
	rest = bytes.TrimLeft(rest, "\n") // what ends a frame for all readers
	return ok && (bytes.HasPrefix(rest, []byte("event: response.failed\n")) || bytes.HasPrefix(rest, []byte("event: response.created\n"))) &&
		!bytes.Contains(rest, []byte(`"type":"function_call"`))
}
