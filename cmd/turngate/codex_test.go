package main_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"turngate/proxy/mock"
)

// Models of Codex 0.171.0: the one declares its tools in tools[], the other, as
// all current ones, in an additional_tools item, and calls functions/exec.
const (
	plainModel = "gpt-5.5"
	liteModel  = "gpt-6.2-sol"
)

// textTurn is a turn that says s.
func textTurn(s string) mock.Turn {
	return (&mock.Stream{ID: "resp_text"}).Created().Text(s).Completed().Turn()
}

// callTurn is a turn that makes one call.
func callTurn(item mock.Item) mock.Turn {
	return (&mock.Stream{ID: "resp_call"}).Created().Call(0, item).Completed().Turn()
}

// command is the arguments of exec_command for a shell command.
func command(cmd string) string {
	b, _ := json.Marshal(map[string]string{"cmd": cmd}) // a map of strings always encodes
	return string(b)
}

// wantRequests checks how many turns arrived at the upstream.
func wantRequests(t *testing.T, u *mock.Upstream, want int) []mock.Request {
	t.Helper()
	got := u.Requests()
	if len(got) != want {
		for i, r := range got {
			t.Logf("request %d: %s %s, input ends in %s", i, r.Method, r.Path, gjson.GetBytes(r.Body, "input.@reverse.0"))
		}
		t.Fatalf("%d requests at the upstream, want %d", len(got), want)
	}
	return got
}

// TestCodex drives the real Codex CLI.
func TestCodex(t *testing.T) {
	need(t, "CODEX_BIN", "TURNGATE_REQUIRE_CODEX")
	if isolate(t) {
		return
	}
	bin := buildTurngate(t)

	t.Run("text", func(t *testing.T) {
		u, base := startUpstream(t, textTurn("good evening"))
		g := startGate(t, bin, base)
		run := runCodex(t, plainModel, codexProvider(g.URL))
		wantRequests(t, u, 1)
		if run.Code != 0 || run.messages() != "good evening" {
			t.Errorf("exit code %d, messages %q", run.Code, run.messages())
		}
		if got := u.Requests()[0].Header.Get("Authorization"); got != "Bearer sk-test" {
			t.Errorf("upstream got Authorization %q, want the client's", got)
		}
		// Codex drops the connection as soon as it has read response.completed.
		g.wantMetric(t, `turngate_turns_total{outcome="completed",transport="sse",upstream="default"} 1`)
	})

	t.Run("declared exec_command", func(t *testing.T) {
		u, base := startUpstream(t,
			callTurn(mock.FC("exec_command", command("touch marker; echo out-$((40+2))"))), textTurn("ran it"))
		g := startGate(t, bin, base)
		run := runCodex(t, plainModel, codexProvider(g.URL))
		second := wantRequests(t, u, 2)[1]
		output := gjson.GetBytes(second.Body, `input.#(type=="function_call_output").output`).String()
		mustContain(t, "the call's output", output, "out-42")
		if !run.ran() || run.messages() != "ran it" {
			t.Errorf("command run: %t, messages %q", run.ran(), run.messages())
		}
	})

	t.Run("declared in additional_tools", func(t *testing.T) {
		script := `const r = await tools.exec_command({cmd: "touch marker; echo out-$((40+2))"}); text(JSON.stringify(r));`
		u, base := startUpstream(t,
			callTurn(mock.CTC("exec", script).With("namespace", "functions")), textTurn("ran it"))
		g := startGate(t, bin, base)
		run := runCodex(t, liteModel, codexProvider(g.URL))
		requests := wantRequests(t, u, 2)
		if first := requests[0].Body; gjson.GetBytes(first, "tools").Exists() ||
			gjson.GetBytes(first, "input.0.type").String() != "additional_tools" {
			t.Error("the model is not one that declares everything in additional_tools")
		}
		output := gjson.GetBytes(requests[1].Body, `input.#(type=="custom_tool_call_output").output`).String()
		mustContain(t, "the call's output", output, "out-42")
		if !run.ran() || run.messages() != "ran it" {
			t.Errorf("command run: %t, messages %q", run.ran(), run.messages())
		}
	})

	t.Run("undeclared", func(t *testing.T) { codexUndeclared(t, bin) })
	t.Run("goes on after a refusal", func(t *testing.T) { codexGoesOn(t, bin) })
	t.Run("signed in", func(t *testing.T) { codexSignedIn(t, bin) })
	t.Run("unreachable upstream", func(t *testing.T) { codexUnreachable(t, bin) })
	t.Run("upstream 503", func(t *testing.T) { codexUnavailable(t, bin) })
	t.Run("upstream reset", func(t *testing.T) { codexReset(t, bin) })
	t.Run("silent upstream", func(t *testing.T) { codexSilence(t, bin) })
	t.Run("errors", func(t *testing.T) { codexErrors(t, bin) })
	t.Run("upgrade", func(t *testing.T) { codexUpgrade(t, bin) })
	t.Run("client keys", func(t *testing.T) { codexClientKeys(t, bin) })
}

// codexUndeclared has the upstream call exec_command, which the lite model
// registers but does not declare. Codex alone runs it (the control); behind
// turngate the turn ends at once and says why.
func codexUndeclared(t *testing.T, bin string) {
	call := callTurn(mock.FC("exec_command", command("touch marker")))

	t.Run("control", func(t *testing.T) {
		u, base := startUpstream(t, call, textTurn("after"))
		run := runCodex(t, liteModel, codexProvider(base))
		wantRequests(t, u, 2)
		if !run.ran() {
			t.Error("without turngate the command was not run: the case shows nothing")
		}
	})
	for name, model := range map[string]string{"lite": liteModel, "plain": plainModel} {
		t.Run(name, func(t *testing.T) {
			turn, tool := call, "exec_command"
			if model == plainModel { // which declares exec_command
				turn, tool = callTurn(mock.FC("rm_all", command("touch marker"))), "rm_all"
			}
			u, base := startUpstream(t, turn, textTurn("after"))
			g := startGate(t, bin, base)
			run := runCodex(t, model, codexProvider(g.URL))
			wantRequests(t, u, 1)
			if run.ran() {
				t.Error("the undeclared command was run")
			}
			if run.Code != 1 {
				t.Errorf("exit code %d, want 1", run.Code)
			}
			mustContain(t, "what the user sees", run.Shown, tool, "does not declare")
			if strings.Contains(run.Shown, "stream disconnected") {
				t.Error("the user is told of a lost connection")
			}
			if n := len(g.tap.exchanges()); n != 1 {
				t.Errorf("%d requests arrived at turngate, want 1", n)
			}
			g.wantMetric(t, `turngate_turns_total{outcome="refused",transport="sse",upstream="default"} 1`)
			for _, e := range g.tap.exchanges() {
				if strings.Contains(e.Body, "touch marker") {
					t.Errorf("the refused call's arguments reached the client:\n%s", e.Body)
				}
			}
		})
	}
}

// codexGoesOn asks again in a session whose last turn was refused: nothing of the
// refused call may have become history.
func codexGoesOn(t *testing.T, bin string) {
	refused := new(mock.Stream).Created().Text("let me see").
		Call(1, mock.FC("rm_all", command("touch marker"))).Completed().Turn()
	u, base := startUpstream(t, refused, textTurn("all is well"))
	g := startGate(t, bin, base)
	user := newCodex(t, codexProvider(g.URL))
	if run := user.exec(t, "-m", plainModel, "say hi"); run.Code != 1 {
		t.Errorf("refused turn: exit code %d, want 1", run.Code)
	}
	run := user.exec(t, "-m", plainModel, "resume", "--last", "and now?")
	if run.Code != 0 || run.messages() != "all is well" || run.ran() {
		t.Errorf("next turn: exit code %d, messages %q, command run: %t", run.Code, run.messages(), run.ran())
	}
	second := string(wantRequests(t, u, 2)[1].Body)
	mustContain(t, "the next request", second, "let me see", "and now?")
	if strings.Contains(second, "rm_all") {
		t.Errorf("the refused call became history:\n%s", second)
	}
}
