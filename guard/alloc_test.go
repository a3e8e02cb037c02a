package guard

import (
	"fmt"
	"strings"
	"testing"
)

// TestKnownToolsAllocations: what it costs to read a request depends neither on how
// many tools its lists have, once they are known, nor on how long its input is. The
// counts are exact; whoever makes one smaller changes it here.
func TestKnownToolsAllocations(t *testing.T) {
	list := func(n int) string {
		all := make([]string, n)
		for i := range all {
			all[i] = fmt.Sprintf(`{"type":"function","name":"tool_%d","parameters":{"type":"object","properties":{"path":{"type":"string"}}}}`, i)
		}
		return "[" + strings.Join(all, ",") + "]"
	}
	tools := func(list string) string { return `{"model":"m","tools":` + list + `,"input":"hi"}` }
	item := func(list string) string { return `{"type":"additional_tools","role":"developer","tools":` + list + `}` }
	input := func(items ...string) string { return `{"model":"m","input":[` + strings.Join(items, ",") + `]}` }
	if n := len(list(4000)); n <= maxHead {
		t.Errorf("the longest list has %d bytes and is found by its head", n)
	}
	for _, tt := range []struct {
		name, body string
		want       float64
	}{
		{"no tools", tools("[]"), 3},
		{"a list shorter than a head", tools(`[{"type":"function","name":"a"}]`), 4},
		{"1 tool", tools(list(1)), 4},
		{"10 tools", tools(list(10)), 4},
		{"1,000 tools", tools(list(1000)), 4},
		{"a list too long to be found by its head", tools(list(4000)), 4},
		{"a list in the input", input(item(list(10))), 8},
		{"two lists in the input", input(item(list(10)), item(list(1000))), 11},
		{"30 KB", string(requestOf(30 << 10)), 8},
		{"1 MB", string(requestOf(1 << 20)), 8},
	} {
		t.Run(tt.name, func(t *testing.T) {
			known, body := NewTools(0), []byte(tt.body)
			read := func() {
				if _, err := known.ReadRequest(body); err != nil {
					t.Fatal(err)
				}
			}
			read() // learns the lists
			if n := testing.AllocsPerRun(50, read); n != tt.want {
				t.Errorf("%v allocations, want %v", n, tt.want)
			}
		})
	}
}

// Without a store of tools nothing is known, but a request that declares none is
// read alike.
func TestReadRequestAllocations(t *testing.T) {
	body := []byte(`{"model":"m","stream":true,"input":[` + strings.Repeat(`{"type":"message","role":"user","content":"hi"},`, 1000) + `{"type":"message"}]}`)
	if n := testing.AllocsPerRun(50, func() {
		if _, err := ReadRequest(body); err != nil {
			t.Fatal(err)
		}
	}); n != 5 {
		t.Errorf("%v allocations, want 5", n)
	}
}
