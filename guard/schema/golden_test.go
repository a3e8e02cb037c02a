package schema

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestGolden compares hash and summary of the schemas in testdata/golden with
// what they have always been: a hash that changes is seen as drift by whoever
// stores it.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/golden/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no schemas: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".json"), func(t *testing.T) {
			schema := readTestdata(t, file)
			want := string(readTestdata(t, strings.TrimSuffix(file, ".json")+".golden"))
			got := Hash(schema) + "\n" + string(Summary(schema)) + "\n"
			if got != want {
				t.Errorf("got:\n%swant:\n%s", got, want)
			}
		})
	}
}

func readTestdata(t testing.TB, file string) []byte {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
