package proxy

import (
	"net/http"
	"strings"
	"testing"

	"turngate/guard"
	"turngate/proxy/mock"
)

// threeUpstreams is a rig with upstreams of different models, modes and keys.
// Each answers a turn with a call that nobody declared.
func threeUpstreams(t *testing.T, rest bool) (*rig, map[string]*mock.Upstream) {
	turns := func() []mock.Turn {
		return []mock.Turn{modelsTurn(), new(mock.Stream).Created().Call(0, mock.FC("rm_all", "{}")).Completed().Turn()}
	}
	all := map[string]*mock.Upstream{}
	r := newRig(t, func(c *Config) {
		base := c.Upstreams[0]
		c.Upstreams = nil
		for _, u := range []Upstream{
			{Name: "deep", Models: []string{"deepseek-*", "*/deepseek-?"}, Undeclared: guard.Refuse, Key: "sk-deep"},
			{Name: "open", Models: []string{"openai/*", "deepseek-chat"}, Undeclared: guard.Report, Key: "sk-open"},
			{Name: "rest", Undeclared: guard.Off},
		} {
			if u.Name == "rest" && !rest {
				u.Models = []string{"local"}
			}
			all[u.Name], u.BaseURL = newUpstream(t, turns()...)
			u.IdleTimeout = base.IdleTimeout
			c.Upstreams = append(c.Upstreams, u)
		}
	})
	return r, all
}

// TestRoutingByModel sends models to three upstreams and looks at who was asked,
// with which credentials, and under which mode.
func TestRoutingByModel(t *testing.T) {
	for model, want := range map[string]string{
		"deepseek-chat":         "deep", // the first that matches
		"deepseek-":             "deep",
		"vendor/deepseek-r":     "deep",
		"a/b/deepseek-r":        "deep", // a slash is a character
		"deepseek-a/b":          "deep",
		"vendor/deepseek-r1":    "rest",
		"openai/gpt-5":          "open",
		"openai/gpt-5/high":     "open",
		"openai":                "rest",
		"OPENAI/gpt-5":          "rest",
		"gpt-5.2":               "rest",
		"*":                     "rest",
		"deepsee[k]-":           "rest",
		strings.Repeat("m", 99): "rest",
		"":                      "rest",
	} {
		t.Run(model, func(t *testing.T) {
			r, all := threeUpstreams(t, true)
			body := strings.Replace(string(requestBody(t, "one-tool", true)), `"m"`, `"`+model+`"`, 1)
			got := r.post([]byte(body), map[string]string{"Authorization": "Bearer sk-client"})
			record := r.lastTurn()
			for name, up := range all {
				if n := len(up.Requests()); (n == 1) != (name == want) {
					t.Errorf("%s was asked %d times", name, n)
				}
			}
			auth := map[string]string{"deep": "Bearer sk-deep", "open": "Bearer sk-open", "rest": "Bearer sk-client"}[want]
			if asked := all[want].Requests(); asked[0].Header.Get("Authorization") != auth {
				t.Errorf("%s was asked with %q", want, asked[0].Header.Get("Authorization"))
			}
			refused := strings.Contains(string(got.body), "response.failed")
			if refused != (want == "deep") || record.Reported > 0 != (want == "open") || record.Upstream != want {
				t.Errorf("%s: refused %v, record %+v", want, refused, record)
			}
			if mode := map[string]string{"deep": "refuse", "open": "report"}[want]; mode != "" {
				if n := r.metric("turngate_refusals_total", "upstream", want, "mode", mode, "reason", guard.UndeclaredToolCall, "item_type", "function_call"); n != 1 {
					t.Errorf("%v findings counted in mode %s", n, mode)
				}
			}
		})
	}
}

// TestRoutingToNobody: no upstream takes the model, and none hears of it.
func TestRoutingToNobody(t *testing.T) {
	r, all := threeUpstreams(t, false)
	got := r.post([]byte(`{"model":"gpt-5\n`+strings.Repeat("x", 1000)+`"}`), nil)
	r.wantError(got, http.StatusNotFound, "model_not_found")
	r.wantErrorType(got, "model")
	r.wantHeader(got, "X-Should-Retry", "false")
	if len(got.body) > 500 {
		t.Errorf("the model is repeated in %d bytes", len(got.body))
	}
	for name, up := range all {
		if n := len(up.Requests()); n != 0 {
			t.Errorf("%s was asked %d times", name, n)
		}
	}
}

// TestRoutingWithoutModel: what names no model goes to the upstream that takes
// the rest, else to the first.
func TestRoutingWithoutModel(t *testing.T) {
	for rest, want := range map[bool]string{true: "rest", false: "deep"} {
		r, all := threeUpstreams(t, rest)
		r.post([]byte(`{"model":7}`), nil)
		r.do(http.MethodGet, "/models", nil, nil)
		if n := len(all[want].Requests()); n != 2 {
			t.Errorf("%s was asked %d times, want 2", want, n)
		}
	}
}
