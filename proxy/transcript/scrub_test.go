package transcript

import (
	"bytes"
	"strings"
	"testing"
)

func TestScrubberInPieces(t *testing.T) {
	var s secrets
	s = s.add("sk-123456", "sk-123456-longer", "short", "sk-123456")
	const text = "a sk-123456 b sk-123456-longer c short d sk-12345 sk-123456"
	const want = "a ********* b **************** c short d sk-12345 *********"
	for size := 1; size <= len(text); size++ {
		var out bytes.Buffer
		w := scrubber{dst: &out, secrets: s}
		for rest := text; rest != ""; {
			n := min(size, len(rest))
			if m, err := w.Write([]byte(rest[:n])); m != n || err != nil {
				t.Fatal(m, err)
			}
			rest = rest[n:]
		}
		if err := w.flush(); err != nil {
			t.Fatal(err)
		}
		if out.String() != want {
			t.Errorf("in pieces of %d: %q, want %q", size, out.String(), want)
		}
	}
}

// FuzzScrubber cuts a text in two anywhere: no secret comes through, and all
// else does.
func FuzzScrubber(f *testing.F) {
	f.Add([]byte("data: hush-hush-1"), "hush-hush-1", 9)
	f.Add([]byte("aaaaaaaaaaaa"), "aaaaaaa", 5)
	f.Fuzz(func(t *testing.T, text []byte, secret string, cut int) {
		if strings.Contains(secret, "*") || cut < 0 || cut > len(text) {
			t.Skip()
		}
		var out bytes.Buffer
		w := scrubber{dst: &out, secrets: secrets{}.add(secret)}
		w.Write(bytes.Clone(text[:cut]))
		w.Write(bytes.Clone(text[cut:]))
		w.flush()
		got := out.Bytes()
		if len(secret) >= minSecret && bytes.Contains(got, []byte(secret)) {
			t.Errorf("%q came through in %q", secret, got)
		}
		if len(got) != len(text) {
			t.Fatalf("%d bytes, want %d", len(got), len(text))
		}
		for i, b := range got {
			if b != text[i] && b != '*' {
				t.Fatalf("byte %d is %q, want %q", i, b, text[i])
			}
		}
	})
}
