package config

import (
	"bytes"
	"flag"
	"os"
	"strings"
	"testing"
	"text/template"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write docs/configuration.md")

// TestReference compares docs/configuration.md with the tables.
func TestReference(t *testing.T) {
	const path = "../../../docs/configuration.md"
	want := reference(t)
	if *update {
		if err := os.WriteFile(path, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s is not what the tables say (make docs writes it):\n%s", path, diff)
	}
}

// TestReferenceExample reads the example that the reference shows.
func TestReferenceExample(t *testing.T) {
	s, err := Load([]string{"--config", "testdata/example.yaml"},
		lookup(map[string]string{"HOME": "/home/u", "DEEPSEEK_API_KEY": "k1", "SEARCH_API_KEY": "k2"}))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := len(s.Upstreams), 3; got != want {
		t.Errorf("%d upstreams, want %d", got, want)
	}
}

func reference(t *testing.T) []byte {
	t.Helper()
	example, err := os.ReadFile("testdata/example.yaml")
	if err != nil {
		t.Fatal(err)
	}
	tmpl, err := template.New("reference.md.tmpl").
		Funcs(template.FuncMap{"escape": escape}).
		ParseFiles("testdata/reference.md.tmpl")
	if err != nil {
		t.Fatal(err)
	}
	var rows []row
	for _, o := range Options() {
		rows = append(rows, row{o})
	}
	var out bytes.Buffer
	err = tmpl.Execute(&out, map[string]any{
		"Options": rows,
		"Keys":    UpstreamKeys(),
		"Example": string(example),
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// row shows an option as a line of the reference.
type row struct{ Option }

// EnvCell returns the environment variable, or a dash.
func (r row) EnvCell() string {
	if r.Where == FlagOnly {
		return "-"
	}
	return "`" + r.Env() + "`"
}

// KeyCell returns the key of the file, or a dash.
func (r row) KeyCell() string {
	if r.Where != Everywhere {
		return "-"
	}
	return "`" + r.Key() + "`"
}

// DefaultCell returns the default, or nothing.
func (r row) DefaultCell() string {
	if r.Default != "" && r.Shown == "" {
		return "`" + r.Default + "`"
	}
	return r.Shown
}

// escape keeps a text within its cell of a table.
func escape(s string) string { return strings.ReplaceAll(s, "|", `\|`) }
