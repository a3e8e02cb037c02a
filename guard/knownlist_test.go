package guard

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// A list that is known by its first bytes is taken only if it is there whole,
// and what follows it is read as ever.
func TestKnownLists(t *testing.T) {
	list := func(last string) string {
		return `[{"type":"function","name":"read_file","description":"` + strings.Repeat("Reads. ", 20) + `"},{"type":"function","name":"` + last + `"}]`
	}
	tools := NewTools(0)
	read := func(body string) string {
		t.Helper()
		want, wantErr := ReadRequest([]byte(body))
		got, err := tools.ReadRequest([]byte(body))
		if fmt.Sprint(err) != fmt.Sprint(wantErr) {
			t.Fatalf("%.40s: error %v, unknown %v", body, err, wantErr)
		}
		if err != nil {
			return err.Error()
		}
		if g, w := got.Catalog.Declared(), want.Catalog.Declared(); !slices.Equal(g, w) {
			t.Fatalf("%.40s: declares %v, unknown %v", body, g, w)
		}
		return strings.Join(got.Catalog.Declared(), " ")
	}
	for _, tt := range []struct{ body, want string }{
		{`{"model":"m","tools":` + list("a") + `}`, "a read_file"},
		{`{"model":"m","tools":` + list("a") + `}`, "a read_file"},
		{`{"model":"m","tools": ` + list("b") + ` , "stream":true}`, "b read_file"},
		{`{"model":"m","tools":` + list("a") + `,"input":[{"type":"additional_tools","tools":` + list("b") + `}]}`, "a b read_file"},
		{`{"input":[{"tools":` + list("a") + `,"type":"additional_tools"},{"type":"message","tools":` + list("b") + `}]}`, "a read_file"},
		{`{"tools":` + list("a") + `,"tools":[]}`, `Duplicate key "tools": readers differ about which one counts.`},
		{`{"tools":` + list("a") + `]}`, "not valid"},
		{`{"tools":` + list("a"), "not valid"},
		{`{"tools":` + list("a")[:150], "not valid"},
	} {
		if got := read(tt.body); got != tt.want && !(tt.want == "not valid" && strings.Contains(got, tt.want)) {
			t.Errorf("%.60s...: %s, want %s", tt.body, got, tt.want)
		}
	}
}

func BenchmarkReadKnownTools(b *testing.B) {
	var list strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&list, `,{"type":"function","name":"tool_%d","parameters":{"type":"object","properties":{"path":{"type":"string"}}}}`, i)
	}
	for _, n := range []int{10, 1000} {
		all := strings.Split(list.String()[1:], ",{\"type\":\"function\"")
		body := []byte(`{"model":"m","tools":[` + strings.Join(all[:n], ",{\"type\":\"function\"") + `],"input":"hi"}`)
		tools := NewTools(0)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := tools.ReadRequest(body); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
