package guard

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReadRequest(t *testing.T) {
	const b = ` {"model" : "m", "stream":true, "input" : [ {"type":"message"} ] , "previous_response_id":"resp_1",
		"conversation":{"id":"c"}, "store": false, "background" :null, "include":["x"], "other":{"model":"z","model":"y"}} ` + "\n"
	r, err := ReadRequest([]byte(b))
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{
		"model": r.Model, "input": string(r.Input), "previous_response_id": string(r.PreviousResponseID),
		"conversation": string(r.Conversation), "store": string(r.Store), "background": string(r.Background), "include": string(r.Include),
	}
	want := map[string]string{
		"model": "m", "input": `[ {"type":"message"} ]`, "previous_response_id": `"resp_1"`,
		"conversation": `{"id":"c"}`, "store": "false", "background": "null", "include": `["x"]`,
	}
	if diff := cmp.Diff(want, got); diff != "" || !r.Stream {
		t.Errorf("stream %v, values (-want +got):\n%s", r.Stream, diff)
	}

	r, err = ReadRequest([]byte(`{"model":1,"stream":"true"}`))
	if err != nil || r.Model != "" || r.Stream || r.Input != nil || r.Store != nil {
		t.Errorf("wrong types: %+v, %v", r, err)
	}
}

func TestReadRequestErrors(t *testing.T) {
	const syntax, object, behind = "not valid JSON", "must be a JSON object", "something behind"
	for name, tt := range map[string]struct{ body, message, param string }{
		"empty":                  {"", syntax, ""},
		"white space":            {" \n", syntax, ""},
		"a list":                 {"[]", object, ""},
		"a string":               {`"x"`, object, ""},
		"null":                   {"null", object, ""},
		"cut":                    {`{"model":"m"`, syntax, ""},
		"cut in a tool":          {`{"tools":[{"name":"a"`, syntax, ""},
		"trailing garbage":       {`{}x`, behind, ""},
		"two objects":            {`{}{}`, behind, ""},
		"comma at the end":       {`{"a":1,}`, syntax, ""},
		"a comment":              {`{/**/}`, syntax, ""},
		"single quotes":          {`{'a':1}`, syntax, ""},
		"byte order mark":        {"\ufeff{}", syntax, ""},
		"raw control character":  {"{\"a\":\"\x01\"}", syntax, ""},
		"a bad escape":           {`{"a":"\x"}`, syntax, ""},
		"a nest of 6 MB":         {strings.Repeat("[", 6<<20), syntax, ""},
		"a nest in the input":    {`{"input":` + strings.Repeat("[", 6<<20), syntax, ""},
		"a nest of tools":        {`{"tools":` + strings.Repeat(`[{"tools":`, 600<<10), syntax, ""},
		"model twice":            {`{"model":"a","model":"b"}`, `"model"`, "model"},
		"tools twice":            {`{"tools":[],"tools":[]}`, `"tools"`, "tools"},
		"input twice, escaped":   {`{"input":"a","\u0069nput":"b"}`, `"input"`, "input"},
		"store twice":            {`{"store":true,"store":true}`, `"store"`, "store"},
		"a tool's name twice":    {`{"tools":[{"name":"z"},{"name":"a","name":"b"}]}`, `"tools[1].name"`, "tools[1].name"},
		"chat form, name twice":  {`{"tools":[{"function":{"name":"a","name":"b"}}]}`, "", "tools[0].function.name"},
		"inner tool, type twice": {`{"tools":[{"type":"namespace","tools":[{},{"type":"a","type":"b"}]}]}`, "", "tools[0].tools[1].type"},
		"environment type twice": {`{"tools":[{"environment":{"type":"a","type":"b"}}]}`, "", "tools[0].environment.type"},
		"tool_names twice":       {`{"tools":[{"allowed_tools":{"tool_names":[],"tool_names":[]}}]}`, "", "tools[0].allowed_tools.tool_names"},
		"an item's type twice":   {`{"input":[{},{},{"type":"message","type":"additional_tools"}]}`, "", "input[2].type"},
		"in an item's tools":     {`{"input":[{},{"type":"additional_tools","tools":[{"name":"a","name":"b"}]}]}`, "", "input[1].tools[0].name"},
		"the same, type last":    {`{"input":[{},{"tools":[{"name":"a","name":"b"}],"type":"additional_tools"}]}`, "", "input[1].tools[0].name"},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := ReadRequest([]byte(tt.body))
			e, ok := errors.AsType[*RequestError](err)
			if !ok || r != nil {
				t.Fatalf("ReadRequest = %v, %v; want a *RequestError", r, err)
			}
			if !strings.Contains(e.Message, tt.message) || e.Param != tt.param || len(e.Message) > 200 {
				t.Errorf("message %q, param %q; want it to hold %q, param %q", e.Message, e.Param, tt.message, tt.param)
			}
		})
	}
}

// Duplicates of keys that turngate does not act on are the upstream's business.
func TestReadRequestLetsBe(t *testing.T) {
	for _, b := range []string{
		`{"metadata":{"a":1,"a":2},"temperature":1,"temperature":2}`,
		`{"input":[{"content":[{"text":"a","text":"b"}]}]}`,
		`{"input":[{"type":"message","tools":[{"name":"a","name":"b"}]}]}`,
		`{"tools":[{"name":"a","description":"x","description":"y"}]}`,
		`{"Model":"a","model":"b"}`,
		"{\"input\":\"\xff\\ud800\"}",
	} {
		if _, err := ReadRequest([]byte(b)); err != nil {
			t.Errorf("%s: %v", b, err)
		}
	}
}

// A catalog outlives the body it was read from, which goes back to a pool.
func TestCatalogHoldsNothingOfTheBody(t *testing.T) {
	b := []byte(`{"model":"mmmm","tools":[{"name":"read_file"},{"type":"mcp","server_label":"shop","allowed_tools":["buy"]}],"input":[{"tools":[{"name":"late"}],"type":"additional_tools"}]}`)
	r, err := ReadRequest(b)
	if err != nil {
		t.Fatal(err)
	}
	clear(b)
	if diff := cmp.Diff([]string{"late", "mcp:shop", "read_file"}, r.Catalog.Declared()); diff != "" || r.Model != "mmmm" || !r.Catalog.approvable("shop", "buy") {
		t.Errorf("model %q, declared (-want +got):\n%s", r.Model, diff)
	}
}

// Reading must not write: a key in need of the scratch space once got a slice of
// the body for it, after a key that was not plain but had no escapes.
func TestReadRequestLeavesTheBodyAlone(t *testing.T) {
	const b = `{"Content-Type":"x","t\u006fols":[{"X-Vendor":1,"n\u0061me":"a"}],"Ü":1,"inp\u0075t":[]}`
	body := []byte(b)
	r, err := ReadRequest(body)
	if err != nil {
		t.Fatal(err)
	}
	if string(body) != b {
		t.Errorf("the body is now\n%s\nwas\n%s", body, b)
	}
	if diff := cmp.Diff([]string{"a"}, r.Catalog.Declared()); diff != "" {
		t.Errorf("declared (-want +got):\n%s", diff)
	}
}

// R4a: only a request that may hold a reference has its items looked up.
func TestR4aReferences(t *testing.T) {
	for input, want := range map[string]bool{
		`"hi"`:       false,
		`[]`:         false,
		`["x",null]`: false,
		`[{"role":"user","content":"item_reference"}]`:          false,
		`[{"type":"message","id":"m"}]`:                         false,
		`[{"id":"m","role":"user"}]`:                            false,
		`[{"role":"user"},{"type":"item_reference","id":"m"}]`:  true,
		`[{"\u0074ype":"item\u005freference","id":"m"}]`:        true,
		`[{"id":"m"},{"role":"user"}]`:                          true,
		`[{"type":null,"id":"m"}]`:                              true,
		`[{"type":"item_reference","id":"m","tools":[],"x":1}]`: true,
	} {
		req, err := ReadRequest([]byte(`{"input":` + input + `}`))
		if err != nil {
			t.Fatalf("%s: %v", input, err)
		}
		if req.References != want {
			t.Errorf("%s: got %v", input, req.References)
		}
	}
}
