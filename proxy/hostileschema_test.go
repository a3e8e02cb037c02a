package proxy

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"turngate/guard"
	"turngate/proxy/mock"
)

// repeated joins n strings made from their index by commas.
func repeated(n int, f func(i int) string) string {
	parts := make([]string, n)
	for i := range parts {
		parts[i] = f(i)
	}
	return strings.Join(parts, ",")
}

// hostileSchemas are schemas that make other validators crash, run for long or
// fetch, by what is counted for a call of their tool. place is an address that
// would serve a schema, if anybody asked.
func hostileSchemas(place, file string) map[string]map[string]string {
	ref := func(to string) string { return fmt.Sprintf(`{"$ref":%q}`, to) }
	return map[string]map[string]string{
		"schema_rejected": {
			"itself":           ref("#"),
			"a tree of itself": `{"properties":{"kids":{"items":{"$ref":"#"}}}}`,
			"doubling": `{"$ref":"#/$defs/d0","$defs":{` + repeated(40, func(i int) string {
				return fmt.Sprintf(`"d%d":{"allOf":[{"$ref":"#/$defs/d%d"},{"$ref":"#/$defs/d%d"}]}`, i, i+1, i+1)
			}) + `,"d40":{}}}`,
			"remote":             ref(place + "/schema.json"),
			"remote, nested":     `{"properties":{"path":` + ref(place) + `}}`,
			"file":               ref("file://" + file),
			"relative":           ref("schema.json"),
			"pattern":            `{"properties":{"path":{"pattern":"((a{0,900}){0,900})*"}}}`,
			"not a pattern":      `{"properties":{"path":{"pattern":"("}}}`,
			"many patterns":      `{"patternProperties":{` + repeated(500, func(i int) string { return fmt.Sprintf(`"^[a-z]{%d}$":{}`, i+100) }) + `}}`,
			"wrong types":        `{"type":[{}],"properties":[],"required":{"a":1},"items":7,"enum":"x","allOf":{}}`,
			"a string":           `"object"`,
			"a list":             `[[],[]]`,
			"duplicate keywords": `{"type":"object","type":"array"}`,
		},
		"too_large": {
			"depth 5,000":        strings.Repeat(`{"not":`, 5_000) + `{}` + strings.Repeat(`}`, 5_000),
			"1 MB":               `{"description":"` + strings.Repeat("x", 1<<20) + `"}`,
			"100,000 properties": `{"properties":{` + repeated(100_000, func(i int) string { return fmt.Sprintf(`"p%d":{}`, i) }) + `}}`,
			"a huge exponent":    `{"properties":{"path":{"maximum":1e999999999}}}`,
		},
	}
}

// TestA5HostileSchemas declares tools with hostile schemas and has them called,
// with everything on refuse: the turn ends, the call is relayed as it came, the
// reason is counted, and nobody fetched anything.
func TestA5HostileSchemas(t *testing.T) {
	var fetched atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fetched.Add(1)
		fmt.Fprint(w, `{"required":["never"]}`)
	}))
	t.Cleanup(server.Close)
	file := filepath.Join(t.TempDir(), "schema.json")
	if err := os.WriteFile(file, []byte(`{"required":["never"]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Chdir(filepath.Dir(file))
	for reason, schemas := range hostileSchemas(server.URL, file) {
		for name, schema := range schemas {
			t.Run(reason+"/"+name, func(t *testing.T) {
				turn := new(mock.Stream).Created().Call(0, mock.FC("f", `{"path":7}`)).Text("hello").Completed().Turn()
				rig := newRig(t, nil, turn)
				request := []byte(`{"model":"m","input":"hi","stream":true,"tools":[` + function("f", "", schema) + `]}`)
				for range 2 { // the second finds what the first left in the caches
					if got := rig.post(request, nil); got.status != http.StatusOK || !bytes.Equal(got.body, turn.Body) {
						t.Errorf("status %d, %v; the body is verbatim: %t", got.status, got.err, bytes.Equal(got.body, turn.Body))
					}
				}
				rows := rig.tools("q=f")
				if rows.Get("#").Int() != 1 || len(rows.Get("0.input_summary").Raw) > 1_536 {
					t.Errorf("/tools: %.200s", rows)
				}
				rig.stop()
				if got := rig.metric("turngate_unjudged_calls_total", "reason", reason, "upstream", "default"); got != 2 {
					t.Errorf("%v calls counted as %s, want 2", got, reason)
				}
				if got := rig.metric("turngate_unjudged_calls_total"); got != 2 {
					t.Errorf("%v calls counted in all, want 2", got)
				}
				if got := rig.metric("turngate_refusals_total"); got != 0 {
					t.Errorf("%v findings counted", got)
				}
			})
		}
	}
	if n := fetched.Load(); n != 0 {
		t.Errorf("%d schemas were fetched", n)
	}
}

// TestA5HostileArguments presses arguments against a harmless schema: the turn
// ends, with the call relayed or refused for what it is.
func TestA5HostileArguments(t *testing.T) {
	tool := function("f", "", `{"type":"object","properties":{"path":{"type":"string"},"list":{"type":"array","uniqueItems":true}}}`)
	for name, tt := range map[string]struct {
		arguments string
		refused   bool
	}{
		"brackets without end": {`{"path":` + strings.Repeat("[", 1<<20), false},
		"deep":                 {strings.Repeat(`{"a":`, 5_000) + `1` + strings.Repeat("}", 5_000), false},
		"8 MB":                 {`{"path":"` + strings.Repeat("x", 8<<20) + `"}`, false},
		"100,000 unique items": {`{"list":[` + repeated(100_000, func(i int) string { return fmt.Sprint(i) }) + `]}`, false},
		"a huge exponent":      {`{"size":1e999999999}`, false},
		"1 MB of white space":  {strings.Repeat(" ", 1<<20), true},
		"2 MB, cut":            {`{"path":"` + strings.Repeat("x", 2<<20), true},
	} {
		t.Run(name, func(t *testing.T) {
			turn := new(mock.Stream).Created().Done(0, mock.FC("f", tt.arguments)).Completed().Turn()
			rig := newRig(t, nil, turn)
			got := rig.post([]byte(`{"model":"m","input":"hi","stream":true,"tools":[`+tool+`]}`), nil)
			rig.stop()
			refused := bytes.Contains(got.body, []byte(guard.InvalidToolArguments))
			if refused != tt.refused || !tt.refused && !bytes.Equal(got.body, turn.Body) {
				t.Errorf("refused: %t, want %t; the body is verbatim: %t", refused, tt.refused, bytes.Equal(got.body, turn.Body))
			}
			want := 1.0
			if tt.refused {
				want = 0
			}
			if got := rig.metric("turngate_unjudged_calls_total", "reason", "too_large"); got != want {
				t.Errorf("%v calls counted as too large, want %v", got, want)
			}
		})
	}
}
