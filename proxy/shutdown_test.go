package proxy

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"turngate/proxy/mock"
)

// admin asks the admin listener.
func (r *rig) admin(method, target string) *httptest.ResponseRecorder {
	rec := httptest.NewRecorder()
	r.proxy.AdminHandler().ServeHTTP(rec, httptest.NewRequest(method, target, nil))
	return rec
}

// stalledStream is a turn that stops behind its first event until it is resumed.
func stalledStream(resume <-chan struct{}) mock.Turn {
	s := new(mock.Stream).Created()
	at := s.Len()
	return mock.Turn{Body: s.Text("x").Completed().Marker().Bytes(), Fault: mock.Stall, At: at, Resume: resume}
}

// TestKI3ShutdownWaits: not ready at once, the running turn ends well, and who
// comes in between is told to come back.
func TestKI3ShutdownWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		resume := make(chan struct{})
		turn := stalledStream(resume)
		r := newBubble(t, nil, mock.New(turn))
		r.proxy.SetReady(true)
		if got := r.admin("GET", "/readyz").Code; got != http.StatusOK {
			t.Errorf("/readyz %d before", got)
		}
		running := r.start(t.Context(), []byte(`{"model":"m","stream":true}`))
		synctest.Wait()

		ended := make(chan error, 1)
		ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
		defer cancel()
		go func() { ended <- r.proxy.Shutdown(ctx) }()
		synctest.Wait()
		if got := r.admin("GET", "/readyz").Code; got != http.StatusServiceUnavailable {
			t.Errorf("/readyz %d while draining", got)
		}
		if got := r.admin("GET", "/healthz").Code; got != http.StatusOK {
			t.Errorf("/healthz %d while draining", got)
		}
		select {
		case err := <-ended:
			t.Fatalf("ended with a turn running: %v", err)
		default:
		}
		late := r.post([]byte(`{"model":"m","stream":true}`), nil)
		if late.status != http.StatusServiceUnavailable || late.header.Get("Retry-After") == "" || late.header.Get("X-Turngate-Error") == "" {
			t.Errorf("a late turn got %d %v %s", late.status, late.header, late.body)
		}

		close(resume)
		if got := running(); got.err != nil || !bytes.Equal(got.body, turn.Body) {
			t.Errorf("the running turn got %q (%v)", got.body, got.err)
		}
		if err := <-ended; err != nil {
			t.Errorf("ended with %v", err)
		}
		if n := r.metric("turngate_turns_total", "outcome", "completed"); n != 1 {
			t.Errorf("%v turns completed", n)
		}
	})
}

// TestKI3ShutdownCuts: at the deadline the rest is cut, each in the form that
// its client needs, and the upstream is told.
func TestKI3ShutdownCuts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stalled := stalledStream(nil)
		stalled.Name = "stream"
		up := mock.New(stalled,
			mock.Turn{Name: "json", Body: []byte(`{"object":"response"`), At: 10, Fault: mock.Stall},
			mock.Turn{Name: "head", At: -1, Fault: mock.Stall})
		r := newBubble(t, nil, up)
		stream := r.start(t.Context(), []byte(`{"model":"stream","stream":true}`))
		json := r.start(t.Context(), []byte(`{"model":"json"}`))
		head := r.start(t.Context(), []byte(`{"model":"head","stream":true}`))
		synctest.Wait()
		if n := up.Counts().Received; n != 3 {
			t.Fatalf("%d turns are running", n)
		}
		ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
		defer cancel()
		if err := r.proxy.Shutdown(ctx); err != nil {
			t.Error(err)
		}

		got := stream()
		if got.err != nil || got.status != http.StatusOK || !bytes.HasPrefix(got.body, stalled.Body[:stalled.At]) {
			t.Fatalf("the stream got %d %q (%v)", got.status, got.body, got.err)
		}
		checkFailure(t, got.body[stalled.At:], "proxy_shutdown", "resp_1", 1)
		for _, end := range []func() answer{json, head} {
			got := end()
			r.wantError(got, http.StatusServiceUnavailable, "proxy_shutdown")
			r.wantHeader(got, "Retry-After", "1")
		}
		synctest.Wait()
		if n := up.Counts().Gone; n != 3 {
			t.Errorf("%d of the upstream's turns were left", n)
		}
		if n := r.metric("turngate_upstream_outcomes_total", "outcome", "cancelled"); n != 2 {
			t.Errorf("%v cancelled upstream", n)
		}
		if n := len(r.proxy.recent.list(10, func(t *turnRecord) bool { return t.Error == "proxy_shutdown" })); n != 3 {
			t.Errorf("%d turns are listed as cut", n)
		}
	})
}

// TestKI3ShutdownCutsCodex: a turn of Codex that has no event yet gets the
// failure as events, which it can show and send again.
func TestKI3ShutdownCutsCodex(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newBubble(t, nil, mock.New(mock.Turn{At: -1, Fault: mock.Stall}))
		cut, cancel := context.WithCancel(context.Background())
		go func() {
			synctest.Wait() // the turn waits for its head
			cancel()
			r.proxy.Shutdown(cut)
		}()
		got := r.post([]byte(`{"stream":true}`), map[string]string{"Originator": "codex_exec"})
		r.wantCodexFailed(got, "proxy_shutdown", "shut down")
	})
}
