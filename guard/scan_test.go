package guard

import (
	"bytes"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

// scans reports whether the scanner takes b for one JSON value.
func scans(b []byte) bool {
	s := scanner{b: b}
	return s.skip() == nil && s.end()
}

// decodes is the oracle: what jsontext takes for one.
func decodes(b []byte) bool {
	return jsontext.Value(b).IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}

func TestScannerIsStrict(t *testing.T) {
	for _, s := range []string{
		``, ` `, `{}`, `[]`, `{`, `[`, `{"a":1}`, `{"a":1,}`, `{"a" : [1, -0.5e+3, true, false, null, "x"]}`, `{a:1}`,
		`{"a":1}x`, `{"a":1} `, `[1,]`, `[,1]`, `01`, `-`, `-0`, `1.`, `.5`, `1e`, `1e5`, `1E-5`, `nul`, `nullx`, `true`, `tru`,
		`"a`, `"a\`, `"a\"`, `"a\""`, `"\q"`, `"\u12"`, `"\u12G4"`, `"\u12aF"`, "\"a\nb\"", "\"12345678\x1f\"", "\"\x7f\xff\"",
		`"\ud800"`, `{"a":1 "b":2}`, `{"a"1}`, `{"a":1,"a":2}`, `{"a":}`, `[1 2]`, "\x00", "{}\x00", "\v{}",
		`{"long":"` + strings.Repeat(`x\n`, 1000) + `"}`,
	} {
		if got, want := scans([]byte(s)), decodes([]byte(s)); got != want {
			t.Errorf("%.60q: scanner says %v, jsontext %v", s, got, want)
		}
	}
}

func TestScannerDepth(t *testing.T) {
	for _, n := range []int{maxDepth, maxDepth + 1, 6 << 20} {
		for _, pair := range []string{"[]", `{"a":1}`} {
			open, shut := pair[:len(pair)/2], "]"
			if pair[0] == '{' {
				open, shut = `{"a":`, "}"
			}
			b := []byte(strings.Repeat(open, n) + "1" + strings.Repeat(shut, n))
			if got, want := scans(b), n <= maxDepth; got != want {
				t.Errorf("%d levels of %s: %v, want %v", n, open, got, want)
			}
		}
	}
}

// A megabyte of escapes was once searched to its end for each of them.
func TestScannerIsLinearInEscapes(t *testing.T) {
	for _, piece := range []string{`\n`, `\"`, `\\`, `\u0041`, `ab\n`} {
		b := []byte(`"` + strings.Repeat(piece, 4<<20/len(piece)) + `"`)
		if !scans(b) {
			t.Errorf("a string of %s is not read", piece)
		}
	}
}

func FuzzScanner(f *testing.F) {
	for _, s := range []string{`{"a":[1,"x\n",null]}`, `"\u00e9\ud83d\ude00"`, `-1.5e9`, `{"a":{"b":[[]]}}`, `[true,false]`, "\"\xff\""} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if got, want := scans(b), decodes(b); got != want {
			t.Fatalf("%q: scanner says %v, jsontext %v", b, got, want)
		}
	})
}

func BenchmarkScanner(b *testing.B) {
	prose := strings.Repeat("The reader cuts the stream into frames, “in place”.\\n", 20<<10)
	code := strings.Repeat(`\tif err != nil {\n\t\treturn fmt.Errorf(\"read: %w\", err)\n\t}\n`, 16<<10)
	for _, c := range []struct{ name, text string }{{"prose", prose}, {"code", code}} {
		body := []byte(`{"input":[{"type":"message","content":"` + c.text + `"}]}`)
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			for b.Loop() {
				if !scans(body) {
					b.Fatal("not read")
				}
			}
		})
		b.Run(c.name+"/jsontext", func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			for b.Loop() {
				if !decodes(body) {
					b.Fatal("not read")
				}
			}
		})
	}
	small := []byte(`{"type":"response.function_call_arguments.delta","item_id":"fc_68af40337e58819392e935fb404414d0","output_index":0,"delta":"{\"pa","sequence_number":7,"obfuscation":"abcdefgh"}`)
	b.Run("delta", func(b *testing.B) {
		for b.Loop() {
			scans(small)
		}
	})
	b.Run("delta/jsontext", func(b *testing.B) {
		for b.Loop() {
			decodes(small)
		}
	})
	if !bytes.HasPrefix(small, []byte("{")) {
		b.Fatal()
	}
}
