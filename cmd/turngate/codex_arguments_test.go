package main_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"turngate/proxy/mock"
)

// TestCodexArguments has the upstream call exec_command, which Codex declares,
// without its required "cmd". With --arguments refuse the turn ends at once and
// says so; with report, the default, Codex repairs it by itself, as it does
// without turngate.
func TestCodexArguments(t *testing.T) {
	need(t, "CODEX_BIN", "TURNGATE_REQUIRE_CODEX")
	if isolate(t) {
		return
	}
	bin := buildTurngate(t)
	turns := []mock.Turn{
		callTurn(mock.FC("exec_command", `{"command":"touch marker"}`)),
		callTurn(mock.FC("exec_command", command("touch marker; echo out-$((40+2))")).With("call_id", "call_again")),
		textTurn("ran it"),
	}

	t.Run("refuse", func(t *testing.T) {
		u, base := startUpstream(t, turns...)
		g := startGate(t, bin, base, "--arguments", "refuse")
		run := runCodex(t, plainModel, codexProvider(g.URL))
		wantRequests(t, u, 1)
		if run.ran() || run.Code != 1 {
			t.Errorf("command run: %t, exit code %d, want 1", run.ran(), run.Code)
		}
		mustContain(t, "what the user sees", run.Shown, "exec_command", "missing cmd")
		if n := len(g.tap.exchanges()); n != 1 {
			t.Errorf("%d requests arrived at turngate, want 1", n)
		}
		g.wantMetric(t, `turngate_refusals_total{item_type="function_call",mode="refuse",reason="missing_required_arguments",upstream="default"} 1`)
	})

	// repaired checks that Codex told the model, which then called rightly, and
	// returns what it told.
	repaired := func(t *testing.T, u *mock.Upstream, run *codexRun) string {
		t.Helper()
		requests := wantRequests(t, u, 3)
		if !run.ran() || run.messages() != "ran it" || run.Code != 0 {
			t.Errorf("command run: %t, messages %q, exit code %d", run.ran(), run.messages(), run.Code)
		}
		outputs := gjson.GetBytes(requests[2].Body, `input.#(type=="function_call_output")#.output`).Array()
		if len(outputs) != 2 {
			t.Fatalf("%d outputs of calls, want 2: %s", len(outputs), outputs)
		}
		mustContain(t, "the second call's output", outputs[1].String(), "out-42")
		return outputs[0].String()
	}
	var alone string
	t.Run("control", func(t *testing.T) {
		u, base := startUpstream(t, turns...)
		run := runCodex(t, plainModel, codexProvider(base))
		alone = repaired(t, u, run)
		mustContain(t, "what Codex tells the model", alone, "cmd")
	})
	t.Run("report", func(t *testing.T) {
		u, base := startUpstream(t, turns...)
		g := startGate(t, bin, base)
		run := runCodex(t, plainModel, codexProvider(g.URL))
		if diff := cmp.Diff(alone, repaired(t, u, run)); diff != "" {
			t.Errorf("what Codex tells the model (-alone +behind turngate):\n%s", diff)
		}
		g.wantMetric(t, `turngate_refusals_total{item_type="function_call",mode="report",reason="missing_required_arguments",upstream="default"} 1`)
		g.wantMetric(t, `turngate_turns_total{outcome="completed",transport="sse",upstream="default"} 3`)
	})
}
