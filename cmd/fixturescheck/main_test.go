package main

import (
	"bytes"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// module returns a file system of files, name and content in turn.
func module(files ...string) fstest.MapFS {
	m := fstest.MapFS{}
	for i := 0; i < len(files); i += 2 {
		m[files[i]] = &fstest.MapFile{Data: []byte(files[i+1])}
	}
	return m
}

func TestRun(t *testing.T) {
	const rules = "testdata/rules.txt"
	for _, tc := range []struct {
		name string
		fs   fstest.MapFS
		code int
		says string
	}{
		{"all named", module(rules, "# ids\nG1\nG12\nS7a\nK-E6\nR3 later\n",
			"guard/a_test.go", "// G1 is here\nfunc TestKE6Names(", "testdata/streams/S7a-x.want.json", `{"rules": ["G12"]}`),
			0, "5 rules, 0 without"},
		{"one missing", module(rules, "G1\nG2\n", "guard/a_test.go", "G1 G22 xG2"), 1, "G2 has no fixture or test"},
		{"only code names it", module(rules, "G1\n", "guard/a.go", "G1"), 1, "G1 has no fixture or test"},
		{"no longer later", module(rules, "G1 later\n", "guard/a_test.go", "G1"), 0, "no longer"},
		{"no list", module(), 2, "rules.txt"},
		{"empty list", module(rules, "# none\n"), 2, "lists nothing"},
		{"no id", module(rules, "G1 soon\n"), 2, "rules.txt:1:"},
		{"listed twice", module(rules, "G1\nG1\n"), 2, "rules.txt:2: G1"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var out bytes.Buffer
			if code := run(tc.fs, &out, &out); code != tc.code || !strings.Contains(out.String(), tc.says) {
				t.Errorf("code %d, %q; want %d, %q", code, out.String(), tc.code, tc.says)
			}
		})
	}
}

func TestIDsIn(t *testing.T) {
	text := "G4 (S9a), A1-A3. TestKX2Encoded TestS9aBeats TestS10Usage K-E16 R10–R12 G1-S2 nothing: AG1 G1x1 k-e6 E"
	want := []string{"G4", "S9a", "A1", "A2", "A3", "K-X2", "S9a", "S10", "K-E16", "R10", "R11", "R12", "S2", "G1"}
	if diff := cmp.Diff(want, idsIn([]byte(text))); diff != "" {
		t.Error(diff)
	}
}
