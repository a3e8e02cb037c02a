package proxy

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"turngate/proxy/mock"
)

const (
	aliceKey = "tg-alice-4711-4711-4711"
	bobKey   = "tg-bob-0815-0815-0815"
)

// withClients asks for keys.
func withClients(c *Config) {
	c.ClientKeys = []ClientKey{
		{Name: "alice", Hash: sha256.Sum256([]byte(aliceKey))},
		{Name: "bob", Hash: sha256.Sum256([]byte(bobKey))},
	}
}

// TestO6ClientKeys sends keys in every place where they may be, and where not.
func TestO6ClientKeys(t *testing.T) {
	for name, tc := range map[string]struct {
		header map[string]string
		client string // "": not let in
	}{
		"bearer":               {map[string]string{"Authorization": "Bearer " + aliceKey}, "alice"},
		"bearer in any case":   {map[string]string{"Authorization": "bearer  " + bobKey}, "bob"},
		"api-key":              {map[string]string{"api-key": aliceKey}, "alice"},
		"x-api-key":            {map[string]string{"x-api-key": bobKey}, "bob"},
		"another bearer":       {map[string]string{"Authorization": "Bearer sk-of-the-sdk", "x-api-key": bobKey}, "bob"},
		"two of them":          {map[string]string{"api-key": bobKey, "Authorization": "Bearer " + aliceKey}, "alice"},
		"none":                 {nil, ""},
		"empty":                {map[string]string{"Authorization": "Bearer ", "api-key": "", "x-api-key": ""}, ""},
		"wrong":                {map[string]string{"Authorization": "Bearer sk-wrong"}, ""},
		"another case":         {map[string]string{"api-key": strings.ToUpper(aliceKey)}, ""},
		"the name":             {map[string]string{"api-key": "alice"}, ""},
		"the beginning":        {map[string]string{"api-key": aliceKey[:len(aliceKey)-1]}, ""},
		"more than the key":    {map[string]string{"api-key": aliceKey + "4"}, ""},
		"without scheme":       {map[string]string{"Authorization": aliceKey}, ""},
		"as Basic":             {map[string]string{"Authorization": "Basic " + aliceKey}, ""},
		"in another header":    {map[string]string{"X-Key": aliceKey}, ""},
		"behind another key":   {map[string]string{"Authorization": "Bearer sk-wrong " + aliceKey}, ""},
		"as one of two tokens": {map[string]string{"Authorization": "Bearer " + aliceKey + ", Bearer sk-wrong"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, withClients, textTurn())
			got := r.post([]byte(`{"model":"m","stream":true}`), tc.header)
			if tc.client == "" {
				r.wantError(got, http.StatusUnauthorized, "invalid_api_key")
				r.wantHeader(got, "X-Should-Retry", "false")
				r.wantHeader(got, "Www-Authenticate", "Bearer")
				r.notAsked()
				r.stop()
				if n := len(r.proxy.recent.list(1, func(*turnRecord) bool { return true })); n != 0 {
					t.Error("a turn that was not let in is among the recent ones")
				}
				return
			}
			if got.status != http.StatusOK {
				t.Fatalf("status %d: %s", got.status, got.body)
			}
			if client := r.lastTurn().Client; client != tc.client {
				t.Errorf("client %q, want %q", client, tc.client)
			}
			if !strings.Contains(r.log.String(), `"client":"`+tc.client+`"`) {
				t.Errorf("no name in the log:\n%s", r.log)
			}
			for _, key := range []string{aliceKey, bobKey} {
				if strings.Contains(r.log.String(), key) {
					t.Errorf("a key in the log:\n%s", r.log)
				}
			}
		})
	}
}

// TestO6EveryPathNeedsAKey asks for all that there is, without a key.
func TestO6EveryPathNeedsAKey(t *testing.T) {
	for _, request := range []string{
		"POST /responses", "POST /responses/", "GET /responses", "GET /responses/resp_1", "DELETE /responses/resp_1",
		"GET /responses/resp_1/input_items", "POST /responses/resp_1/cancel", "POST /responses/compact",
		"POST /responses/input_tokens", "GET /models", "HEAD /models", "GET /models/m", "POST /chat/completions",
		"OPTIONS /responses", "GET /../nonsense", "POST /../v1/RESPONSES", "GET /",
	} {
		t.Run(request, func(t *testing.T) {
			r := newRig(t, withClients, textTurn())
			method, path, _ := strings.Cut(request, " ")
			got := r.do(method, path, nil, nil)
			if got.status != http.StatusUnauthorized {
				t.Errorf("status %d, want 401: %s", got.status, got.body)
			}
			r.wantHeader(got, "X-Turngate-Error", "invalid_api_key")
			r.notAsked()
		})
	}
}

// TestO6UpgradeNeedsNoKey lets a Codex find out that there are no WebSockets
// here: at a 401 it would go on trying them.
func TestO6UpgradeNeedsNoKey(t *testing.T) {
	r := newRig(t, withClients)
	got := r.do(http.MethodGet, "/responses", nil, map[string]string{"Connection": "Upgrade", "Upgrade": "websocket"})
	r.wantError(got, http.StatusUpgradeRequired, "websocket_unsupported")
}

// TestO6CodexWithoutAKey gets the form that makes a Codex stop (E3b), but only
// for turns.
func TestO6CodexWithoutAKey(t *testing.T) {
	r := newRig(t, withClients)
	codex := map[string]string{"Originator": "codex_exec", "Authorization": "Bearer sk-wrong"}
	got := r.post([]byte(`{"model":"m","stream":true}`), codex)
	for path, want := range map[string]string{"code": "invalid_prompt", "type": "invalid_api_key"} {
		if v := gjson.GetBytes(got.body, "error."+path).String(); v != want {
			t.Errorf("error.%s is %q, want %q", path, v, want)
		}
	}
	if got.status != http.StatusBadRequest {
		t.Errorf("status %d, want 400", got.status)
	}
	r.wantHeader(got, "X-Turngate-Error", "invalid_api_key")
	r.wantError(r.do(http.MethodGet, "/models", nil, codex), http.StatusUnauthorized, "invalid_api_key")
	r.stop()
	if strings.Contains(r.log.String(), "sk-wrong") {
		t.Errorf("what was sent as key is in the log:\n%s", r.log)
	}
}

// TestO6BodyNotRead sends only the head of a turn without a key. The answer does
// not wait for the body.
func TestO6BodyNotRead(t *testing.T) {
	r := newRig(t, withClients)
	host, _, _ := strings.Cut(strings.TrimPrefix(r.base, "http://"), "/")
	conn, err := net.Dial("tcp", host)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, "POST /v1/responses HTTP/1.1\r\nHost: "+host+"\r\nContent-Length: 1000000\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusUnauthorized {
		t.Errorf("status %d, want 401", resp.StatusCode)
	}
}

// TestO6KeysStayHere sends everything that a client can say of itself. With
// client keys none of it reaches an upstream, whether that has a key or not.
func TestO6KeysStayHere(t *testing.T) {
	for name, tc := range map[string]struct {
		configure func(*Config)
		auth      string
	}{
		"upstream without a key": {func(*Config) {}, ""},
		"upstream with a key":    {withKey, "Bearer sk-operator-1796"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, func(c *Config) { withClients(c); tc.configure(c) }, textTurn(), modelsTurn())
			sent := map[string]string{"Authorization": "Bearer " + aliceKey, "Api-Key": bobKey, "X-Api-Key": "sk-more",
				"Chatgpt-Account-Id": "acc", "Openai-Organization": "org", "Openai-Project": "proj"}
			if got := r.post([]byte(`{"model":"m"}`), sent); got.status != http.StatusOK {
				t.Errorf("status %d: %s", got.status, got.body)
			}
			if got := r.do(http.MethodGet, "/models", nil, sent); got.status != http.StatusOK {
				t.Errorf("models: status %d: %s", got.status, got.body)
			}
			for _, asked := range r.upstream.Requests() {
				if got := asked.Header.Get("Authorization"); got != tc.auth {
					t.Errorf("%s %s: Authorization %q, want %q", asked.Method, asked.Path, got, tc.auth)
				}
				for k := range sent {
					if k != "Authorization" && asked.Header.Get(k) != "" {
						t.Errorf("%s %s: %s reached the upstream", asked.Method, asked.Path, k)
					}
				}
			}
			// Nobody is asked in the operator's name for what turngate does not know.
			r.wantError(r.do(http.MethodPost, "/files", nil, sent), http.StatusNotFound, "not_found")
		})
	}
}

// TestO6UpstreamWantsCredentials has an upstream without a key of its own answer
// 401: it is not the client's key that is wrong.
func TestO6UpstreamWantsCredentials(t *testing.T) {
	r := newRig(t, withClients, mock.Turn{Status: http.StatusUnauthorized, Body: []byte(`{"error":{"message":"no key","code":"invalid_api_key"}}`)})
	got := r.post([]byte(`{"model":"m"}`), map[string]string{"api-key": aliceKey})
	r.wantError(got, http.StatusBadGateway, "upstream_unauthorized")
}

// TestO6ReloadClientKeys takes a key back while a stream of its client runs.
func TestO6ReloadClientKeys(t *testing.T) {
	turn := textTurn()
	resume := make(chan struct{})
	turn.Fault, turn.At, turn.Resume = mock.Stall, new(mock.Stream).Created().Len(), resume
	r := newRig(t, withClients, turn, textTurn())
	alice := map[string]string{"Authorization": "Bearer " + aliceKey}
	req, err := http.NewRequest(http.MethodPost, r.base+"/responses", strings.NewReader(`{"model":"m","stream":true}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", alice["Authorization"])
	running, err := r.client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer running.Body.Close()

	next := r.proxy.settings.Load().Config
	next.ClientKeys = next.ClientKeys[1:]
	if err := r.proxy.Reload(next); err != nil {
		t.Fatal(err)
	}
	r.wantError(r.post([]byte(`{"model":"m"}`), alice), http.StatusUnauthorized, "invalid_api_key")
	if got := r.post([]byte(`{"model":"m"}`), map[string]string{"api-key": bobKey}); got.status != http.StatusOK {
		t.Errorf("bob: status %d: %s", got.status, got.body)
	}
	close(resume)
	rest, err := io.ReadAll(running.Body)
	if err != nil || !bytes.Contains(rest, []byte("response.completed")) {
		t.Errorf("the running stream: %s, %v", rest, err)
	}
}
