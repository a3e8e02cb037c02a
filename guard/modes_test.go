package guard

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// heard collects what a guard tells.
type heard struct{ refusals, unusual []string }

func (h *heard) options(m Mode) Options {
	return Options{
		Undeclared: m,
		OnRefusal: func(r *Refusal, m Mode) {
			h.refusals = append(h.refusals, fmt.Sprint(m, " ", r.ItemType, " ", deref(r.Name), " ", deref(r.CallID)))
		},
		OnUnusual: func(kind string) { h.unusual = append(h.unusual, kind) },
	}
}

func TestG10Refuse(t *testing.T) {
	var h heard
	g := New(catalogOf(t, body(readFile)), h.options(Refuse))
	_, r := g.Inspect(event(typed("response.output_item.added", `"item":`+rmAll)))
	if reasonOf(r) != UndeclaredToolCall || g.Refused() != r {
		t.Fatalf("%s; Refused() = %v", reasonOf(r), g.Refused())
	}
	// S2: the refusal sticks, whatever comes after it.
	for _, data := range []string{typed("response.completed", `"response":{"output":[]}`), `[DONE]`, done(call(`"name":"read_file"`))} {
		if k, again := g.Inspect(event(data)); again != r || k != KindNone {
			t.Errorf("%s after the refusal: kind %v, %v", data, k, again)
		}
	}
	if g.Turn().Terminal != KindNone {
		t.Error("a refused turn went on")
	}
	if diff := cmp.Diff([]string{"refuse function_call rm_all call_1"}, h.refusals); diff != "" {
		t.Errorf("told (-want +got):\n%s", diff)
	}
}

func TestG10ReportTellsOncePerCall(t *testing.T) {
	var h heard
	g := New(catalogOf(t, body(readFile)), h.options(Report))
	other := strings.ReplaceAll(rmAll, "call_1", "call_2")
	raw := ""
	for _, data := range []string{
		typed("response.output_item.added", `"item":`+rmAll), done(rmAll), done(other),
		typed("response.completed", `"response":{"output":[`+rmAll+`,`+other+`]}`),
	} {
		raw += "data: " + data + "\n\n"
	}
	if r := stream(t, g, raw); r != nil || g.Refused() != nil || g.Turn().Terminal != KindCompleted {
		t.Errorf("%s, sticky %v, terminal %v", reasonOf(r), g.Refused(), g.Turn().Terminal)
	}
	want := []string{"report function_call rm_all call_1", "report function_call rm_all call_2"}
	if diff := cmp.Diff(want, h.refusals); diff != "" {
		t.Errorf("told (-want +got):\n%s", diff)
	}
	if len(g.Turn().Items) != 2 {
		t.Errorf("%d items kept, want 2", len(g.Turn().Items))
	}
}

func TestG10Off(t *testing.T) {
	var h heard
	g := New(catalogOf(t, body(readFile)), h.options(Off))
	if _, r := g.Inspect(event(done(rmAll))); r != nil || g.State() != "exempt" || h.refusals != nil {
		t.Errorf("%s, state %s, told %v", reasonOf(r), g.State(), h.refusals)
	}
	if _, r := g.Inspect(event(`{"_call":`)); r != nil {
		t.Errorf("broken event: %s", reasonOf(r))
	}
}

func TestG6HostedCallsPass(t *testing.T) {
	for _, item := range []string{
		`{"type":"web_search_call","id":"w","call_id":"c","name":"x"}`, `{"type":"file_search_call"}`, `{"type":"code_interpreter_call"}`,
		`{"type":"image_generation_call"}`, `{"type":"mcp_call","name":"buy","server_label":"s"}`, `{"type":"mcp_list_tools","tools":[]}`,
		`{"type":"tool_search_call","execution":"server"}`, `{"type":"tool_search_call"}`, `{"type":"x_search_call"}`, `{"type":"message"}`,
		`{"type":"reasoning"}`, `{"type":"compaction","encrypted_content":"x"}`, `{"type":"program","call_id":"c","code":"x"}`,
		`{"type":"function_call_output","call_id":"c"}`, `{"type":"shell_call_output","call_id":"c"}`,
		`{"type":"shell_call","call_id":"c","environment":{"type":"container_reference"}}`, `{"type":null}`, `{}`, `null`, `"x"`, `7`,
	} {
		if _, r := guardOf(t, readFile).Inspect(event(done(item))); r != nil {
			t.Errorf("%s: %s", item, r.Message())
		}
	}
}

// An output item widens the catalog only if a search for tools was declared,
// and only if all readers see it: K-X10 is the case without.
func TestG6Widening(t *testing.T) {
	const (
		loaded = `"tools":[{"type":"function","name":"rm_all"}]`
		found  = `{"type":"tool_search_output",` + loaded + `}`
		search = `[{"type":"function","name":"f"},{"type":"tool_search","execution":"server"}]`
		client = `[{"type":"tool_search","execution":"client"}]`
	)
	item := func(item string) string { return done(item) }
	for name, tt := range map[string]struct{ tools, data, want string }{
		"not declared":                {readFile, item(found), UndeclaredToolCall},
		"declared":                    {search, item(found), "passed"},
		"declared for the client":     {client, item(found), "passed"},
		"additional_tools":            {search, item(`{"type":"additional_tools",` + loaded + `}`), "passed"},
		"in a snapshot":               {search, typed("response.in_progress", `"response":{"output":[`+found+`]}`), "passed"},
		"a namespace":                 {search, item(`{"type":"tool_search_output","tools":[{"type":"namespace","name":"n","tools":[{"name":"rm_all"}]}]}`), UndeclaredToolCall},
		"in an event no client knows": {search, typed("response.surprise", `"item":`+found), UndeclaredToolCall},
		"the event itself":            {search, found, UndeclaredToolCall},
		"of two types":                {search, item(`{"type":"message","type":"tool_search_output",` + loaded + `}`), UndeclaredToolCall},
		"Tools":                       {search, item(`{"type":"tool_search_output","Tools":[{"name":"rm_all"}]}`), UndeclaredToolCall},
		"tools twice":                 {search, item(`{"type":"tool_search_output","tools":[],` + loaded + `}`), UndeclaredToolCall},
		"a tool's name twice":         {search, item(`{"type":"tool_search_output","tools":[{"name":"a","name":"rm_all"}]}`), UndeclaredToolCall},
		"outputs of two readings":     {search, typed("response.in_progress", `"response":{"output":[`+found+`],"output":[]}`), UndeclaredToolCall},
		"items of two readings":       {search, typed("response.output_item.done", `"item":`+found+`,"item":{}`), UndeclaredToolCall},
	} {
		t.Run(name, func(t *testing.T) {
			g := guardOf(t, tt.tools)
			if _, r := g.Inspect(event(tt.data)); r != nil {
				t.Fatalf("the declaration itself: %s", r.Message())
			}
			if _, r := g.Inspect(event(done(rmAll))); reasonOf(r) != tt.want {
				t.Errorf("the call after it: %s, want %s", reasonOf(r), tt.want)
			}
		})
	}
	// Items are judged in order: what is loaded after the call comes too late.
	for order, want := range map[string]string{found + "," + rmAll: "passed", rmAll + "," + found: UndeclaredToolCall} {
		if _, r := guardOf(t, search).Inspect(event(typed("response.completed", `"response":{"output":[`+order+`]}`))); reasonOf(r) != want {
			t.Errorf("%s: %s, want %s", order, reasonOf(r), want)
		}
		if _, r, _ := guardOf(t, search).InspectAnswer([]byte(`{"object":"response","output":[` + order + `]}`)); reasonOf(r) != want {
			t.Errorf("answer %s: %s, want %s", order, reasonOf(r), want)
		}
	}
}

// An upstream that declares without end must not fill the memory.
func TestG6WideningIsBounded(t *testing.T) {
	g := guardOf(t, `[{"type":"tool_search","execution":"client"}]`)
	pad := strings.Repeat("x", 1<<10)
	for i := range 24 {
		var tools strings.Builder
		for j := range 1000 {
			fmt.Fprintf(&tools, `{"type":"function","name":"tool_%d_%d","description":"%s"},`, i, j, pad)
		}
		g.Inspect(event(done(`{"type":"tool_search_output","tools":[` + tools.String() + `{}]}`)))
	}
	if n := namedIn(g.catalog); n > maxWidened>>10 {
		t.Errorf("%d names declared by the output", n)
	}
}

func TestG6aHostedCustomCalls(t *testing.T) {
	custom := func(name string) string {
		return done(`{"type":"custom_tool_call","call_id":"c","name":"` + name + `"}`)
	}
	const xai = `[{"type":"function","name":"f"},{"type":"x_search"}]`
	for name, tt := range map[string]struct {
		tools string
		globs []string
		data  string
		want  string
	}{
		"x_search declared, K-X9":    {xai, nil, custom("x_keyword_search"), "passed"},
		"x_search not declared":      {readFile, nil, custom("x_keyword_search"), UndeclaredToolCall},
		"another name":               {xai, nil, custom("x_delete_post"), UndeclaredToolCall},
		"as a function call":         {xai, nil, done(call(`"name":"x_keyword_search"`)), UndeclaredToolCall},
		"in a namespace":             {xai, nil, done(`{"type":"custom_tool_call","name":"x_keyword_search","namespace":"n"}`), UndeclaredToolCall},
		"one of two readings":        {xai, nil, done(`{"type":"custom_tool_call","name":"x_keyword_search","name":"rm_all"}`), UndeclaredToolCall},
		"one of two types":           {xai, nil, done(`{"type":"custom_tool_call","type":"function_call","name":"x_keyword_search"}`), UndeclaredToolCall},
		"by configuration":           {readFile, []string{"vendor_*"}, custom("vendor_look"), "passed"},
		"by configuration, another":  {readFile, []string{"vendor_*"}, custom("rm_all"), UndeclaredToolCall},
		"a slash in the name":        {readFile, []string{"vendor*"}, custom("vendor/look"), "passed"},
		"a slash in the glob":        {readFile, []string{"*/look"}, custom("a/b/look"), "passed"},
		"a slash in neither":         {readFile, []string{"*/look"}, custom("look"), UndeclaredToolCall},
		"a glob that is not one":     {readFile, []string{"[", "rm_*"}, custom("rm_all"), "passed"},
		"by configuration, function": {readFile, []string{"*"}, done(rmAll), UndeclaredToolCall},
	} {
		t.Run(name, func(t *testing.T) {
			g := New(catalogOf(t, body(tt.tools)), Options{HostedCalls: tt.globs})
			if _, r := g.Inspect(event(tt.data)); reasonOf(r) != tt.want {
				t.Errorf("%s: %s, want %s", tt.data, reasonOf(r), tt.want)
			}
		})
	}
}

// TestG7Unusual: what passes but is odd is told once per call.
func TestG7Unusual(t *testing.T) {
	const tools = `[{"type":"function","name":"f"},{"type":"custom","name":"c"},{"type":"vendor","name":"v"},
		{"type":"namespace","name":"n","tools":[{"type":"custom","name":"c"}]}]`
	as := func(typ, name string) string {
		return `{"type":"` + typ + `","call_id":"call_1","name":"` + name + `"}`
	}
	for item, want := range map[string][]string{
		as("function_call", "f"):                       nil,
		as("custom_tool_call", "c"):                    nil,
		as("custom_tool_call", "v"):                    nil,
		as("function_call", "c"):                       {"kind_mismatch"},
		as("function_call", "n__c"):                    {"kind_mismatch"},
		as("custom_tool_call", "f"):                    {"kind_mismatch"},
		`{"type":"telepathy_call","call_id":"call_1"}`: {"unknown_call"},
		`{"type":"telepathy_call"}`:                    nil, // hosted ones have no call id
		`{"type":"mcp_call","call_id":"call_1"}`:       nil,
	} {
		var h heard
		g := New(catalogOf(t, body(tools)), h.options(Refuse))
		for _, data := range []string{typed("response.output_item.added", `"item":`+item), done(item), typed("response.completed", `"response":{"output":[`+item+`]}`)} {
			if _, r := g.Inspect(event(data)); r != nil {
				t.Errorf("%s: %s", item, r.Message())
			}
		}
		if diff := cmp.Diff(want, h.unusual); diff != "" {
			t.Errorf("%s: unusual (-want +got):\n%s", item, diff)
		}
	}
}

// What is remembered of a call is bounded: its id was once kept whole.
func TestG5UnknownCallsAreBounded(t *testing.T) {
	g := guardOf(t, readFile)
	g.opt.OnUnusual = func(string) {}
	for i := range 2 * maxTold {
		g.Inspect(event(done(fmt.Sprintf(`{"type":"z_call","call_id":"%d%s"}`, i, strings.Repeat("x", 1000)))))
	}
	size := 0
	for key := range g.told {
		size += len(key)
	}
	if len(g.told) > maxTold || size > maxTold*250 {
		t.Errorf("%d findings remembered in %d bytes", len(g.told), size)
	}
}
