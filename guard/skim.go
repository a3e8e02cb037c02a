package guard

import (
	"bytes"

	"turngate/sse"
)

// Skim implements [sse.Skim]: it takes frames like the last one inspected that
// decided nothing, and notes what they say. It takes nothing once the turn has
// been refused or has ended. b is neither kept nor changed.
func (g *Guard) Skim(b []byte) (n, events int) {
	g.forget()
	if g.refusal != nil || g.turn.Terminal != KindNone {
		return 0, 0
	}
	for {
		m, number, numbered := g.last.matchFrame(b[n:])
		if m == 0 {
			return n, events
		}
		g.turn.count(number, numbered)
		n += m
		events++
	}
}

// cleared reports whether the event of a plain frame decides nothing, by its form
// and its type, and returns its number. The event line may be missing, and say
// nothing else.
func (g *Guard) cleared(f *sse.Frame) (number int64, numbered, ok bool) {
	t := &g.last
	if number, numbered, ok = t.matchData(f.Data); ok {
		return number, numbered, f.Event == nil || bytes.Equal(f.Event, t.typ)
	}
	var vary variables
	e, ok := readFlat(f.Data, &vary)
	if !ok || !carriesNothing(e.typ) || f.Event != nil && !bytes.Equal(f.Event, e.typ) {
		return 0, false, false
	}
	t.keep(f, &e, &vary)
	return e.sequence, e.sequenced, true
}
