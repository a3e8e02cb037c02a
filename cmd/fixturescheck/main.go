// Command fixturescheck says which rules no fixture and no test names. "make
// fixtures-check" runs it at the top of the module.
//
// testdata/rules.txt lists the ids: those of the rules ("G4", "S7a") and of the
// cases from the field ("K-E6"), with "later" behind those whose time has not
// come. An id is named by a test if its Go file or script has it as a word, as
// part of a range such as "A1-A8", or at the head of a test's name ("TestS9Slow",
// "TestKE6"); and by a fixture if its file's name or its expectation has it.
package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
)

func main() { os.Exit(run(os.DirFS("."), os.Stdout, os.Stderr)) }

// run checks the module in fsys. It returns 0 if every id is named, 1 if one is
// not, 2 if it cannot tell.
func run(fsys fs.FS, stdout, stderr io.Writer) int {
	rules, err := readRules(fsys)
	if err != nil {
		fmt.Fprintf(stderr, "fixturescheck: %v\n", err)
		return 2
	}
	named, err := findNames(fsys)
	if err != nil {
		fmt.Fprintf(stderr, "fixturescheck: %v\n", err)
		return 2
	}
	missing := 0
	for _, r := range rules {
		switch {
		case named[r.id] && r.later:
			fmt.Fprintf(stdout, "%s is named: it is no longer \"later\"\n", r.id)
		case !named[r.id] && !r.later:
			missing++
			fmt.Fprintf(stdout, "%s has no fixture or test that names it\n", r.id)
		}
	}
	fmt.Fprintf(stdout, "%d rules, %d without a fixture or test\n", len(rules), missing)
	if missing > 0 {
		return 1
	}
	return 0
}

// rule is a line of the list.
type rule struct {
	id    string
	later bool
}

func readRules(fsys fs.FS) ([]rule, error) {
	const file = "testdata/rules.txt"
	f, err := fsys.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var rules []rule
	seen := map[string]bool{}
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		text, _, _ := strings.Cut(lines.Text(), "#")
		fields := strings.Fields(text)
		if len(fields) == 0 {
			continue
		}
		later := len(fields) == 2 && fields[1] == "later"
		switch id := fields[0]; {
		case len(fields) > 1 && !later, idOf(id) != id:
			return nil, fmt.Errorf("%s:%d: %q is no id, alone or with \"later\"", file, n, lines.Text())
		case seen[id]:
			return nil, fmt.Errorf("%s:%d: %s is listed twice", file, n, id)
		default:
			seen[id] = true
			rules = append(rules, rule{id, later})
		}
	}
	if len(rules) == 0 {
		return nil, errors.Join(lines.Err(), fmt.Errorf("%s lists nothing", file))
	}
	return rules, lines.Err()
}

// findNames returns the ids that tests and fixtures name.
func findNames(fsys fs.FS) (map[string]bool, error) {
	named := map[string]bool{}
	err := fs.WalkDir(fsys, ".", func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() {
			if name != "." && (strings.HasPrefix(name, ".") || file == "cmd/fixturescheck") { // its tests name what they like
				return fs.SkipDir
			}
			return nil
		}
		fixture := strings.HasPrefix(file, "testdata/") && strings.HasSuffix(name, ".want.json")
		if !fixture && !strings.HasSuffix(name, "_test.go") && path.Ext(name) != ".txtar" {
			return nil
		}
		text, err := fs.ReadFile(fsys, file)
		if err != nil {
			return err
		}
		if fixture {
			text = append(text, "\n"+name...)
		}
		for _, id := range idsIn(text) {
			named[id] = true
		}
		return nil
	})
	return named, err
}
