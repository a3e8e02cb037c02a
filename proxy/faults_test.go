package proxy

import (
	"bytes"
	"maps"
	"net"
	"strings"
	"testing"
)

// codexClients are the ways to tell a Codex by its headers, in any case (K-X4).
func codexClients() map[string]map[string]string {
	return map[string]map[string]string{
		"window":     {"x-codex-window-id": "", "Originator": "zed_editor"},
		"metadata":   {"X-CODEX-turn-metadata": "{}"},
		"originator": {"Originator": "my_CoDeX_exec"},
		"user agent": {"User-Agent": "Mozilla/5.0 (CODEX_cli_rs)"},
	}
}

// TestFaults is the table of rules E2, E3, E3a, E3b, E4 and E6: what each kind of client
// is told of each fault, and what the operator sees of it.
func TestFaults(t *testing.T) {
	every := map[string]bool{"invalid_json": true, "K-B6 port closed": true, "E3a 401": true, "K-X8 503": true}
	for name, f := range faults() {
		clients := codexClients()
		if !every[name] { // one Codex stands for all
			clients = map[string]map[string]string{"codex": clients["originator"]}
		}
		clients["general"] = map[string]string{"User-Agent": "OpenAI/JS 6.1.0", "Originator": "code"}
		for client, header := range clients {
			t.Run(name+"/"+client, func(t *testing.T) {
				t.Parallel()
				f.check(t, client != "general", header)
			})
		}
	}
}

func (f fault) check(t *testing.T, codex bool, header map[string]string) {
	r := newRig(t, func(c *Config) {
		if f.configure != nil {
			f.configure(t, c)
		}
	}, f.turn)
	sent := maps.Clone(header)
	maps.Copy(sent, f.header)
	body := f.body
	if body == "" {
		body = `{"model":"m","stream":true,"input":"hi"}`
	}
	got := r.post([]byte(body), sent)
	switch {
	case codex && f.codex != "" && f.inJSON:
		r.wantCodexError(got, f.code)
	case codex && f.codex != "":
		r.wantCodexFailed(got, f.codex, f.message)
	case f.code == "":
		if got.status != f.status || !bytes.Equal(got.body, f.turn.Body) {
			t.Errorf("the client got %d %q", got.status, got.body)
		}
		r.wantHeader(got, "Retry-After", f.retryAfter)
	default:
		f.wantGeneral(r, got)
	}
	if !strings.Contains(string(got.body), f.message) {
		t.Errorf("no %q in %s", f.message, got.body)
	}
	if got.header.Get("X-Turngate-Request-Id") == "" {
		t.Error("no request id")
	}
	wantOpaque(t, r, got)

	record := r.lastTurn()
	if record.Outcome != string(f.outcome) {
		t.Errorf("outcome %s, want %s", record.Outcome, f.outcome)
	}
	if n := r.metric("turngate_upstream_errors_total"); n != r.metric("turngate_upstream_errors_total", "kind", f.kind) || f.kind != "" && n != 1 {
		t.Errorf("%v upstream errors, want one of kind %q", n, f.kind)
	}
}

func (f fault) wantGeneral(r *rig, got answer) {
	r.wantError(got, f.status, f.code)
	r.wantErrorType(got, f.param)
	retry := "false"
	if f.retry {
		retry = ""
	}
	r.wantHeader(got, "X-Should-Retry", retry)
	r.wantHeader(got, "Retry-After", f.retryAfter)
}

// wantOpaque fails if the client was told anything of transport (E2, K-I5), or
// what the test calls a secret.
func wantOpaque(t *testing.T, r *rig, got answer) {
	t.Helper()
	var head bytes.Buffer
	if err := got.header.Write(&head); err != nil {
		t.Fatal(err)
	}
	// The request id is random, and may happen to have "tcp" in it.
	id := got.header.Get(headerRequestID)
	all := strings.ReplaceAll(head.String(), id, "") + string(createdAt.ReplaceAll(stable(got.body, id), nil))
	host, port, err := net.SplitHostPort(r.proxy.settings.Load().Upstreams[0].BaseURL.Host)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []string{host, port, "SECRET", "operator-", "dial", "tcp", "EOF", "http:", "x509", "malformed", "refused the", "connection reset", "example"} {
		if strings.Contains(all, s) {
			t.Errorf("the client was told %q:\n%s", s, all)
		}
	}
}
