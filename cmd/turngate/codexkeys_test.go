package main_test

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"testing"
)

// codexClientKeys asks Codex for a key of turngate's: one that it has, and one
// that it does not have, which must cost one turn and no more (E5), also where
// Codex tries a WebSocket first.
func codexClientKeys(t *testing.T, bin string) {
	const websockets = "supports_websockets = true\n"
	known := fmt.Sprintf("alice: sha256:%x\n", sha256.Sum256([]byte("sk-test")))
	other := fmt.Sprintf("bob: sha256:%x\n", sha256.Sum256([]byte("sk-other")))
	for name, tc := range map[string]struct {
		keys, config string
		letIn        bool
	}{
		"known":                   {known, "", true},
		"known, with WebSocket":   {known, websockets, true},
		"unknown":                 {other, "", false},
		"unknown, with WebSocket": {other, websockets, false},
	} {
		t.Run(name, func(t *testing.T) {
			u, base := startUpstream(t, textTurn("come in"))
			g := startGate(t, bin, base, "--client-keys", writeText(t, t.TempDir(), "client.keys", tc.keys))
			run := runCodex(t, plainModel, codexProvider(g.URL)+tc.config)
			turns := 0
			for _, e := range g.tap.exchanges() {
				if e.Method == http.MethodPost {
					turns++
				}
			}
			if n := len(g.tap.exchanges()); turns != 1 || n > 2 {
				t.Errorf("%d turns among %d requests arrived, want 1 among at most 2", turns, n)
			}
			if !tc.letIn {
				wantRequests(t, u, 0)
				if run.Code != 1 {
					t.Errorf("exit code %d, want 1", run.Code)
				}
				mustContain(t, "what the user sees", run.Shown, "not one of those that this proxy lets in")
				return
			}
			if auth := wantRequests(t, u, 1)[0].Header.Get("Authorization"); auth != "" {
				t.Errorf("the upstream got Authorization %q", auth)
			}
			if run.Code != 0 || run.messages() != "come in" {
				t.Errorf("exit code %d, messages %q", run.Code, run.messages())
			}
		})
	}
}
