package main_test

import (
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

// TestReleaseBinary builds for Linux as `make release` does, and shows that the
// binary needs nothing of the system that it runs on, so that it can be alone in
// a container.
func TestReleaseBinary(t *testing.T) {
	recipe, err := os.ReadFile("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	// The flags are the Makefile's own.
	m := regexp.MustCompile(`CGO_ENABLED=0 GOOS=\S+ GOARCH=\S+ \$\(GO\) build (.*) -o "\$\$out" \./cmd/turngate`).FindSubmatch(recipe)
	if m == nil {
		t.Fatal("the Makefile has no recipe for a release")
	}
	if got, want := string(m[1]), "-trimpath -buildvcs=true -ldflags='-s -w'"; got != want {
		t.Fatalf("flags %s, want %s", got, want)
	}
	bin := filepath.Join(t.TempDir(), "turngate")
	build := exec.Command("go", "build", "-trimpath", "-buildvcs=auto", "-ldflags=-s -w", "-o", bin, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH="+runtime.GOARCH)
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	f, err := elf.Open(bin)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP || p.Type == elf.PT_DYNAMIC {
			t.Errorf("the binary has a segment %v: it is not static", p.Type)
		}
	}
	if libs, _ := f.ImportedLibraries(); len(libs) > 0 {
		t.Errorf("the binary needs %q", libs)
	}
	if runtime.GOOS != "linux" {
		return
	}
	run := exec.Command(bin, "version")
	run.Env = []string{} // as in an empty container
	out, err := run.CombinedOutput()
	if err != nil || !regexp.MustCompile(`^turngate \S+ \(commit [0-9a-z]+(\+changes)?, go1\.\S+\)\n$`).Match(out) {
		t.Errorf("version says %q (%v)", out, err)
	}
}

// TestContainerfile holds the image to what the binary and its defaults need.
func TestContainerfile(t *testing.T) {
	b, err := os.ReadFile("../../Containerfile")
	if err != nil {
		t.Fatal(err)
	}
	_, last, ok := strings.Cut(string(b), "\nFROM scratch\n")
	if !ok || strings.Contains(last, "\nRUN ") {
		t.Fatal("the image is not made from scratch alone")
	}
	for _, want := range []string{
		"/etc/ssl/certs/ca-certificates.crt\n", // without it no upstream's certificate is known
		"USER 65532:65532\n",
		"XDG_STATE_HOME=/state", "--chown=65532:65532 /state /state", // where responses are kept by default
		"COPY dist/turngate-linux-${ARCH} /turngate\n",
	} {
		if !strings.Contains(last, want) {
			t.Errorf("no %q", want)
		}
	}
}
