package sse

import (
	"slices"
	"testing"
)

// Every stream of up to six of these pieces: our reading does not depend on
// chunking, is go-sse's, and without LoneCR also that of a reader which knows
// only line feeds (G12).
func TestEveryShortStream(t *testing.T) {
	pieces, length := []string{"data:x", "event:e", ":c", "\r", "\n"}, 6
	if testing.Short() || raceEnabled {
		length = 5
	}
	var streams []string
	last := []string{""}
	for range length {
		var next []string
		for _, s := range last {
			for _, p := range pieces {
				next = append(next, s+p)
			}
		}
		streams, last = append(streams, next...), next
	}
	for _, in := range streams {
		frames := mustRead(t, whole(in))
		if !slices.Equal(frames, mustRead(t, every(in, 1))) {
			t.Fatalf("%q reads differently byte by byte", in)
		}
		if rawOf(frames) != in {
			t.Fatalf("%q lost or won bytes: %q", in, rawOf(frames))
		}
		closed, lone := in+frames[len(frames)-1].Closing, false
		for i := range frames {
			lone = lone || frames[i].LoneCR
			frames[i].Cut = false
		}
		ours := ourEvents(frames)
		standard, err := standardEvents(closed)
		standard = slices.DeleteFunc(standard, func(e event) bool { return e.Data == "" }) // dispatched for their event line
		if err != nil || !slices.Equal(ours, standard) {
			t.Fatalf("%q reads %q, go-sse reads %q, %v", closed, ours, standard, err)
		}
		if lf := lineFeedEvents(closed); !lone && !slices.Equal(ours, lf) {
			t.Fatalf("%q reads %q, line-feed readers see %q, and no frame says LoneCR", closed, ours, lf)
		}
	}
	t.Logf("%d streams", len(streams))
}
