package guard

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
)

// declaredBy reads the named tools of a body by the letter of the rules, with
// encoding/json and maps. The body must be unambiguous.
func declaredBy(body []byte) []string {
	var root map[string]any
	json.Unmarshal(body, &root)
	lists := []any{root["tools"]}
	input, _ := root["input"].([]any)
	for _, v := range input {
		item, _ := v.(map[string]any)
		switch item["type"] {
		case "additional_tools", "tool_search_output":
			lists = append(lists, item["tools"])
		}
	}
	names := map[string]bool{}
	add := func(prefix string, tool map[string]any) {
		function, _ := tool["function"].(map[string]any)
		for _, v := range []any{tool["name"], function["name"]} {
			if name, _ := v.(string); name != "" {
				names[prefix+name] = true
			}
		}
	}
	for _, list := range lists {
		list, _ := list.([]any)
		for _, v := range list {
			tool, _ := v.(map[string]any)
			if tool["type"] != "namespace" {
				add("", tool)
				continue
			}
			prefix, _ := tool["name"].(string)
			if prefix == "functions" {
				prefix = ""
			}
			if prefix != "" {
				prefix += "__"
			}
			inner, _ := tool["tools"].([]any)
			for _, v := range inner {
				in, _ := v.(map[string]any)
				add(prefix, in)
			}
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// FuzzCatalog holds ReadRequest to an independent reading: no name more, and no
// name less, for each body that can be read in one way only. Others must not
// bring it down.
func FuzzCatalog(f *testing.F) {
	for _, s := range []string{
		`{"model":"m","tools":[{"type":"function","name":"a"},{"function":{"name":"b"}}]}`,
		`{"tools":[{"type":"namespace","name":"n","tools":[{"name":"a"},{"type":"custom","name":"b"}]}]}`,
		`{"tools":[{"name":"n","type":"namespace","tools":[{"name":"a","tools":[{"name":"x"}]}]}]}`,
		`{"tools":[{"type":"namespace","name":"functions","tools":[{"name":"a"}]}]}`,
		`{"tools":[],"input":[{"type":"additional_tools","role":"developer","tools":[{"name":"a"}]},{"type":"message","content":"x"}]}`,
		`{"input":[{"tools":[{"name":"a"}],"type":"tool_search_output"},{"type":"message","tools":[{"name":"b"}]}]}`,
		`{"tools":[{"type":"mcp","server_label":"s","allowed_tools":{"tool_names":["a"]}},{"type":"shell","environment":{"type":"local"}}]}`,
		`{"tools":[{"type":"tool_search","execution":"client"},{"type":"x_search"},{"type":"local_shell"}]}`,
		`{"tools":null,"input":"hi","stream":true}`,
		`{"tools":[{"type":"namespace","name":"functions","tools":[{"name":"a"}]},{"name":"functions__a"}]}`,
		`{"t\u006fols":[{"n\u0061me":"\u0061\ud83d\ude00"}]}`,
		`{"tools":{"name":"a"}}`, `[{"tools":[]}]`, `{"tools":[{"name":"a","name":"b"}]}`, `{}x`, `{"tools":[{}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		before := string(body)
		r, err := ReadRequest(body)
		if string(body) != before {
			t.Fatalf("%s: changed to %s", before, body)
		}
		if !utf8.Valid(body) || !jsontext.Value(body).IsValid() || jsontext.Value(body).Kind() != '{' {
			return
		}
		if err != nil {
			t.Fatalf("%s: %v", body, err)
		}
		want := declaredBy(body)
		got := []string{}
		for _, p := range r.Catalog.parts {
			for id, k := range p.named {
				if k&itself != 0 {
					got = append(got, id.String())
				}
			}
		}
		slices.Sort(got)
		got = slices.Compact(got)
		if diff := cmp.Diff(append([]string{}, want...), got); diff != "" {
			t.Fatalf("%s declares (-want +got):\n%s", body, diff)
		}
		if len(want) > 0 && r.Catalog.StandsDown() {
			t.Fatalf("%s: stands down", body)
		}
		for _, name := range want {
			item, _ := json.Marshal(map[string]string{"type": "function_call", "name": name})
			if _, refusal := New(r.Catalog, Options{}).Inspect(event(done(string(item)))); refusal != nil {
				t.Fatalf("%s: a call of %q: %s", body, name, refusal.Message())
			}
		}
	})
}
