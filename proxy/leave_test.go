package proxy

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
	"time"

	"turngate/proxy/mock"
)

// begin sends a create request and returns the answer with its body unread.
// Cancelling the context is how this client leaves.
func (r *rig) begin(ctx context.Context, body []byte) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.base+"/responses", bytes.NewReader(body))
	if err != nil {
		r.Fatal(err)
	}
	return r.client.Do(req)
}

// waitFor waits until the upstream's counts are as wanted.
func (r *rig) waitFor(done func(mock.Counts) bool) {
	r.Helper()
	ctx, cancel := context.WithTimeout(r.Context(), time.Minute)
	defer cancel()
	if err := r.upstream.Wait(ctx, done); err != nil {
		r.Fatalf("the upstream's counts stay %+v", r.upstream.Counts())
	}
}

func oneGone(c mock.Counts) bool { return c.Gone == 1 }

// TestKI1ClientLeaves has clients leave while the upstream is silent. The
// upstream is cancelled while the proxy runs on.
func TestKI1ClientLeaves(t *testing.T) {
	created := new(mock.Stream).Created().Bytes()
	answer := new(mock.Stream).CompletedWith(mock.Message("hello")).JSON()
	for _, tc := range []struct {
		name   string
		turn   mock.Turn
		stream bool
		read   int // bytes that the client waits for before it leaves; -1: not even for the head
	}{
		{"after created", mock.Turn{Body: created, Fault: mock.Stall, At: len(created)}, true, len(created)},
		{"inside an event", mock.Turn{Body: append(bytes.Clone(created), "data: {"...), Fault: mock.Stall, At: len(created) + 7}, true, len(created)},
		{"before the head", mock.Turn{Fault: mock.Stall, At: -1}, true, -1},
		{"before the first event", mock.Turn{Body: created, Fault: mock.Stall, At: 0}, true, -1},
		{"inside JSON", mock.Turn{Body: answer, Fault: mock.Stall, At: 20}, false, -1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			rig := newRig(t, nil, tc.turn)
			ctx, leave := context.WithCancel(t.Context())
			defer leave()
			if tc.read < 0 {
				go func() {
					rig.waitFor(func(c mock.Counts) bool { return c.Received == 1 })
					leave()
				}()
			}
			resp, err := rig.begin(ctx, requestBody(t, "one-tool", tc.stream))
			if (err == nil) != (tc.read >= 0) {
				t.Fatalf("response %v, error %v", resp, err)
			}
			if err == nil {
				if _, err := io.ReadFull(resp.Body, make([]byte, tc.read)); err != nil {
					t.Fatal(err)
				}
				leave()
				resp.Body.Close()
			}
			rig.waitFor(oneGone)
			record := rig.lastTurn()
			rig.checkCounted(record, ending{outcome: "client_gone", upstream: "cancelled"})
			rig.checkLogged(record.RequestID, "client went away")
		})
	}
}

// flood is an upstream that sends begin, then event after event until nobody
// reads them; it closes left when it was told so.
func flood(begin, event []byte) (handler http.Handler, left chan struct{}) {
	left = make(chan struct{})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer close(left)
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		w.Write(begin)
		for {
			if _, err := w.Write(event); err != nil {
				return
			}
		}
	}), left
}

// TestKI2ClientLeavesDuringOutput leaves an upstream that does not stop to
// talk. What it said to have spent by then is counted.
func TestKI2ClientLeavesDuringOutput(t *testing.T) {
	s := new(mock.Stream).Created().Event("response.in_progress", `"response":{"id":"resp_1","usage":{"input_tokens":11,"output_tokens":4}}`)
	begin := bytes.Clone(s.Bytes())
	handler, left := flood(begin, s.TextDelta(0, "on and on").Bytes()[len(begin):])
	server := httptest.NewServer(handler)
	defer server.Close()
	base, err := url.Parse(server.URL + "/v1")
	if err != nil {
		t.Fatal(err)
	}
	rig := newRig(t, func(c *Config) { c.Upstreams[0].BaseURL = base })
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	resp, err := rig.begin(ctx, requestBody(t, "one-tool", true))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(resp.Body, make([]byte, 100_000)); err != nil {
		t.Fatal(err)
	}
	leave()
	resp.Body.Close()
	<-left
	record := rig.lastTurn()
	rig.checkCounted(record, ending{outcome: "client_gone", upstream: "cancelled"})
	if record.Tokens != (tokens{Input: 11, Output: 4}) || rig.metric("turngate_tokens_total", "kind", "output") != 4 {
		t.Errorf("tokens %+v", record.Tokens)
	}
}

// TestS8ClientClosesAfterTerminal is how many clients end a turn, and no fault:
// they do not wait for the end of the body.
func TestS8ClientClosesAfterTerminal(t *testing.T) {
	for name, s := range map[string]*mock.Stream{
		"completed":  new(mock.Stream).Created().Text("hello").Completed(),
		"incomplete": new(mock.Stream).Created().Text("hello").Incomplete("max_output_tokens"),
		"failed":     new(mock.Stream).Created().Text("hello").Failed("server_error", "no"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rig := newRig(t, func(c *Config) { c.DrainTimeout = time.Minute },
				mock.Turn{Body: s.Bytes(), Fault: mock.Stall, At: s.Len()})
			ctx, leave := context.WithCancel(t.Context())
			defer leave()
			resp, err := rig.begin(ctx, requestBody(t, "one-tool", true))
			if err != nil {
				t.Fatal(err)
			}
			got := make([]byte, s.Len())
			if _, err := io.ReadFull(resp.Body, got); err != nil || !bytes.Equal(got, s.Bytes()) {
				t.Errorf("error %v, got %q", err, got)
			}
			leave()
			resp.Body.Close()
			rig.waitFor(oneGone)
			rig.checkCounted(rig.lastTurn(), ending{outcome: name, upstream: name})
		})
	}
}
