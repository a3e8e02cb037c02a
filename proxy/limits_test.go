package proxy

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"sync"
	"testing"

	"turngate/proxy/mock"
)

// wait waits until the upstream's counts are as they should be, for as long as
// the test may run.
func (r *rig) wait(done func(mock.Counts) bool) {
	r.Helper()
	if err := r.upstream.Wait(r.Context(), done); err != nil {
		r.Fatalf("counts are %+v: %v", r.upstream.Counts(), err)
	}
}

// start sends a create request whose answer is read to its end in the
// background; the function that it returns waits for that.
func (r *rig) start(ctx context.Context, body []byte) (end func() answer) {
	r.Helper()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.base+"/responses", bytes.NewReader(body))
	if err != nil {
		r.Fatal(err)
	}
	var a answer
	var wg sync.WaitGroup
	wg.Go(func() {
		resp, err := r.client.Do(req)
		if err != nil {
			a.err = err
			return
		}
		defer resp.Body.Close()
		a.status, a.header = resp.StatusCode, resp.Header
		a.body, a.err = io.ReadAll(resp.Body)
	})
	return func() answer { wg.Wait(); return a }
}

// TestO4MaxStreams has one turn more than may run at once, for each kind of
// client, and then room again.
func TestO4MaxStreams(t *testing.T) {
	stream := new(mock.Stream).Created()
	at := stream.Len()
	resume := make(chan struct{})
	r := newRig(t, func(c *Config) { c.MaxStreams = 2 },
		mock.Turn{Body: stream.Completed().Bytes(), Fault: mock.Stall, At: at, Resume: resume},
		mock.Turn{Route: "GET /v1/models", Body: []byte("{}")})
	body := []byte(`{"model":"m","stream":true}`)
	first, second := r.start(t.Context(), body), r.start(t.Context(), body)
	r.wait(func(c mock.Counts) bool { return c.Received == 2 })

	got := r.post(body, nil)
	r.wantError(got, http.StatusServiceUnavailable, "overloaded")
	r.wantErrorType(got, "")
	r.wantHeader(got, "Retry-After", "5")
	r.wantHeader(got, "X-Should-Retry", "") // it may
	for _, header := range codexClients() {
		r.wantCodexFailed(r.post(body, header), "rate_limit_exceeded", "try again in 5 s")
	}
	if got := r.do(http.MethodGet, "/models", nil, nil); got.status != http.StatusOK {
		t.Errorf("what is no turn got %d", got.status)
	}
	if n := r.metric("turngate_active_streams", "upstream", "default"); n != 2 {
		t.Errorf("%v active streams", n)
	}
	close(resume)
	for _, end := range []func() answer{first, second} {
		if got := end(); got.status != http.StatusOK || !bytes.Equal(got.body, stream.Bytes()) {
			t.Errorf("the client got %d %q (%v)", got.status, got.body, got.err)
		}
	}
	if got := r.post(body, nil); got.status != http.StatusOK {
		t.Errorf("status %d when there is room again", got.status)
	}
	r.stop()
	if n := r.metric("turngate_turns_total", "upstream", "none", "outcome", "local_error"); n != 5 {
		t.Errorf("%v turns turned away, want 5", n)
	}
	if n := r.metric("turngate_active_streams"); n != 0 {
		t.Errorf("%v active streams at the end", n)
	}
}
