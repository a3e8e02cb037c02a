package proxy

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"turngate/proxy/mock"
)

// tools asks the admin listener for tools.
func (r *rig) tools(query string) gjson.Result {
	r.Helper()
	rec := httptest.NewRecorder()
	r.proxy.AdminHandler().ServeHTTP(rec, httptest.NewRequest(http.MethodGet, "/tools?"+query, nil))
	if rec.Code != http.StatusOK || !json.Valid(rec.Body.Bytes()) {
		r.Fatalf("/tools?%s: status %d: %s", query, rec.Code, rec.Body)
	}
	return gjson.ParseBytes(rec.Body.Bytes()).Get("tools")
}

// names lists rows as "upstream namespace name".
func names(rows gjson.Result) (all []string) {
	for _, row := range rows.Array() {
		all = append(all, strings.Join([]string{row.Get("upstream").String(), row.Get("namespace").String(), row.Get("name").String()}, " "))
	}
	return all
}

// declare sends a turn that declares tools to the model's upstream.
func (r *rig) declare(model, key, tools string) {
	r.Helper()
	got := r.post([]byte(`{"model":"`+model+`","input":"hi","stream":true,"tools":`+tools+`}`), map[string]string{"Authorization": "Bearer " + key})
	if got.status != http.StatusOK {
		r.Fatalf("status %d: %s", got.status, got.body)
	}
}

// twoUpstreams is a rig with the upstreams "default" and "other", the latter for
// the model "o".
func twoUpstreams(t *testing.T) *rig {
	return newRig(t, func(c *Config) {
		other := c.Upstreams[0]
		other.Name, other.Models = "other", []string{"o"}
		c.Upstreams = append(c.Upstreams, other)
	}, new(mock.Stream).Created().Text("hello").Completed().Turn())
}

// function is a declaration; schema may be any JSON.
func function(name, description, schema string) string {
	return fmt.Sprintf(`{"type":"function","name":%q,"description":%q,"parameters":%s}`, name, description, schema)
}

func TestA9FindsTools(t *testing.T) {
	rig := twoUpstreams(t)
	rig.declare("m", "a", `[`+function("write_file", "Changes what read_file reads.", `{"properties":{"lines":{"type":"array","items":{"type":"string"}}}}`)+`,`+
		function("Read_File", "Reads.", `{"properties":{"path":{"type":"string"}},"required":["path"]}`)+`,
		{"type":"custom","name":"exec","description":"Runs a script."},
		{"type":"namespace","name":"crm","tools":[`+function("add", "Adds a customer.", `{"type":"object"}`)+`]},{"type":"web_search"}]`)
	rig.declare("o", "a", `[`+function("read_file", "Reads.", `{"required":["path"],"properties":{"path":{"type":"string"}}}`)+`]`)

	for query, want := range map[string][]string{
		"": {"default  Read_File", "default crm add", "default  exec", "other  read_file", "default  write_file"},
		// The name comes before the description, whatever the case.
		"q=read_file":                {"default  Read_File", "other  read_file", "default  write_file"},
		"q=READS":                    {"default  Read_File", "other  read_file", "default  write_file"},
		"q=crm__a":                   {"default crm add"},
		"q=customer":                 {"default crm add"},
		"q=read_file&upstream=other": {"other  read_file"},
		"q=read_file&limit=1":        {"default  Read_File"},
		"upstream=nobody":            nil,
		"q=nothing+of+the+kind":      nil,
	} {
		if diff := cmp.Diff(want, names(rig.tools(query))); diff != "" {
			t.Errorf("%q (-want +got):\n%s", query, diff)
		}
	}
	row := rig.tools("q=read_file&upstream=default").Get("0")
	var got, want map[string]any
	if err := json.Unmarshal([]byte(row.Raw), &got); err != nil {
		t.Fatal(err)
	}
	delete(got, "last_seen")
	if err := json.Unmarshal([]byte(`{"name":"Read_File","namespace":null,"upstream":"default","description":"Reads.",
		"input_summary":{"required":["path"],"properties":{"path":{"type":"string"}}},"schema_hash":"0eafc69a5bb0","drifted":false}`), &want); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("row (-want +got):\n%s", diff)
	}
	if raw := rig.tools("q=write_file").Raw; !strings.Contains(raw, `"type":"array<string>"`) {
		t.Errorf("the summary is escaped, and so longer than its bound: %s", raw)
	}
	// The order of keys is no difference.
	if other := rig.tools("q=read_file&upstream=other").Get("0.schema_hash"); other.String() != row.Get("schema_hash").String() {
		t.Errorf("hashes %s and %s", other, row.Get("schema_hash"))
	}
	if row := rig.tools("q=exec").Get("0"); row.Get("schema_hash").Type != gjson.Null || row.Get("input_summary").Type != gjson.Null {
		t.Errorf("a tool without a schema: %s", row)
	}
}

func TestA9LimitMustBeANumber(t *testing.T) {
	rig := twoUpstreams(t)
	for _, limit := range []string{"0", "-1", "x", "1e3"} {
		rec := httptest.NewRecorder()
		rig.proxy.AdminHandler().ServeHTTP(rec, httptest.NewRequest(http.MethodGet, "/tools?limit="+url.QueryEscape(limit), nil))
		if rec.Code != http.StatusBadRequest {
			t.Errorf("limit %s: status %d", limit, rec.Code)
		}
	}
}

func TestA9Drift(t *testing.T) {
	rig := twoUpstreams(t)
	const (
		one      = `{"type":"object","required":["a"]}`
		oneAgain = `{ "required":["a"], "type":"object" }`
		two      = `{"type":"object","required":["b"]}`
	)
	want := map[string]float64{}
	step := func(why, model, key, tools string, drifts float64) {
		t.Helper()
		rig.declare(model, key, "["+tools+"]")
		name := map[string]string{"m": "default", "o": "other"}[model]
		want[name] += drifts
		for name, n := range want {
			if got := rig.metric("turngate_tool_schema_drift_total", "upstream", name); got != n {
				t.Errorf("%s: %v changes at %s, want %v", why, got, name, n)
			}
		}
	}
	f := func(schema string) string { return function("f", "", schema) }
	step("first", "m", "a", f(one), 0)
	step("the same", "m", "a", f(one), 0)
	step("keys in another order", "m", "a", f(oneAgain), 0)
	step("another client's version", "m", "b", f(two), 0)
	step("another upstream's version", "o", "a", f(two), 0)
	if rig.tools("q=f").Get("#(drifted==true)").Exists() {
		t.Error("marked as drifted before it did")
	}
	step("a change", "m", "a", f(two), 1)
	if got := rig.tools("q=f&upstream=default"); got.Get("#").Int() != 1 || !got.Get("0.drifted").Bool() {
		t.Errorf("rows %s, want one that drifted", got)
	}
	step("and no other", "m", "a", f(two), 0)
	step("beside others", "m", "a", function("g", "", one)+","+f(two), 0)
	step("not declared", "m", "a", function("g", "", one), 0)
	step("no tools at all", "m", "a", "", 0)
	step("changed while it was away", "m", "a", f(one), 1)
	step("without a schema", "m", "a", f("null"), 1)
	step("declared twice, the last one counts", "m", "a", f(one)+","+f(two), 1)
	step("and again", "m", "a", f(one)+","+f(two), 0)
	step("the last one alone", "m", "a", f(two), 0)
	step("new, and declared twice", "m", "a", function("n", "", one)+","+function("n", "", two), 0)
}
