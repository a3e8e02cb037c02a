package main

import (
	"bytes"
	"flag"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write what the demo shows to its golden file")

// TestDemo holds the demo to its text, which differs from run to run only in
// ports and request ids.
func TestDemo(t *testing.T) {
	const golden = "testdata/demo.golden"
	var stdout, stderr bytes.Buffer
	if code := run(t.Context(), []string{"demo"}, strings.NewReader(""), &stdout, &stderr); code != exitOK || stderr.Len() > 0 {
		t.Fatalf("exit code %d, stderr %q, stdout:\n%s", code, &stderr, &stdout)
	}
	got := regexp.MustCompile(`127\.0\.0\.1:\d+`).ReplaceAllString(stdout.String(), "127.0.0.1:PORT")
	got = regexp.MustCompile(`req_[a-z0-9]{26}`).ReplaceAllString(got, "req_ID")
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("the demo shows something else (-want +got); read it, then run this test with -update:\n%s", diff)
	}
}
