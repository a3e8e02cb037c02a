package main_test

import (
	"net/http"
	"strings"
	"syscall"
	"testing"

	"github.com/tidwall/gjson"

	"turngate/proxy/mock"
)

// TestThreeUpstreams runs a file with upstreams that differ in models, modes,
// states and keys: each turn goes to its own, under the rules of that one, and no
// credential goes anywhere else.
func TestThreeUpstreams(t *testing.T) {
	const (
		oneKey, twoPassword = "sk-of-one", "password-of-two"
		clientKey           = "sk-of-the-client"
	)
	turn := undeclaredTurn("{}")
	one, oneURL := startUpstream(t, turn)
	two, twoURL := startUpstream(t, turn)
	rest, restURL := startUpstream(t, turn)
	config := writeText(t, t.TempDir(), "turngate.yaml", `
upstreams:
  - {name: one, base_url: "`+oneURL+`", key_env: ONE_KEY, models: ["one-*", "shared"], state: replay}
  - {name: two, base_url: "`+strings.Replace(twoURL, "http://", "http://user:"+twoPassword+"@", 1)+`", models: ["two/?", "shared"], undeclared: report, state: native}
  - {name: rest, base_url: "`+restURL+`", models: ["rest"], undeclared: "off", state: native}
`)
	p := startProcess(t, buildTurngate(t), []string{"ONE_KEY=" + oneKey}, "--config", config)

	client := map[string]string{"Authorization": "Bearer " + clientKey, "api-key": clientKey, "OpenAI-Organization": "org"}
	for _, tc := range []struct {
		model   string
		to      *mock.Upstream // nil: nobody
		auth    string
		refused bool
	}{
		{"one-2", one, "Bearer " + oneKey, true},
		{"shared", one, "Bearer " + oneKey, true},
		{"two/x", two, "Basic dXNlcjpwYXNzd29yZC1vZi10d28=", false},
		{"rest", rest, "Bearer " + clientKey, false},
		{"two/xx", nil, "", false},
		{"", one, "Bearer " + oneKey, true}, // no model: the first, as all are choosy
	} {
		before := map[*mock.Upstream]int{}
		for _, u := range []*mock.Upstream{one, two, rest} {
			before[u] = len(u.Requests())
		}
		got := p.turn(tc.model, client)
		if tc.to == nil {
			if got.status != http.StatusNotFound || gjson.Get(got.body, "error.code").String() != "model_not_found" {
				t.Errorf("model %q: status %d: %s", tc.model, got.status, got.body)
			}
		} else if refused := strings.Contains(got.body, "undeclared_tool_call"); got.status != http.StatusOK || refused != tc.refused {
			t.Errorf("model %q: status %d, refused: %t, want %t", tc.model, got.status, refused, tc.refused)
		}
		for u, n := range before {
			new := u.Requests()[n:]
			if u != tc.to {
				if len(new) > 0 {
					t.Errorf("model %q went to another upstream as well", tc.model)
				}
				continue
			}
			if len(new) != 1 || new[0].Header.Get("Authorization") != tc.auth {
				t.Errorf("model %q: requests %v, want one with %q", tc.model, new, tc.auth)
			}
		}
	}
	for _, u := range []*mock.Upstream{one, two} {
		for _, r := range u.Requests() {
			if text := headerText(r.Header); strings.Contains(text, clientKey) || r.Header.Get("Openai-Organization") != "" {
				t.Errorf("an upstream with a key got the client's credentials: %s", text)
			}
		}
	}

	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if code := p.wait(); code != 0 {
		t.Errorf("exit code %d, want 0", code)
	}
}

// headerText returns all of a header as one text.
func headerText(h http.Header) string {
	var b strings.Builder
	_ = h.Write(&b) // a Builder takes all
	return b.String()
}
