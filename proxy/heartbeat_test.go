package proxy

import (
	"bytes"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"turngate/proxy/mock"
)

// Signs of life, as the client gets them.
const (
	comment   = ": keepalive\n"
	keepalive = "data: {\"type\":\"keepalive\"}\n\n"
)

var codexHeader = map[string]string{"Originator": "codex_cli_rs"}

// step is something that an upstream sends, and when, since the one before.
type step struct {
	after time.Duration
	text  string
}

// script is an upstream that sends steps; the time is a bubble's.
func script(contentType string, steps ...step) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(http.StatusOK)
		http.NewResponseController(w).Flush()
		for _, s := range steps {
			select {
			case <-time.After(s.after):
			case <-r.Context().Done():
				return
			}
			if _, err := w.Write([]byte(s.text)); err != nil {
				return
			}
			http.NewResponseController(w).Flush()
		}
	})
}

// texts are the frames of a short clean turn.
func texts() (created, delta, completed string) {
	s := new(mock.Stream).Created()
	a := s.Len()
	b := s.TextDelta(0, "hello").Len()
	all := string(s.Completed().Bytes())
	return all[:a], all[a:b], all[b:]
}

func TestS9aHeartbeat(t *testing.T) {
	created, delta, completed := texts()
	half := len(delta) / 2
	for _, tc := range []struct {
		name        string
		heartbeat   time.Duration
		steps       []step
		want, codex string // what an ordinary client gets, and Codex
	}{{
		name: "in silence between events", heartbeat: 15 * time.Second,
		steps: []step{{0, created}, {40 * time.Second, delta}, {20 * time.Second, completed}},
		want:  created + comment + comment + delta + comment + completed,
		codex: created + keepalive + keepalive + delta + keepalive + completed,
	}, {
		name: "K-C1 eight seconds of silence", heartbeat: time.Second,
		steps: []step{{0, created}, {8500 * time.Millisecond, delta}, {0, completed}},
		want:  created + strings.Repeat(comment, 8) + delta + completed,
		codex: created + strings.Repeat(keepalive, 8) + delta + completed,
	}, {
		name: "not before the first event", heartbeat: 15 * time.Second,
		steps: []step{{40 * time.Second, created}, {0, delta}, {0, completed}},
		want:  created + delta + completed,
		codex: created + delta + completed,
	}, {
		name: "not behind a comment before the first event", heartbeat: 15 * time.Second,
		steps: []step{{0, ": hello\n\n"}, {40 * time.Second, created}, {0, completed}},
		want:  ": hello\n\n" + created + completed,
		codex: ": hello\n\n" + created + completed,
	}, {
		name: "not inside an event", heartbeat: 15 * time.Second,
		steps: []step{{0, created}, {1 * time.Second, delta[:half]}, {31 * time.Second, delta[half:]}, {0, completed}},
		want:  created + comment + comment + delta + completed,
		codex: created + keepalive + keepalive + delta + completed,
	}, {
		name: "the upstream's comments are no events to Codex", heartbeat: 15 * time.Second,
		steps: []step{{0, created}, {7 * time.Second, ": a\n\n"}, {7 * time.Second, ": b\n\n"}, {7 * time.Second, ": c\n\n"},
			{7 * time.Second, ": d\n\n"}, {7 * time.Second, delta}, {0, completed}},
		want:  created + ": a\n\n: b\n\n: c\n\n: d\n\n" + delta + completed,
		codex: created + ": a\n\n: b\n\n" + keepalive + ": c\n\n: d\n\n" + keepalive + delta + completed,
	}, {
		name: "not while events come", heartbeat: 15 * time.Second,
		steps: []step{{0, created}, {14 * time.Second, delta}, {14 * time.Second, delta}, {14 * time.Second, completed}},
		want:  created + delta + delta + completed,
		codex: created + delta + delta + completed,
	}, {
		name: "S7 not behind the terminal event", heartbeat: 15 * time.Second,
		steps: []step{{0, created}, {0, completed}, {40 * time.Second, ": late\n\n"}},
		want:  created + completed + ": late\n\n",
		codex: created + completed + ": late\n\n",
	}, {
		name: "behind a bare carriage return", heartbeat: 15 * time.Second,
		steps: []step{{0, strings.ReplaceAll(created, "\n", "\r")}, {40 * time.Second, delta}, {0, completed}},
		want:  strings.ReplaceAll(created, "\n", "\r") + "\n\n" + comment + comment + delta + completed,
		codex: strings.ReplaceAll(created, "\n", "\r") + "\n\n" + keepalive + keepalive + delta + completed,
	}, {
		name: "behind one, and deltas that were skimmed", heartbeat: 15 * time.Second,
		steps: []step{{0, created + delta + "id: 1\r" + delta + delta}, {40 * time.Second, completed}},
		want:  created + delta + "id: 1\r" + delta + delta + comment + comment + completed,
		codex: created + delta + "id: 1\r" + delta + delta + keepalive + keepalive + completed,
	}, {
		name: "turned off", heartbeat: 0,
		steps: []step{{0, created}, {100 * time.Second, delta}, {0, completed}},
		want:  created + delta + completed,
		codex: created + delta + completed,
	}} {
		for who, want := range map[string]string{"ordinary": tc.want, "codex": tc.codex} {
			t.Run(tc.name+"/"+who, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					rig := newBubble(t, func(c *Config) {
						c.Heartbeat, c.DrainTimeout, c.Upstreams[0].IdleTimeout = tc.heartbeat, time.Minute, 5*time.Minute
					}, script("text/event-stream", tc.steps...))
					header := map[string]string{}
					if who == "codex" {
						header = codexHeader
					}
					got := rig.post(requestBody(t, "one-tool", true), header)
					if got.err != nil || string(got.body) != want {
						t.Errorf("error %v, got\n%q, want\n%q", got.err, got.body, want)
					}
					if record := rig.lastTurn(); record.Outcome != "completed" {
						t.Errorf("outcome %s", record.Outcome)
					}
				})
			})
		}
	}
}

// TestS9aNoHeartbeatInJSON lets a JSON answer take its time.
func TestS9aNoHeartbeatInJSON(t *testing.T) {
	body := string(new(mock.Stream).CompletedWith(mock.Message("hello")).JSON())
	for _, stream := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			rig := newBubble(t, func(c *Config) { c.Upstreams[0].IdleTimeout = 5 * time.Minute },
				script("application/json", step{40 * time.Second, body[:9]}, step{40 * time.Second, body[9:]}))
			got := rig.post(requestBody(t, "one-tool", stream), codexHeader)
			if got.err != nil || string(got.body) != body {
				t.Errorf("stream %t: error %v, got\n%q, want\n%q", stream, got.err, got.body, body)
			}
			if ms := rig.lastTurn().DurationMS; ms != 80_000 {
				t.Errorf("the turn took %d ms: was there no silence?", ms)
			}
		})
	}
}

// TestKC3CommentsAreLife keeps a stream alive by comments alone, for longer than
// the idle limit.
func TestKC3CommentsAreLife(t *testing.T) {
	created, delta, completed := texts()
	steps := []step{{0, created}}
	comments := strings.Repeat(": OPENROUTER PROCESSING\n\n", 12)
	for range 12 {
		steps = append(steps, step{10 * time.Second, ": OPENROUTER PROCESSING\n\n"})
	}
	steps = append(steps, step{10 * time.Second, delta}, step{0, completed})
	synctest.Test(t, func(t *testing.T) {
		rig := newBubble(t, nil, script("text/event-stream", steps...))
		got := rig.post(requestBody(t, "one-tool", true), nil)
		if want := created + comments + delta + completed; got.err != nil || string(got.body) != want {
			t.Errorf("error %v, got\n%q, want\n%q", got.err, got.body, want)
		}
		if record := rig.lastTurn(); record.Outcome != "completed" || record.DurationMS != 130_000 {
			t.Errorf("outcome %s after %d ms", record.Outcome, record.DurationMS)
		}
	})
}

// TestKC5SilenceAfterCreated ends a turn at the idle limit, signs of life of our
// own notwithstanding, and cancels the upstream.
func TestKC5SilenceAfterCreated(t *testing.T) {
	created, _, _ := texts()
	synctest.Test(t, func(t *testing.T) {
		up := mock.New(mock.Turn{Body: []byte(created), Fault: mock.Stall, At: len(created)})
		rig := newBubble(t, func(c *Config) { c.Upstreams[0].IdleTimeout = 40 * time.Second }, up)
		got := rig.post(requestBody(t, "one-tool", true), nil)
		rest, ok := bytes.CutPrefix(got.body, []byte(created+comment+comment))
		if got.err != nil || !ok {
			t.Fatalf("error %v, got %q", got.err, got.body)
		}
		checkFailure(t, rest, "upstream_timeout", "resp_1", 1)
		record := rig.lastTurn()
		if record.Outcome != "timeout" || record.UpstreamOutcome != "timeout" || record.DurationMS != 40_000 {
			t.Errorf("outcome %s/%s after %d ms", record.Outcome, record.UpstreamOutcome, record.DurationMS)
		}
		synctest.Wait() // for the upstream to see that it was left
		if n := up.Counts().Gone; n != 1 {
			t.Errorf("the upstream was left %d times, want 1", n)
		}
	})
}
