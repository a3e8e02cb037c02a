package mock_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"turngate/proxy/mock"
)

func TestLoad(t *testing.T) {
	dir := t.TempDir()
	for name, body := range map[string]string{
		"b.sse": "data: b\n\n", "a.json": "{}", "notes.md": "no turn", "raw.bin": "data: raw\n\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(body), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := mock.Load(filepath.Join(dir, "raw.bin"), dir)
	if err != nil {
		t.Fatal(err)
	}
	want := []mock.Turn{
		{Name: "raw", Body: []byte("data: raw\n\n")},
		{Name: "a", Body: []byte("{}"), ContentType: "application/json"},
		{Name: "b", Body: []byte("data: b\n\n"), ContentType: "text/event-stream"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("turns (-want +got):\n%s", diff)
	}

	for _, path := range []string{t.TempDir(), filepath.Join(dir, "absent.sse")} {
		if _, err := mock.Load(path); err == nil {
			t.Errorf("Load(%q) found turns", path)
		}
	}
}
