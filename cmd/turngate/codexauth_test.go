package main_test

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"turngate/proxy/mock"
)

// fakeToken returns an unsigned token with these claims: Codex reads them, and
// the mock checks nothing.
func fakeToken(t *testing.T, claims map[string]any) string {
	t.Helper()
	part := func(v any) string {
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return base64.RawURLEncoding.EncodeToString(b)
	}
	return part(map[string]string{"alg": "none", "typ": "JWT"}) + "." + part(claims) + "." + part("unsigned")
}

// signIn gives the user, in place of keys, the file that signing in with ChatGPT
// leaves behind.
func (c *codexUser) signIn(t *testing.T) {
	t.Helper()
	c.keys = nil
	token := fakeToken(t, map[string]any{
		"email": "user@example.com",
		"exp":   time.Now().Add(24 * time.Hour).Unix(),
		"https://api.openai.com/auth": map[string]string{
			"chatgpt_plan_type": "pro", "chatgpt_user_id": "user-1", "chatgpt_account_id": "account-1",
		},
	})
	auth, err := json.Marshal(map[string]any{
		"auth_mode":    "chatgpt",
		"tokens":       map[string]string{"id_token": token, "access_token": token, "refresh_token": "r", "account_id": "account-1"},
		"last_refresh": time.Now().UTC().Format(time.RFC3339),
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(c.home, "auth.json"), auth, 0o600); err != nil {
		t.Fatal(err)
	}
}

// codexSignedIn has Codex use its built-in provider with a ChatGPT sign-in: it
// then asks for the models too, and compresses its turns with zstd.
func codexSignedIn(t *testing.T, bin string) {
	u, base := startUpstream(t, textTurn("read it"),
		mock.Turn{Route: "GET /v1/models", Body: []byte(`{"models":[]}`)})
	g := startGate(t, bin, base)
	elsewhere := httptest.NewServer(http.NotFoundHandler()) // for what does not go to the base URL
	defer elsewhere.Close()
	user := newCodex(t, "openai_base_url = \""+g.URL+"\"\nchatgpt_base_url = \""+elsewhere.URL+"/backend-api\"\n")
	user.signIn(t)
	run := user.exec(t, "-m", plainModel, "say hi")
	if run.Code != 0 || run.messages() != "read it" {
		t.Errorf("exit code %d, messages %q", run.Code, run.messages())
	}

	var turns int
	for _, e := range g.tap.exchanges() {
		switch e.Method + " " + e.Path {
		case "POST /v1/responses":
			turns++
			if e.Encoding != "zstd" {
				t.Errorf("the turn came with content encoding %q: the case shows nothing", e.Encoding)
			}
		case "GET /v1/models":
			if e.Status != http.StatusOK || e.Body != `{"models":[]}` {
				t.Errorf("models: status %d, body %q", e.Status, e.Body)
			}
		}
	}
	if turns != 1 {
		t.Errorf("%d turns, want 1", turns)
	}
	for _, r := range u.Requests() {
		if r.Method == http.MethodPost && (r.Header.Get("Content-Encoding") != "" || !json.Valid(r.Body)) {
			t.Error("the turn went upstream encoded")
		}
	}
}
