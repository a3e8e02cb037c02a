package guard

import "bytes"

// InspectAnswer judges a JSON answer (stream: false). ok is false if it is not
// one JSON object that is a response or an error; the answer is then nobody's.
func (g *Guard) InspectAnswer(body []byte) (kind Kind, r *Refusal, ok bool) {
	body = bytes.TrimPrefix(body, []byte(byteOrderMark)) // clients drop it
	e, err := g.read(body)
	switch {
	case err != nil:
		if g.active && bytes.HasPrefix(bytes.TrimLeft(body, " \t\r\n"), []byte("{")) && !evidenceFree(body) {
			r = g.found(g.unreadable("an answer that is not valid JSON and could carry a call"))
		}
		return KindBroken, r, r != nil
	case e.raw == nil || !e.isResponse() && !e.isError():
		return KindBroken, nil, false
	case !e.isResponse():
		g.turn.note(KindError, e)
		return KindError, nil, true
	}
	if g.looks && e.suspect(nil) {
		if r := g.judge(valueOf(body), e, answerEvent(e)); r != nil {
			g.turn.noteAnswer(e)
			return KindOther, r, true
		}
	}
	g.turn.noteAnswer(e)
	g.current = &e.snapshot
	return g.turn.Terminal, nil, true
}

// isResponse reports whether a JSON answer is a response object (S7b).
func (e *outline) isResponse() bool { return e.output.isArray() || string(e.object) == `"response"` }

// isError reports whether a JSON answer is an error object; some servers give
// the error as a bare string.
func (e *outline) isError() bool { return value(e.err).isObject() || value(e.err).isString() }

// answerEvent is the event that a JSON answer corresponds to.
func answerEvent(e *outline) string {
	switch string(e.status) {
	case `"incomplete"`:
		return "response.incomplete"
	case `"failed"`, `"cancelled"`:
		return "response.failed"
	}
	return "response.completed"
}
