package guard

import "bytes"

// Asked is what a client asked for and a response object repeats, as raw JSON;
// nil where the client did not ask.
type Asked struct{ PreviousResponseID, Store []byte }

// repeat is where a response object repeats something of its request.
type repeat struct {
	store    bool // else it is previous_response_id
	from, to int  // the value, in the bytes that were read
}

// differs returns what r should say, nil if it does.
func (a *Asked) differs(r repeat, data []byte) []byte {
	want := a.PreviousResponseID
	if r.store {
		want = a.Store
	}
	if want == nil || bytes.Equal(want, data[r.from:r.to]) {
		return nil
	}
	return want
}

// restore returns data, from which s was read, saying what the client asked for
// wherever s repeats it; nil if it does already.
func (s *snapshot) restore(data []byte, asked *Asked) []byte {
	var out []byte
	done := 0
	for _, r := range s.repeats {
		if want := asked.differs(r, data); want != nil {
			out = append(append(out, data[done:r.from]...), want...)
			done = r.to
		}
	}
	if out == nil {
		return nil
	}
	return append(out, data[done:]...)
}

// Snapshot returns the response object of the lifecycle event, or of the JSON
// answer, that was inspected last; nil if that was another event. It lies in the
// bytes that were inspected.
func (g *Guard) Snapshot() []byte {
	if g.current == nil {
		return nil
	}
	return g.current.raw
}

// Restore returns the data of the event, or the JSON answer, that was inspected
// last with what the client asked for put back into its response object; nil if
// nothing of that is there and differs. A request that was rewritten on its way
// comes back with the rewritten values otherwise.
func (g *Guard) Restore(asked Asked) []byte {
	if g.current == nil {
		return nil
	}
	return g.current.restore(g.data, &asked)
}

// Restore does the same to a response object by itself, and returns that if
// nothing differs.
func Restore(response []byte, asked Asked) []byte {
	var e outline
	if e.read(response) != nil {
		return response
	}
	if out := e.snapshot.restore(response, &asked); out != nil {
		return out
	}
	return response
}
