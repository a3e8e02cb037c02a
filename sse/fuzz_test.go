package sse

import (
	"fmt"
	"hash/fnv"
	"io"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// FuzzReader: the Raw of all frames is the stream, and no frame depends on how
// the bytes arrive.
func FuzzReader(f *testing.F) {
	for i, in := range corpus {
		f.Add(in, uint64(i), uint8(i))
	}
	f.Fuzz(func(t *testing.T, in string, seed uint64, most uint8) {
		want := mustRead(t, whole(in))
		if raw := rawOf(want); raw != in {
			t.Fatalf("concatenated Raw = %q, want %q", raw, in)
		}
		for i, fr := range want {
			if fr.Raw == "" || fr.Cut && i < len(want)-1 || fr.Cut != (fr.Closing != "") {
				t.Fatalf("frame %d of %q = %+v", i, in, fr)
			}
		}
		src := randomly(in, seed, int(most)+1)
		src.withErr = seed%2 == 1
		if diff := cmp.Diff(want, mustRead(t, src)); diff != "" {
			t.Fatalf("%q in chunks (-whole +chunked):\n%s", in, diff)
		}
		for limit := range min(len(in), 12) {
			a, aerr := readAll(whole(in), limit+1)
			b, berr := readAll(every(in, 1), limit+1)
			if diff := cmp.Diff(a, b); diff != "" || aerr != berr {
				t.Fatalf("%q with limit %d: %v and %v (-whole +byte by byte):\n%s", in, limit+1, aerr, berr, diff)
			}
		}
	})
}

// FuzzTee holds Tee to a model that writes frame after frame.
func FuzzTee(f *testing.F) {
	for i, in := range corpus {
		f.Add(in, uint64(i), uint8(i))
	}
	f.Fuzz(func(t *testing.T, in string, seed uint64, most uint8) {
		w := &wire{}
		if err := Tee(NewReader(randomly(in, seed, int(most)+1), &Buffers{}, 0), pass, nil, w); err != io.EOF {
			t.Fatal(err)
		}
		want := in
		if frames := mustRead(t, whole(in)); len(frames) > 0 {
			want += frames[len(frames)-1].Closing
		}
		if got := w.all(); got != want {
			t.Fatalf("passing all: relayed %q, want %q", got, want)
		}

		// With a limit, what is relayed is what a reader takes that sees each byte
		// alone, and the stream ends as there.
		for limit := range min(len(in), 40) {
			frames, end := readAll(every(in, 1), limit+1)
			want := rawOf(frames)
			if len(frames) > 0 {
				want += frames[len(frames)-1].Closing
			}
			for name, skim := range map[string]Skim{"inspected": nil, "skimmed": skimAll(new([]string))} {
				w := &wire{}
				err := Tee(NewReader(randomly(in, seed, int(most)+1), &Buffers{}, limit+1), pass, skim, w)
				if got := w.all(); got != want || err != end {
					t.Fatalf("%q, %s, limit %d: relayed %q, %v; want %q, %v", in, name, limit+1, got, err, want, end)
				}
			}
		}

		// The same decisions for the model and for Tee, which may skim what passes.
		var model string
		var raws []string
		var events int
		for _, fr := range mustRead(t, whole(in)) {
			raws = append(raws, fr.Raw)
			out := ""
			switch decision(seed, fr.Raw) {
			case passIt:
				out = fr.Raw + fr.Closing
			case replaceIt:
				out = "data: new\n\n"
			case shorten:
				out = fr.Raw[:len(fr.Raw)/2]
			}
			model += out
			if out != "" && fr.Is {
				events++
			}
		}
		var seen []string
		inspect := func(fr *Frame, _ func() error) ([]byte, error) {
			seen = append(seen, string(fr.Raw))
			switch decision(seed, string(fr.Raw)) {
			case passIt:
				return fr.Raw, nil
			case replaceIt:
				return []byte("data: new\n\n"), nil
			case shorten:
				return fr.Raw[:len(fr.Raw)/2], nil
			}
			return nil, nil
		}
		skim := skimIf(func(raw string) bool { return decision(seed, raw) == passIt }, &seen)
		for name, skim := range map[string]Skim{"inspected": nil, "skimmed": skim} {
			seen = nil
			w := &wire{}
			Tee(NewReader(randomly(in, seed, int(most)+1), &Buffers{}, 0), inspect, skim, w)
			if got := w.all(); got != model {
				t.Fatalf("%s: relayed %q, want %q", name, got, model)
			}
			n := 0
			for _, e := range w.events {
				n += e
			}
			if n != events {
				t.Fatalf("%s: %d events relayed, want %d", name, n, events)
			}
			if diff := cmp.Diff(raws, seen); diff != "" {
				t.Fatalf("%q, %s: frames (-want +got):\n%s", in, name, diff)
			}
		}
	})
}

const (
	passIt = iota
	replaceIt
	dropIt
	shorten
)

// decision passes half of the frames, so that runs of them are broken up.
func decision(seed uint64, raw string) int {
	h := fnv.New32a()
	fmt.Fprint(h, seed, raw)
	return max(0, int(h.Sum32()%6)-2)
}
