package guard

import (
	"fmt"
	"strings"
	"testing"
)

// slowly reads the string at the start of b byte by byte.
func slowly(b []byte) (end int, ok bool) {
	s := scanner{b: b, i: 1}
	ok = s.text()
	return s.i, ok
}

func quickly(b []byte) (end int, ok bool) {
	s := scanner{b: b}
	_, err := s.quoted()
	return s.i, err == nil
}

// Whatever stands in a string, at whatever place in a block: the way by blocks
// says the same as the way by bytes, and finds an error at the same place.
func TestBlocksAgreeWithBytes(t *testing.T) {
	pieces := []string{"", "é", "\x00", "\x1f", "\x20", "\x7f", "\x80", "\xff", `"`, `\`, `\\`, `\\\`, `\"`, `\u`, `\u00e9`, `\u00E9\uD83D`, `\u12`, `\u12g4`, `\u123"`}
	for c := range 256 {
		pieces = append(pieces, `\`+string([]byte{byte(c)}), `\u00`+string([]byte{byte(c)})+"0")
	}
	for _, piece := range pieces {
		for at := range 3 * 64 {
			for _, tail := range []string{`"`, "", strings.Repeat("b", 70) + `",` + "\n", `\"` + strings.Repeat("b", 64) + `"`} {
				b := []byte(`"` + strings.Repeat("a", at) + piece + tail)
				end, ok := slowly(b)
				if gotEnd, got := quickly(b); got != ok || gotEnd != end {
					t.Fatalf("%q: by blocks %v at %d, by bytes %v at %d", b, got, gotEnd, ok, end)
				}
			}
		}
	}
}

// A series of escapes can be as long as it likes.
func TestBlocksInSeries(t *testing.T) {
	for _, piece := range []string{`\`, `\\`, `\n`, `\u00e9`, `a\\`, `a\u00e9`, `\"\`} {
		for n := 1; n < 300; n++ {
			for skip := range 3 {
				b := []byte(`"` + strings.Repeat("a", skip) + strings.Repeat(piece, n) + `"`)
				end, ok := slowly(b)
				if gotEnd, got := quickly(b); got != ok || gotEnd != end {
					t.Fatalf("%d times %s: by blocks %v at %d, by bytes %v at %d", n, piece, got, gotEnd, ok, end)
				}
			}
		}
	}
}

func FuzzBlocks(f *testing.F) {
	f.Add([]byte(`"`+strings.Repeat(`if x {\n\treturn \"\u00e9\"`, 9)+`"`), uint8(3))
	f.Add([]byte(`"\\\\\\\\`), uint8(60))
	f.Fuzz(func(t *testing.T, b []byte, skip uint8) {
		b = fmt.Appendf(nil, `"%s%s`, strings.Repeat("-", int(skip)), b)
		end, ok := slowly(b)
		if gotEnd, got := quickly(b); got != ok || gotEnd != end {
			t.Fatalf("%q: by blocks %v at %d, by bytes %v at %d", b, got, gotEnd, ok, end)
		}
	})
}
