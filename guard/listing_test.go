package guard

import (
	"slices"
	"strings"
	"testing"
)

// requestWith reads a request through tools.
func requestWith(t testing.TB, tools *Tools, body string) *Request {
	t.Helper()
	r, err := tools.ReadRequest([]byte(body))
	if err != nil {
		t.Fatalf("ReadRequest(%.200s): %v", body, err)
	}
	return r
}

func TestA9ListsNamedTools(t *testing.T) {
	tools := NewTools(0)
	const request = `{"tools":[
		{"type":"function","name":"read","description":"Reads a \"file\"\u0007.","parameters":{"type":"object"}},
		{"type":"function","function":{"name":"chat","description":"Talks.","parameters":{"type":"string"}}},
		{"type":"namespace","name":"crm","description":"not a tool","tools":[{"type":"function","name":"add","parameters":{"type":"object"}}]},
		{"type":"namespace","name":"functions","tools":[{"type":"custom","name":"exec","description":7}]},
		{"type":"function","name":"twice","parameters":{"type":"object"}},
		{"type":"function","name":"twice","parameters":{"type":"array"}},
		{"type":"web_search"},{"type":"mcp","server_label":"shop"}],
		"input":[{"type":"additional_tools","tools":[{"type":"function","name":"late"}]},
		{"type":"mcp_list_tools","server_label":"shop","tools":[{"name":"buy","input_schema":{}}]}]}`
	var got []string
	for list := range requestWith(t, tools, request).Catalog.Lists() {
		for _, tool := range list.Tools {
			schema := ""
			if tool.Schema != nil {
				schema = string(tool.Schema.raw)
			}
			got = append(got, strings.Join([]string{tool.Namespace, tool.Name, tool.Description, schema}, "|"))
		}
	}
	want := []string{
		"|read|Reads a \"file\"\uFFFD.|" + `{"type":"object"}`,
		"|chat|Talks.|" + `{"type":"string"}`,
		"crm|add||" + `{"type":"object"}`,
		"|exec||",
		"|twice||" + `{"type":"array"}`,
		"|twice||" + `{"type":"array"}`,
		"|late||",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestA9DescriptionsAreBounded(t *testing.T) {
	r := requestWith(t, NewTools(0), `{"tools":[{"name":"f","description":"`+strings.Repeat("ä", 10_000)+`"}]}`)
	for list := range r.Catalog.Lists() {
		if d := list.Tools[0].Description; d != strings.Repeat("ä", 300) {
			t.Errorf("%d bytes kept", len(d))
		}
	}
}

// The same list of another turn is the same ToolList: whoever watches for
// changes has to compare no more than a pointer.
func TestA9ListsAreShared(t *testing.T) {
	tools := NewTools(0)
	lists := func(input string) []*ToolList {
		return slices.Collect(requestWith(t, tools, `{"tools":`+readFile+`,"input":`+input+`}`).Catalog.Lists())
	}
	first, second := lists(`"a"`), lists(`"b"`)
	if len(first) != 1 || !slices.Equal(first, second) {
		t.Errorf("%p and %p", first, second)
	}
}
