package main_test

import (
	"encoding/base64"
	"net/http"
	"strings"
	"syscall"
	"testing"

	"turngate/proxy/mock"
)

// Every secret of TestNothingSecretIsWritten holds this word, so that none can be
// overlooked.
const hush = "s3cret"

// TestNothingSecretIsWritten makes turns and mistakes of many kinds at log level
// debug, and then looks for secrets in everything that turngate wrote or showed
// to operators (rule E7). Secrets are credentials, on both sides, and what was
// said in turns.
func TestNothingSecretIsWritten(t *testing.T) {
	const (
		operatorKey = hush + "-operator-key"
		password    = hush + "-password"
		clientKey   = hush + "-client-key-alice"
		wrongKey    = hush + "-wrong-key"
	)
	_, good := startUpstream(t,
		mock.Turn{Name: "good-text", Body: new(mock.Stream).Created().Text(hush + " answer").Completed().Bytes()},
		mock.Turn{Name: "good-call", Body: undeclaredTurn(`{"path":"` + hush + `"}`).Body},
		mock.Turn{Name: "lax-1", Body: undeclaredTurn(`{"path":"` + hush + `"}`).Body},
		mock.Turn{Name: "good-401", Status: http.StatusUnauthorized, Body: []byte(`{"error":{"message":"wrong key ` + operatorKey + `"}}`)},
		mock.Turn{Name: "good-400", Status: http.StatusBadRequest, Body: []byte(`{"error":{"message":"I do not like ` + hush + ` inputs"}}`)},
		mock.Turn{Name: "good-500", Status: http.StatusInternalServerError, Body: []byte(`{"error":{"message":"at ` + hush + ` host"}}`)},
		mock.Turn{Name: "good-page", ContentType: "text/html", Body: []byte("<html>" + hush)},
		mock.Turn{Name: "good-moved", Redirect: "http://" + hush + ".invalid/"},
		mock.Turn{Name: "good-event", Body: new(mock.Stream).Created().Error("server_error", hush).Bytes()},
		mock.Turn{Name: "good-cut", Body: []byte("data: {\"type\":\"" + hush), Fault: mock.Reset, At: 100},
		mock.Turn{Name: "good-broken", Body: []byte("data: {\"type\":\"response.output_item.added\",\"item\":{" + hush + "\n\n")},
	)
	closed := closedURL(t)
	dir := t.TempDir()
	keysText := "alice: " + clientKey + "\n"
	keys := writeText(t, dir, "client.keys", keysText)
	withUser := func(base string) string {
		return strings.Replace(base, "http://", "http://"+hush+"-user:"+password+"@", 1)
	}
	configText := `
log_level: debug
client_keys: ` + keys + `
upstreams:
  - {name: good, base_url: "` + good + `", key_env: GOOD_KEY, models: ["good-*"], undeclared: refuse, arguments: refuse}
  - {name: lax, base_url: "` + withUser(good) + `", models: ["lax-*"], undeclared: report}
  - {name: closed, base_url: "` + withUser(closed) + `", models: ["closed-*"]}
`
	config := writeText(t, dir, "turngate.yaml", configText)
	p := startProcess(t, buildTurngate(t), []string{"GOOD_KEY=" + operatorKey, "ADMIN_KEY=" + hush + "-admin"},
		"--config", config, "--admin-key-env", "ADMIN_KEY")

	alice := map[string]string{"Authorization": "Bearer " + clientKey, "Cookie": hush, "X-Anything": hush}
	codex := map[string]string{"Authorization": "Bearer " + clientKey, "Originator": "codex_exec"}
	var answers []reply
	for _, model := range []string{"text", "call", "401", "400", "500", "page", "moved", "event", "cut", "broken"} {
		answers = append(answers, p.turn("good-"+model, alice), p.turn("good-"+model, codex))
	}
	for _, model := range []string{"lax-1", "closed-1", "nobody-1"} {
		answers = append(answers, p.turn(model, alice), p.turn(model, codex))
	}
	at := p.url + "/v1/"
	answers = append(answers,
		p.turn("good-text", nil),
		p.turn("good-text", map[string]string{"x-api-key": wrongKey, "api-key": wrongKey, "Authorization": "Bearer " + wrongKey}),
		p.turn("good-text", map[string]string{"Authorization": "Basic " + base64.StdEncoding.EncodeToString([]byte("u:"+wrongKey))}),
		p.send(http.MethodPost, at+"responses?api-key="+hush, `{"model":"good-text","`+hush+`":`, alice),
		p.send(http.MethodPost, at+"responses", hush, map[string]string{"Authorization": "Bearer " + clientKey, "Content-Encoding": "gzip"}),
		p.send(http.MethodGet, at+"models?key="+hush, "", alice),
		p.send(http.MethodGet, at+hush, "", alice),
		p.send(http.MethodGet, p.admin+"/turns", "", map[string]string{"Authorization": "Bearer " + wrongKey}),
	)

	// Reload what cannot work: each text holds a secret at the place of its only
	// fault.
	for _, bad := range []struct{ file, text, good string }{
		{config, "upstreams:\n- {name: x, base_url: \"ftp://u:" + password + "@h\"}\n", configText},
		{config, "upstreams:\n- {name: x, base_url: \"http://u:" + password + "@[h\"}\n", configText},
		{keys, "alice: *" + hush + "\n", keysText},
		{keys, "alice: " + hush + "!\n", keysText},
	} {
		writeText(t, "", bad.file, bad.text)
		p.reload("configuration not changed")
		writeText(t, "", bad.file, bad.good)
	}

	operator := map[string]string{"Authorization": "Bearer " + hush + "-admin"}
	shown := map[string]string{}
	for _, path := range []string{"/turns", "/metrics", "/readyz", "/healthz"} {
		shown[path] = p.send(http.MethodGet, p.admin+path, "", operator).body
	}
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if code := p.wait(); code != 0 {
		t.Errorf("exit code %d, want 0", code)
	}
	shown["stdout"], shown["stderr"] = p.stdout.String(), p.stderr.String()

	basic := base64.StdEncoding.EncodeToString([]byte(hush + "-user:" + password))
	for name, text := range shown {
		for _, secret := range []string{hush, basic} {
			if i := strings.Index(text, secret); i >= 0 {
				t.Errorf("%s has a secret: %s", name, text[max(0, i-300):min(len(text), i+100)])
			}
		}
	}
	mustContain(t, "/turns", shown["/turns"], `"client":"alice"`, "undeclared_tool_call", "upstream_unauthorized", "upstream_unreachable")
	mustContain(t, "the log", shown["stderr"], "client not let in", `client.keys"`, "client.keys:1", "turngate.yaml:2")
	for _, a := range answers {
		text := headerText(a.header) + a.body
		for _, secret := range []string{operatorKey, password, basic, clientKey, wrongKey} {
			if strings.Contains(text, secret) {
				t.Errorf("an answer shows %s:\n%s", secret, text)
			}
		}
	}
}
