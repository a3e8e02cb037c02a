package proxy

import (
	"bytes"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"turngate/proxy/mock"
)

// wantRefusal is the "refusal" of contract.md for the call in these tests.
const wantRefusal = `{"reason":"undeclared_tool_call","item_type":"function_call","name":"rm_all","namespace":null,` +
	`"call_id":"call_rm_all","item_id":"fc_rm_all","declared":["read_file"],"declared_total":1,` +
	`"missing":[],"problems":[],"input_summary":null,"schema_hash":null,"upstream":"default","request_id":"ID"}`

const wantMessage = `turngate: the upstream called "rm_all", which this request does not declare (declared: read_file)`

// TestS6RefusedAnswer is the shape of a refusal in JSON, for each kind of
// client, and that official SDKs do not send it again (K-X7).
func TestS6RefusedAnswer(t *testing.T) {
	call := new(mock.Stream).Created().Call(0, mock.FC("rm_all", `{"secret":1}`)).Completed()
	clients := codexClients()
	clients["general"] = nil
	for client, header := range clients {
		for _, stream := range []bool{false, true} { // asked for; what came is JSON
			r := newRig(t, nil, call.JSONTurn())
			got := r.post(requestBody(t, "one-tool", stream), header)
			id := got.header.Get("X-Turngate-Request-Id")
			status, code := http.StatusBadGateway, "undeclared_tool_call"
			if client != "general" {
				status, code = http.StatusBadRequest, "invalid_prompt"
			}
			want := `{"error":{"message":` + quoted(wantMessage) + `,"type":"undeclared_tool_call","param":null,"code":"` + code +
				`","request_id":"ID","refusal":` + wantRefusal + `}}`
			if diff := cmp.Diff(strings.ReplaceAll(want, "ID", id), string(got.body)); diff != "" || got.status != status {
				t.Errorf("%s: %d (-want +got):\n%s", client, got.status, diff)
			}
			r.wantHeader(got, "X-Turngate-Error", "undeclared_tool_call")
			r.wantHeader(got, "X-Should-Retry", "false")
			r.wantHeader(got, "Content-Type", "application/json")
			if n := len(r.upstream.Requests()); n != 1 {
				t.Errorf("%s: %d requests upstream", client, n)
			}
		}
	}
}

func quoted(s string) string { return `"` + strings.ReplaceAll(s, `"`, `\"`) + `"` }

// TestS4RefusedStream is the same refusal inside a stream: its code depends on
// the client, its reason does not.
func TestS4RefusedStream(t *testing.T) {
	stream := new(mock.Stream).Created()
	at := stream.Len()
	call := stream.Call(0, mock.FC("rm_all", `{"secret":1}`)).Completed()
	clients := codexClients()
	clients["general"] = nil
	for client, header := range clients {
		r := newRig(t, nil, call.Turn())
		got := r.post(requestBody(t, "one-tool", true), header)
		if got.status != http.StatusOK || !bytes.HasPrefix(got.body, call.Bytes()[:at]) || bytes.Contains(got.body, []byte("secret")) {
			t.Fatalf("%s: the client got %d %s", client, got.status, got.body)
		}
		code := "undeclared_tool_call"
		if client != "general" {
			code = "invalid_prompt"
		}
		e := checkFailure(t, got.body[at:], code, "resp_1", 1).Get("response.error")
		id := got.header.Get("X-Turngate-Request-Id")
		if diff := cmp.Diff(strings.ReplaceAll(wantRefusal, "ID", id), e.Get("refusal").Raw); diff != "" {
			t.Errorf("%s: refusal (-want +got):\n%s", client, diff)
		}
		if e.Get("type").String() != "undeclared_tool_call" || e.Get("message").String() != wantMessage || e.Get("request_id").String() != id {
			t.Errorf("%s: error %s", client, e.Raw)
		}
	}
}

// TestE3bCodexWithoutStream: a Codex that asks for no stream gets HTTP statuses,
// since it could not read events.
func TestE3bCodexWithoutStream(t *testing.T) {
	header := codexClients()["originator"]
	for name, tc := range map[string]struct {
		turn   mock.Turn
		status int
		code   string // of turngate's; "" is verbatim
	}{
		"reset": {mock.Turn{Fault: mock.Reset, At: -1}, 502, "upstream_unreachable"},
		"503":   {mock.Turn{Status: 503, Body: []byte(`{"error":{"message":"x"}}`)}, 503, ""},
		"429":   {mock.Turn{Status: 429, Body: []byte(`{"error":{"message":"x"}}`)}, 429, ""},
		"200":   {mock.Turn{Body: []byte(`{"error":{"code":"slow_down"}}`)}, 429, ""},
	} {
		r := newRig(t, nil, tc.turn)
		got := r.post([]byte(`{"model":"m"}`), header)
		if tc.code != "" {
			r.wantError(got, tc.status, tc.code)
		} else if got.status != tc.status || !bytes.Equal(got.body, tc.turn.Body) {
			t.Errorf("%s: %d %s", name, got.status, got.body)
		}
	}
}

// TestE3PassedErrors: what is no turn gets HTTP errors whoever the client is,
// and the same silence about transport and keys.
func TestE3PassedErrors(t *testing.T) {
	const echo = `{"error":{"message":"Incorrect API key provided: sk-operator-1796"}}`
	for name, tc := range map[string]struct {
		turn   mock.Turn
		status int
		code   string
	}{
		"401":      {mock.Turn{Status: 401, Body: []byte(`{"error":{"message":"sk-oper***1796"}}`)}, 502, "upstream_unauthorized"},
		"403":      {mock.Turn{Status: 403, Body: []byte("<html>sk-oper")}, 502, "upstream_unauthorized"},
		"echo":     {mock.Turn{Status: 400, Body: []byte(echo)}, 400, "upstream_error"},
		"500":      {mock.Turn{Status: 500, Body: []byte(`{"error":{"message":"x"}}`)}, 500, ""},
		"404 page": {mock.Turn{Status: 404, Body: []byte("sk-oper")}, 404, "upstream_error"},
		"redirect": {mock.Turn{Redirect: "http://sk-oper.example/"}, 502, "upstream_protocol_error"},
		"reset":    {mock.Turn{Fault: mock.Reset, At: -1}, 502, "upstream_unreachable"},
		"encoding": {mock.Turn{Body: []byte("sk-oper"), Header: http.Header{"Content-Encoding": {"br"}}}, 502, "upstream_protocol_error"},
	} {
		for client, header := range map[string]map[string]string{"general": nil, "codex": codexClients()["originator"]} {
			tc.turn.Route = "GET /v1/models"
			r := newRig(t, withKey, tc.turn)
			got := r.do(http.MethodGet, "/models", nil, header)
			if tc.code != "" {
				r.wantError(got, tc.status, tc.code)
			} else if got.status != tc.status || !bytes.Equal(got.body, tc.turn.Body) || got.header.Get("X-Turngate-Error") != "" {
				t.Errorf("%s, %s: %d %v %s", name, client, got.status, got.header, got.body)
			}
			if strings.Contains(string(got.body), "sk-oper") || gjson.GetBytes(got.body, "error.code").String() == "invalid_prompt" {
				t.Errorf("%s, %s: %s", name, client, got.body)
			}
			wantOpaque(t, r, got)
		}
	}
}

// TestPassedAnswerThatBreaks: half an answer is not taken for a whole one, and a
// silent upstream is not waited for for ever.
func TestPassedAnswerThatBreaks(t *testing.T) {
	for name, turn := range map[string]mock.Turn{
		"reset": {Body: []byte(`{"models":[`), At: 8, Fault: mock.Reset},
		"stall": {Body: []byte(`{"models":[`), At: 8, Fault: mock.Stall},
	} {
		turn.Route = "GET /v1/models"
		r := newRig(t, func(c *Config) {
			if turn.Fault == mock.Stall {
				c.Upstreams[0].IdleTimeout = 50 * time.Millisecond
			}
		}, turn)
		if got := r.do(http.MethodGet, "/models", nil, nil); got.err == nil || got.status != http.StatusOK || string(got.body) != `{"models` {
			t.Errorf("%s: the client got %d %q whole", name, got.status, got.body)
		}
	}
}
