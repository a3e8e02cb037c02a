package proxy

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"turngate/guard"
	"turngate/proxy/mock"
)

// judgedCall is a declared call of the table, and what its schema says of it.
type judgedCall struct {
	called
	input  string // of the request
	reason string // "" if the arguments work
}

// judgedCalls are calls with arguments that work, lack something, or fail.
func judgedCalls() []judgedCall {
	const schema = `{"type":"object","properties":{"path":{"type":"string"}},"required":["path"],"additionalProperties":false}`
	const list = `[{"type":"mcp_list_tools","id":"l","server_label":"shop","tools":[{"name":"buy","input_schema":` + schema + `}]}]`
	var all []judgedCall
	for _, args := range []struct{ name, text, reason string }{
		{"works", `{"path":"` + argumentMarker + `"}`, ""},
		{"lacks", `{}`, guard.MissingRequiredArguments},
		{"fails", `{"path":["` + argumentMarker + `"]}`, guard.InvalidToolArguments},
		{"cut", `{"path":"` + argumentMarker, guard.InvalidToolArguments},
	} {
		f := called{
			name: "function that " + args.name, item: mock.FC("read", args.text),
			tool:  `{"type":"function","name":"read","parameters":` + schema + `}`,
			event: "response.function_call_arguments", fields: `"name":"read"`,
		}
		inside := called{
			name: "function in a namespace that " + args.name, item: mock.FC("read", args.text).With("namespace", "fs"),
			tool:  `{"type":"namespace","name":"fs","tools":[` + f.tool + `]}`,
			event: "response.function_call_arguments", fields: `"name":"read","namespace":"fs"`,
		}
		approval := called{
			name: "approval that " + args.name, tool: `{"type":"mcp","server_label":"shop"}`,
			item: mock.Item(`{"id":"mcpr_1","type":"mcp_approval_request","server_label":"shop","name":"buy"}`).With("arguments", args.text),
		}
		all = append(all, judgedCall{f, `"hi"`, args.reason}, judgedCall{inside, `"hi"`, args.reason}, judgedCall{approval, list, args.reason})
	}
	return all
}

func (c judgedCall) isApproval() bool { return c.itemType() == "mcp_approval_request" }

func (c judgedCall) request(stream bool) []byte {
	return fmt.Appendf(nil, `{"model":"m","input":%s,"stream":%t,"tools":[%s]}`, c.input, stream, c.tool)
}

// finding is the reason that the guard has to find in this carrier, "" if none.
// The table's events of the arguments family end with what is no JSON at all.
func (c judgedCall) finding(via carrier) string {
	switch via.name {
	case "arguments done":
		return guard.InvalidToolArguments
	case "output_item.done", "snapshot completed", "snapshot done":
		return c.reason
	}
	if c.isApproval() { // before it can reach anybody
		return c.reason
	}
	return ""
}

// cases are the turns in which c comes in each carrier, framing and content
// type, and how often the guard in mode report has to find something in each.
func (c judgedCall) cases() (cases []carried, findings []int) {
	for _, via := range carriers() {
		if via.event(c.called).typ == "" {
			continue
		}
		reason := c.finding(via)
		n := 0
		if reason != "" {
			n++
		}
		// A call that works where it comes first is in the last snapshot, too.
		if (reason == "" || via.name == "arguments done") && c.reason != "" && !via.terminal {
			n++
		}
		for _, cs := range streamCases(c.called, via, true) {
			cs.name, cs.reason = via.name+"/"+cs.name, reason
			cases, findings = append(cases, cs), append(findings, n)
		}
	}
	for _, cs := range jsonCases(c.called, true) {
		n := 0
		if strings.HasPrefix(cs.name, "JSON completed") || c.isApproval() {
			if cs.reason = c.reason; c.reason != "" {
				n = 1
			}
		}
		cases, findings = append(cases, cs), append(findings, n)
	}
	return cases, findings
}

// TestA1Carriers plays the table of the undeclared rule with declared calls whose
// arguments are judged: through the same code, in the same framings, content
// types and transports. Modes off and report change no byte; refuse ends the turn
// where the undeclared rule would, and shows no value.
func TestA1Carriers(t *testing.T) {
	for _, tt := range []struct {
		mode       guard.Mode
		undeclared guard.Mode
	}{{guard.Off, guard.Refuse}, {guard.Report, guard.Refuse}, {guard.Refuse, guard.Refuse}, {guard.Refuse, guard.Off}} {
		t.Run(fmt.Sprintf("arguments %v, undeclared %v", tt.mode, tt.undeclared), func(t *testing.T) {
			rig := newTableRig(t, func(c *Config) {
				u := &c.Upstreams[0]
				u.Arguments, u.Approvals, u.Undeclared = tt.mode, tt.mode, tt.undeclared
			})
			var want atomic.Int64
			t.Run("table", func(t *testing.T) {
				for _, c := range judgedCalls() {
					t.Run(c.name, func(t *testing.T) {
						t.Parallel()
						want.Add(c.play(t, rig, tt.mode))
					})
				}
			})
			rig.stop()
			if got := rig.metric("turngate_refusals_total", "mode", tt.mode.String()); got != float64(want.Load()) || got == 0 && tt.mode != guard.Off {
				t.Errorf("%v findings counted, want %d", got, want.Load())
			}
			if got := rig.metric("turngate_refusals_total"); got != float64(want.Load()) {
				t.Errorf("%v findings of all modes counted, want %d", got, want.Load())
			}
			rig.mustNotSay(argumentMarker)
		})
	}
}

// play plays the cases of c and returns how many findings must be counted.
func (c judgedCall) play(t *testing.T, rig *tableRig, mode guard.Mode) (found int64) {
	cases, findings := c.cases()
	for i, cs := range cases {
		switch {
		case mode == guard.Report:
			found += int64(findings[i])
		case mode == guard.Refuse && cs.reason == "" && findings[i] > 0:
			continue // refused later in the stream: not what the table is about
		case mode == guard.Refuse && cs.reason != "":
			found++
			cs.declared = false
		}
		got := rig.play(cs.turn, c.request(cs.askStream))
		if problem := cs.problem(got); problem != "" {
			t.Fatalf("%s: %s\nsent: %q\ngot %d: %q", cs.name, problem, cs.turn.Body, got.status, got.body)
		}
	}
	return found
}

// mustNotSay fails if the log, the metrics or what the admin listener shows of
// turns and tools has secret. The rig must be stopped.
func (r *rig) mustNotSay(secret string) {
	r.Helper()
	if bytes.Contains(r.log.Bytes(), []byte(secret)) {
		r.Errorf("the log has %s", secret)
	}
	for _, path := range []string{"/metrics", "/turns", "/tools"} {
		rec := httptest.NewRecorder()
		r.proxy.AdminHandler().ServeHTTP(rec, httptest.NewRequest(http.MethodGet, path, nil))
		if rec.Code != http.StatusOK || bytes.Contains(rec.Body.Bytes(), []byte(secret)) {
			r.Errorf("%s has %s, or status %d", path, secret, rec.Code)
		}
	}
}
