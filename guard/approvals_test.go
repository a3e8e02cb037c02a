package guard

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// shop declares an MCP server, and shopList is its list of tools.
const (
	shop     = `[{"type":"mcp","server_label":"shop","server_url":"https://shop.example"}]`
	shopList = `{"type":"mcp_list_tools","id":"l","server_label":"shop","tools":[{"name":"buy","input_schema":{"type":"object","required":["item"],"properties":{"item":{"type":"string"}}}},{"name":"look","input_schema":null}]}`
)

// approval makes a request to approve a call of shop's tool.
func approval(name, arguments string) string {
	b, err := json.Marshal(map[string]string{"type": "mcp_approval_request", "id": "mcpr_1", "server_label": "shop", "name": name, "arguments": arguments})
	if err != nil {
		panic(err) // strings always encode
	}
	return string(b)
}

// TestA7Approvals shows approval requests with the list of tools in each place
// where it can be.
func TestA7Approvals(t *testing.T) {
	const good, missing, wrong = `{"item":"hat"}`, `{}`, `{"item":7}`
	other := strings.Replace(shopList, `"shop"`, `"bank"`, 1)
	for name, tt := range map[string]struct {
		tools string
		input string
		list  []string // events before the request
		args  map[string]string
	}{
		"list in the input": {shop, shopList, nil,
			map[string]string{good: "passed", missing: MissingRequiredArguments, wrong: InvalidToolArguments, "": MissingRequiredArguments, `{"item":`: InvalidToolArguments}},
		"list in the output":          {shop, "", []string{done(shopList)}, map[string]string{good: "passed", missing: MissingRequiredArguments}},
		"list announced only":         {shop, "", []string{announcement(0, shopList)}, map[string]string{good: "passed", wrong: InvalidToolArguments}},
		"list of another server":      {shop, other, []string{done(other)}, map[string]string{good: "passed", missing: "passed"}},
		"no list":                     {shop, "", nil, map[string]string{good: "passed", missing: "passed"}},
		"list that is not a list":     {shop, "", []string{done(`{"type":"mcp_list_tools","server_label":"shop","tools":{"name":"buy"}}`)}, map[string]string{missing: "passed"}},
		"no server declared":          {readFile, shopList, nil, map[string]string{good: UndeclaredToolCall, missing: UndeclaredToolCall}},
		"server of a prompt, G8":      {`null`, "", []string{done(shopList)}, map[string]string{good: "passed", missing: MissingRequiredArguments}},
		"allowed":                     {strings.Replace(shop, `}]`, `,"allowed_tools":["buy"]}]`, 1), shopList, nil, map[string]string{good: "passed", missing: MissingRequiredArguments}},
		"not allowed":                 {strings.Replace(shop, `}]`, `,"allowed_tools":["look"]}]`, 1), shopList, nil, map[string]string{good: UndeclaredToolCall}},
		"allowed by a filter":         {strings.Replace(shop, `}]`, `,"allowed_tools":{"tool_names":["buy"]}}]`, 1), shopList, nil, map[string]string{good: "passed", wrong: InvalidToolArguments}},
		"two lists, one satisfied":    {shop, shopList, []string{done(strings.Replace(shopList, `"item"`, `"thing"`, 1))}, map[string]string{good: "passed", `{"thing":1}`: "passed", missing: MissingRequiredArguments}},
		"a function of the same name": {`[{"type":"function","name":"buy","parameters":{"required":["other"]}},{"type":"mcp","server_label":"shop"}]`, shopList, nil, map[string]string{good: "passed", missing: MissingRequiredArguments}},
	} {
		t.Run(name, func(t *testing.T) {
			for arguments, want := range tt.args {
				item := approval("buy", arguments)
				for carrier, events := range map[string][]string{
					"added":      {announcement(1, item)},
					"done":       {done(item)},
					"completed":  {snapshotOf("completed", item)},
					"incomplete": {snapshotOf("incomplete", item)},
				} {
					if arguments == "" && carrier != "done" && carrier != "completed" {
						continue // they may still come
					}
					var members []string
					if tt.input != "" {
						members = append(members, `"input":[`+tt.input+`]`)
					}
					g, _ := judging(t, Options{Arguments: Off}, tt.tools, members...)
					if r := show(g, append(tt.list[:len(tt.list):len(tt.list)], events...)...); reasonOf(r) != want {
						t.Errorf("%s in %s: %s, want %s", arguments, carrier, reasonOf(r), want)
					}
				}
			}
		})
	}
}

// A JSON answer holds the list and the request.
func TestA7ApprovalsInAnAnswer(t *testing.T) {
	for arguments, want := range map[string]string{`{"item":"hat"}`: "passed", `{}`: MissingRequiredArguments} {
		g, _ := judging(t, Options{}, shop)
		_, r, ok := g.InspectAnswer([]byte(`{"object":"response","status":"completed","output":[` + shopList + `,` + approval("buy", arguments) + `]}`))
		if reasonOf(r) != want || !ok {
			t.Errorf("%s: %s, ok %v", arguments, reasonOf(r), ok)
		}
	}
}

func TestA7Modes(t *testing.T) {
	doomed := approval("buy", `{"item":"MARKER"`)
	for mode, want := range map[Mode][]string{
		Off:    nil,
		Report: {"report invalid_tool_arguments buy "},
		Refuse: {"refuse invalid_tool_arguments buy "},
	} {
		for _, undeclared := range []Mode{Off, Report, Refuse} {
			g, h := judging(t, Options{Approvals: mode, Arguments: Off, Undeclared: undeclared}, shop, `"input":[`+shopList+`]`)
			r := show(g, announcement(0, doomed), done(doomed), snapshotOf("completed", doomed))
			if (r != nil) != (mode == Refuse) {
				t.Errorf("approvals %v: %s", mode, reasonOf(r))
			}
			if diff := cmp.Diff(want, h.findings); diff != "" {
				t.Errorf("approvals %v: told (-want +got):\n%s", mode, diff)
			}
		}
	}
}

// A5: approvals that cannot be judged are counted once, when they are complete.
func TestA7Unjudged(t *testing.T) {
	for name, want := range map[string]string{"buy": "no_schema", "look": "no_schema"} {
		g, h := judging(t, Options{}, shop)
		item := approval(name, `{}`)
		if r := show(g, announcement(0, approval(name, "")), done(item), snapshotOf("completed", item)); r != nil {
			t.Errorf("%s: %s", name, r.Message())
		}
		if diff := cmp.Diff([]string{want}, h.unjudged); diff != "" {
			t.Errorf("%s: told (-want +got):\n%s", name, diff)
		}
	}
}

func TestA7Refusal(t *testing.T) {
	g, _ := judging(t, Options{}, shop, `"input":[`+shopList+`]`)
	r := show(g, done(approval("buy", `{"item":["MARKER"]}`)))
	const want = `{"reason":"invalid_tool_arguments","item_type":"mcp_approval_request","name":"buy","namespace":null,"call_id":null,"item_id":"mcpr_1",` +
		`"declared":["mcp:shop"],"declared_total":1,"missing":[],"problems":[{"pointer":"/item","message":"must be string, not array"}],` +
		`"input_summary":{"required":["item"],"properties":{"item":{"type":"string"}}},"schema_hash":"6d9fe39f3f54","upstream":"","request_id":""}`
	if diff := cmp.Diff(want, wire(t, r)); diff != "" {
		t.Errorf("refusal (-want +got):\n%s", diff)
	}
	const message = `turngate: the upstream asked to approve a call of "buy" with arguments that cannot work: /item must be string, not array`
	if r.Message() != message {
		t.Errorf("message %s", r.Message())
	}
}

// What an approval's tool was declared with in a list authorises nothing.
func TestA7ListsAuthoriseNothing(t *testing.T) {
	g, _ := judging(t, Options{}, shop, `"input":[`+shopList+`]`)
	if r := show(g, done(fc("buy", `{"item":"hat"}`))); reasonOf(r) != UndeclaredToolCall {
		t.Errorf("a function_call of a server's tool: %s", reasonOf(r))
	}
}
