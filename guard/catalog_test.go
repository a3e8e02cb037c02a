package guard

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestG3Catalog reads every form in which tools enter a request.
func TestG3Catalog(t *testing.T) {
	for name, tt := range map[string]struct {
		body string
		want []string
	}{
		"function":                      {body(readFile), []string{"read_file"}},
		"chat form, G2":                 {body(`[{"type":"function","function":{"name":"f","parameters":{}}}]`), []string{"f"}},
		"both names, G2":                {body(`[{"name":"a","function":{"name":"b"}}]`), []string{"a", "b"}},
		"a name whatever the type, G2":  {body(`[{"type":"slug:weather","name":"w"}]`), []string{"w"}},
		"custom":                        {body(`[{"type":"custom","name":"exec","format":{"type":"text"}}]`), []string{"exec"}},
		"namespace, G4":                 {body(`[{"type":"namespace","name":"crm","tools":[{"type":"function","name":"add"},{"type":"custom","name":"sql"}]}]`), []string{"crm__add", "crm__sql"}},
		"namespace, its name last":      {body(`[{"tools":[{"name":"add"}],"type":"namespace","name":"crm"}]`), []string{"crm__add"}},
		"functions is no namespace, G4": {body(`[{"type":"namespace","name":"functions","tools":[{"name":"exec"}]}]`), []string{"exec"}},
		"namespaces do not nest":        {body(`[{"type":"namespace","name":"a","tools":[{"type":"namespace","name":"b","tools":[{"name":"c"}]}]}]`), []string{"a__b"}},
		"typed tools": {body(`[{"type":"local_shell"},{"type":"apply_patch"},{"type":"computer"},{"type":"computer_use_preview"},{"type":"shell"},{"type":"tool_search","execution":"client"}]`),
			[]string{"apply_patch", "computer", "computer_use_preview", "local_shell", "shell", "tool_search"}},
		"hosted tools":                  {body(`[{"type":"web_search"},{"type":"file_search"},{"type":"code_interpreter"},{"type":"image_generation"},{"type":"programmatic_tool_calling"}]`), []string{}},
		"mcp":                           {body(`[{"type":"mcp","server_label":"shop","allowed_tools":["a"]},{"type":"mcp","server_label":"bank"}]`), []string{"mcp:bank", "mcp:shop"}},
		"additional_tools, K-E7":        {`{"tools":[],"input":[{"type":"additional_tools","role":"developer","tools":` + readFile + `}]}`, []string{"read_file"}},
		"tool_search_output":            {`{"input":[{"type":"message"},{"type":"tool_search_output","tools":` + readFile + `}]}`, []string{"read_file"}},
		"tools before the type":         {`{"input":[{"tools":` + readFile + `,"type":"additional_tools"}]}`, []string{"read_file"}},
		"tools of another item":         {`{"input":[{"tools":` + readFile + `,"type":"mcp_list_tools"},{"type":"message","tools":` + readFile + `}]}`, []string{}},
		"past calls declare nothing":    {`{"input":[` + rmAll + `]}`, []string{}},
		"a union of all":                {`{"input":[{"type":"additional_tools","tools":[{"name":"b"}]},{"type":"additional_tools","tools":[{"name":"c"}]}],"tools":[{"name":"a"}]}`, []string{"a", "b", "c"}},
		"escaped keys and values":       {`{"t\u006fols":[{"n\u0061me":"\u0061"}]}`, []string{"a"}},
		"names that are no strings":     {body(`[{"name":["a"]},{"name":1},{"name":null},{"function":{"name":{}}},{"function":"f"}]`), []string{}},
		"elements that are no objects":  {body(`["a",1,null,[{"name":"b"}]]`), []string{}},
		"tools null":                    {body(`null`), []string{}},
		"input a string":                {`{"input":"additional_tools"}`, []string{}},
		"input item that is no object":  {`{"input":["x",[],null,{"type":"additional_tools","tools":[{"name":"a"}]}]}`, []string{"a"}},
		"other keys of a tool are left": {body(`[{"name":"a","strict":false,"parameters":{"name":"b","name":"c","tools":[{"name":"d"}]}}]`), []string{"a"}},
		"a lone surrogate":              {body(`[{"name":"a\ud800"}]`), []string{"a\ufffd"}},
		"invalid UTF-8":                 {body("[{\"name\":\"a\xff\"}]"), []string{"a\ufffd"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := catalogOf(t, tt.body).Declared()
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("declared by %s (-want +got):\n%s", tt.body, diff)
			}
		})
	}
}

// TestG4Identity pins who may call what by which name, K-E6 among it.
func TestG4Identity(t *testing.T) {
	const tools = `[{"type":"function","name":"top"},
		{"type":"namespace","name":"crm","tools":[{"type":"function","name":"add"}]},
		{"type":"namespace","name":"functions","tools":[{"type":"custom","name":"exec"}]}]`
	for members, want := range map[string]string{
		`"name":"top"`:                          "passed",
		`"name":"top","namespace":""`:           "passed",
		`"name":"top","namespace":null`:         "passed",
		`"name":"top","namespace":"functions"`:  "passed",
		`"name":"top","namespace":"crm"`:        UndeclaredToolCall,
		`"name":"add","namespace":"crm"`:        "passed",
		`"name":"crm__add"`:                     "passed",
		`"name":"crm__add","namespace":"crm"`:   UndeclaredToolCall,
		`"name":"add"`:                          UndeclaredToolCall,
		`"name":"crm.add"`:                      UndeclaredToolCall,
		`"name":"add","namespace":"CRM"`:        UndeclaredToolCall,
		`"name":"add","namespace":"functions"`:  UndeclaredToolCall,
		`"name":"exec"`:                         "passed",
		`"name":"exec","namespace":"functions"`: "passed",
		`"name":"functions__exec"`:              "passed",
		`"name":"execexec"`:                     UndeclaredToolCall,
		`"name":"Exec"`:                         UndeclaredToolCall,
		`"name":"crm"`:                          UndeclaredToolCall,
		`"name":""`:                             UndeclaredToolCall,
		`"name":"parallel"`:                     UndeclaredToolCall,
		`"arguments":"{}"`:                      UndeclaredToolCall,
	} {
		if _, r := guardOf(t, tools).Inspect(event(done(call(members)))); reasonOf(r) != want {
			t.Errorf("%s: %s, want %s", members, reasonOf(r), want)
		}
	}
}

// TestG2Union: either reading of a request alone is incomplete.
func TestG2Union(t *testing.T) {
	c := catalogOf(t, body(`[{"name":"mine"},{"type":"mcp","server_label":"s","allowed_tools":["a"]}]`))
	c.Add(catalogOf(t, body(`[{"name":"theirs"},{"type":"apply_patch"},{"type":"mcp","server_label":"s","allowed_tools":["b"]},{"type":"mcp","server_label":"all"}]`)))
	want := []string{"apply_patch", "mcp:all", "mcp:s", "mine", "theirs"}
	if diff := cmp.Diff(want, c.Declared()); diff != "" {
		t.Errorf("declared (-want +got):\n%s", diff)
	}
	for name, want := range map[string]bool{"a": true, "b": true, "c": false} {
		if got := c.approvable("s", name); got != want {
			t.Errorf("approvable(s, %s) = %v, want %v", name, got, want)
		}
	}
	c.Add(catalogOf(t, body(`[{"type":"mcp","server_label":"all","allowed_tools":["z"]}]`)))
	if !c.approvable("all", "c") {
		t.Error("a server without a list allows every name")
	}

	// The zero catalog once had no maps to add to.
	var zero Catalog
	zero.Add(c)
	if diff := cmp.Diff(want, zero.Declared()); diff != "" {
		t.Errorf("declared by zero and c (-want +got):\n%s", diff)
	}
}

// The allowed names of two catalogs must not share an array.
func TestG2UnionDoesNotAlias(t *testing.T) {
	one := catalogOf(t, body(`[{"type":"mcp","server_label":"s","allowed_tools":["a","b","c"]}]`))
	var x, y Catalog
	x.Add(one)
	y.Add(one)
	x.Add(catalogOf(t, body(`[{"type":"mcp","server_label":"s","allowed_tools":["x"]}]`)))
	y.Add(catalogOf(t, body(`[{"type":"mcp","server_label":"s","allowed_tools":["y"]}]`)))
	if !x.approvable("s", "x") || x.approvable("s", "y") || one.approvable("s", "x") {
		t.Error("catalogs changed each other")
	}
}

// TestG8StandDown pins that a request without a client tool is not guarded.
// Some upstreams (GitHub Copilot) answer a request without tools with a call
// that the client understands; refusing there broke real clients. It looks like
// a hole and is not one: such a client offered nothing, so nothing was
// exceeded. Do not argue it away again.
func TestG8StandDown(t *testing.T) {
	for b, want := range map[string]string{
		`{"input":"hi"}`:                "stood_down",
		body(`[]`):                      "stood_down",
		body(`null`):                    "stood_down",
		body(`[{"type":"web_search"}]`): "stood_down",
		body(`[{"type":"x_search"}]`):   "stood_down",
		body(`[{"type":"shell","environment":{"type":"container_auto"}}]`): "stood_down",
		body(`[{"type":"tool_search"}]`):                                   "stood_down",
		body(`[{"type":"tool_search","execution":"server"}]`):              "stood_down",
		body(`[{"type":"namespace","name":"crm","tools":[]}]`):             "stood_down",
		`{"input":[{"type":"additional_tools","tools":[]}]}`:               "stood_down",
		body(`[{"type":"tool_search","execution":"client"}]`):              "enforced",
		body(`[{"type":"shell"}]`):                                         "enforced",
		body(`[{"type":"local_shell"}]`):                                   "enforced",
		body(`[{"type":"apply_patch"}]`):                                   "enforced",
		body(`[{"type":"computer"}]`):                                      "enforced",
		body(`[{"type":"computer_use_preview"}]`):                          "enforced",
		body(`[{"type":"mcp","server_label":"s"}]`):                        "enforced",
		body(`[{"type":"web_search","name":"w"}]`):                         "enforced",
		body(readFile): "enforced",
		body(`"all"`):  "enforced", // a form that cannot be read is not an empty list
		body(`{}`):     "enforced",
		`{"input":[{"type":"additional_tools","tools":` + readFile + `}]}`: "enforced",
	} {
		g := New(catalogOf(t, b), Options{})
		if got := g.State(); got != want {
			t.Errorf("%s: %s, want %s", b, got, want)
		}
		_, r := g.Inspect(event(done(rmAll)))
		if refused := r != nil; refused != (want == "enforced") {
			t.Errorf("%s (%s): %s", b, want, reasonOf(r))
		}
	}
}

// What a body declares must not cost much more memory than the body: a tool
// object is a hundred times larger than "{}", and places in deep nests were once
// kept as strings, whose lengths add up to the square of the depth.
func TestG3HugeDeclarations(t *testing.T) {
	tools := func(n int) string { return body("[" + strings.Repeat("{},", n-1) + "{}]") }
	if _, err := ReadRequest([]byte(tools(maxTools))); err != nil {
		t.Errorf("%d tools: %v", maxTools, err)
	}
	if _, err := ReadRequest([]byte(tools(maxTools + 1))); err == nil {
		t.Errorf("%d tools were read", maxTools+1)
	}
	items := `{"input":[` + strings.Repeat(`{"tools":[{"name":"a"}],"type":"additional_tools"},`, maxTools+1) + `{}]}`
	if _, err := ReadRequest([]byte(items)); err == nil {
		t.Errorf("%d tools in as many items were read", maxTools+1)
	}
	// Lists that declare nothing, each written in another way, once made a part
	// each, and each part was compared with all before it.
	var empty strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&empty, `{"type":"additional_tools","tools":[{"x":%d}]},{"type":"mcp_list_tools","tools":[{"x":%d}]},`, i, i)
	}
	for _, known := range []*Tools{nil, NewTools(0)} {
		r, err := known.ReadRequest([]byte(`{"input":[` + empty.String() + `{}]}`))
		if err != nil || len(r.Catalog.parts) != 0 {
			t.Errorf("empty lists: %v", err)
		}
	}
	deep := body(strings.Repeat(`[{"tools":`, 4900) + "[]" + strings.Repeat("}]", 4900))
	if _, err := ReadRequest([]byte(deep)); err != nil {
		t.Errorf("nested tools: %v", err)
	}
	many := body("[" + strings.Repeat(`{"type":"mcp","server_label":"s","allowed_tools":["a"]},`, maxTools-1) + "{}]")
	if got := len(catalogOf(t, many).parts[0].mcp["s"]); got != maxTools-1 {
		t.Errorf("%d allowed names, want %d", got, maxTools-1)
	}
}
