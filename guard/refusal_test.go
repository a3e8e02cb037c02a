package guard

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func refusalOf(t *testing.T, tools, data string) *Refusal {
	t.Helper()
	_, r := guardOf(t, tools).Inspect(event(data))
	if r == nil {
		t.Fatalf("%s passed", data)
	}
	return r
}

func TestRefusalMessage(t *testing.T) {
	const some = `[{"name":"exec"},{"name":"wait"},{"type":"namespace","name":"crm","tools":[{"name":"add"}]}]`
	for data, want := range map[string]string{
		done(rmAll): `turngate: the upstream called "rm_all", which this request does not declare (declared: crm__add, exec, wait)`,
		done(call(`"name":"add","namespace":"bank"`)): `turngate: the upstream called "bank.add", which this request does not declare (declared: crm__add, exec, wait)`,
		done(call(`"arguments":""`)):                  `turngate: the upstream sent a function_call without a usable name (declared: crm__add, exec, wait)`,
		done(`{"type":"local_shell_call"}`):           `turngate: the upstream sent a local_shell_call, which this request does not declare (declared: crm__add, exec, wait)`,
		`{"type":"function_call`:                      `turngate: the upstream sent an event that is not valid JSON and could carry a call`,
	} {
		if got := refusalOf(t, some, data).Message(); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", data, got, want)
		}
	}
	if got := refusalOf(t, `"x"`, done(rmAll)).Message(); !strings.HasSuffix(got, "(declared: nothing)") {
		t.Errorf("nothing declared: %s", got)
	}
}

// The JSON form is what docs and clients know as the refusal object: lists are
// never null in it.
func TestRefusalJSON(t *testing.T) {
	r := refusalOf(t, `"x"`, done(`{"type":"function_call","id":"fc_1","call_id":"call_1","name":"apply_patch"}`))
	r.Upstream, r.RequestID = "default", "req_1"
	var got, want any
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	json.Unmarshal(b, &got)
	json.Unmarshal([]byte(`{"reason":"undeclared_tool_call","item_type":"function_call","name":"apply_patch","namespace":null,
		"call_id":"call_1","item_id":"fc_1","declared":[],"declared_total":0,"missing":[],"problems":[],
		"input_summary":null,"schema_hash":null,"upstream":"default","request_id":"req_1"}`), &want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("refusal (-want +got):\n%s", diff)
	}
}

func TestRefusalNamesTheReadingThatRefused(t *testing.T) {
	r := refusalOf(t, `[{"type":"namespace","name":"crm","tools":[{"name":"add"}]}]`, done(call(`"name":"add","namespace":"crm","namespace":"bank"`)))
	if deref(r.Namespace) != "bank" || deref(r.Name) != "add" {
		t.Errorf("namespace %q, name %q", deref(r.Namespace), deref(r.Name))
	}
}

// TestRefusalBounds: its texts come from strangers.
func TestRefusalBounds(t *testing.T) {
	var tools strings.Builder
	for i := range 100 {
		fmt.Fprintf(&tools, `{"name":"tool_%02d_%s"},`, i, strings.Repeat("é", 300))
	}
	evil := strings.Repeat(`\u0007\u202e\n\u2028`, 10) + "\xff" + strings.Repeat("ü", 500)
	r := refusalOf(t, "["+tools.String()+`{"name":"z\u001b[31m"}]`,
		done(`{"type":"function_call","id":"`+evil+`","call_id":"`+evil+`","namespace":"`+evil+`","name":"`+evil+`"}`))
	if len(r.Declared) != maxDeclared || r.DeclaredTotal != 101 {
		t.Errorf("%d of %d declared, want %d of 101", len(r.Declared), r.DeclaredTotal, maxDeclared)
	}
	texts := append(r.Declared, deref(r.Name), deref(r.Namespace), deref(r.CallID), deref(r.ItemID), r.ItemType)
	for _, s := range texts {
		if s == "" || utf8.RuneCountInString(s) > maxShown || !clean(s) {
			t.Errorf("%d characters, clean %v: %q", utf8.RuneCountInString(s), clean(s), s)
		}
	}
	if m := r.Message(); len(m) > 5000 || !clean(m) || !strings.Contains(m, "and 89 more") {
		t.Errorf("%d bytes: %q", len(m), m)
	}
}

// clean reports whether a text can be shown in a terminal or a log.
func clean(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool {
		return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == '\u2028' || r == '\u2029'
	})
}

// What a guard keeps once shared memory with the frame: the names in a refusal
// and the turn's id changed under the reader's next read.
func TestNothingKeptSharesTheFrame(t *testing.T) {
	g := guardOf(t, readFile)
	inspect := func(data string) {
		f := event(data)
		f.Raw = []byte("data: " + data + "\n\n")
		f.Data = f.Raw[len("data: ") : len(f.Raw)-2]
		g.Inspect(f)
		for i := range f.Raw {
			f.Raw[i] = '#'
		}
	}
	inspect(typed("response.created", `"response":{"id":"resp_1","object":"response"}`))
	inspect(done(`{"type":"message","id":"msg_1"}`))
	inspect(`{"type":"error","code":"slow_down","message":"too fast"}`)
	inspect(done(`{"type":"function_call","id":"fc_1","call_id":"call_1","namespace":"ns","name":"rm_all"}`))
	turn, r := g.Turn(), g.Refused()
	got := []string{turn.ID, turn.FirstID, turn.Error.Code, turn.Error.Message, string(turn.Items[0]), string(turn.Snapshot),
		r.ItemType, deref(r.Name), deref(r.Namespace), deref(r.CallID), deref(r.ItemID)}
	want := []string{"resp_1", "resp_1", "slow_down", "too fast", `{"type":"message","id":"msg_1"}`, `{"id":"resp_1","object":"response"}`,
		"function_call", "rm_all", "ns", "call_1", "fc_1"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("after the buffer was used again (-want +got):\n%s", diff)
	}

	b := []byte(`{"object":"response","id":"resp_2","output":[` + rmAll + `]}`)
	g = guardOf(t, readFile)
	_, r, _ = g.InspectAnswer(b)
	clear(b)
	if g.Turn().ID != "resp_2" || deref(r.Name) != "rm_all" {
		t.Errorf("answer: id %q, name %q", g.Turn().ID, deref(r.Name))
	}
}
