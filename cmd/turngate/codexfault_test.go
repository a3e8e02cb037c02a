package main_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"turngate/proxy/mock"
)

// codexRequests checks that turngate got at least one request and no more than
// Codex sends for one failure that it may try again.
func codexRequests(t *testing.T, g *gate) {
	t.Helper()
	if n := len(g.tap.exchanges()); n < 1 || n > 6 {
		t.Errorf("%d requests arrived at turngate, want 1 to 6", n)
	}
}

// codexUnreachable counts what arrives when nobody listens at the upstream.
func codexUnreachable(t *testing.T, bin string) {
	base := closedURL(t)
	g := startGate(t, bin, base)
	run := runCodex(t, plainModel, codexProvider(g.URL))
	codexRequests(t, g)
	if run.Code != 1 {
		t.Errorf("exit code %d, want 1", run.Code)
	}
	mustNotShow(t, "codex", run.Shown, base)
	for _, e := range g.tap.exchanges() {
		mustNotShow(t, "turngate", e.Body, base)
	}
}

// codexUnavailable has the upstream answer each turn with 503: passed on as it
// is, Codex would send 30.
func codexUnavailable(t *testing.T, bin string) {
	u, base := startUpstream(t, mock.Turn{
		Status: http.StatusServiceUnavailable,
		Body:   []byte(`{"error":{"message":"the model is being moved","type":"server_error","param":null,"code":"busy"}}`),
	})
	g := startGate(t, bin, base)
	run := runCodex(t, plainModel, codexProvider(g.URL))
	codexRequests(t, g)
	if n := u.Counts().Received; n > 6 {
		t.Errorf("%d requests arrived at the upstream, want at most 6", n)
	}
	mustContain(t, "what the user sees", run.Shown, "the model is being moved")
	mustNotShow(t, "codex", run.Shown, base)
}

// codexReset has the upstream break each answer off.
func codexReset(t *testing.T, bin string) {
	s := new(mock.Stream).Created().Added(0, mock.Message("")).TextDelta(0, "half a sen")
	_, base := startUpstream(t, mock.Turn{Body: s.Bytes(), Fault: mock.Reset, At: s.Len()})
	g := startGate(t, bin, base)
	run := runCodex(t, plainModel, codexProvider(g.URL))
	codexRequests(t, g)
	if run.Code != 1 {
		t.Errorf("exit code %d, want 1", run.Code)
	}
	mustNotShow(t, "codex", run.Shown, base)
	for _, e := range g.tap.exchanges() {
		mustContain(t, "turngate's answer", e.Body, "response.failed", "upstream_truncated")
		mustNotShow(t, "turngate", e.Body, base)
	}
}

// codexSilence has the upstream be silent between events for longer than Codex
// waits for one, which the heartbeat makes good.
func codexSilence(t *testing.T, bin string) {
	item := mock.Message("at last")
	turn := new(mock.Stream).Created().Done(0, item).Completed().Turn()
	turn.Interval = 2500 * time.Millisecond
	u, base := startUpstream(t, turn)
	g := startGate(t, bin, base, "--heartbeat", "300ms")
	run := runCodex(t, plainModel, codexProvider(g.URL)+"stream_idle_timeout_ms = 1500\n")
	wantRequests(t, u, 1)
	if run.Code != 0 || run.messages() != "at last" {
		t.Errorf("exit code %d, messages %q", run.Code, run.messages())
	}
}

// codexUpgrade lets Codex try a WebSocket first, as its built-in provider does
// and one with supports_websockets may.
func codexUpgrade(t *testing.T, bin string) {
	for name, config := range map[string]func(base string) string{
		"built-in provider":   func(base string) string { return "openai_base_url = \"" + base + "\"\n" },
		"supports_websockets": func(base string) string { return codexProvider(base) + "supports_websockets = true\n" },
	} {
		t.Run(name, func(t *testing.T) {
			u, base := startUpstream(t, textTurn("over http"))
			g := startGate(t, bin, base)
			run := runCodex(t, plainModel, config(g.URL))
			wantRequests(t, u, 1)
			if run.Code != 0 || run.messages() != "over http" {
				t.Errorf("exit code %d, messages %q", run.Code, run.messages())
			}
			var got []string
			for _, e := range g.tap.exchanges() {
				got = append(got, e.Method+" "+e.Path+" "+http.StatusText(e.Status))
			}
			want := "GET /v1/responses Upgrade Required, POST /v1/responses OK"
			if strings.Join(got, ", ") != want {
				t.Errorf("requests: %q, want %q", got, want)
			}
		})
	}
}
