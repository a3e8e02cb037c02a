package proxy

import (
	"context"
	"errors"
	"io"
	"net/http"

	"turngate/guard"
	"turngate/sse"
)

// finish ends the client's answer by how the loop ended.
func (s *stream) finish(err error) {
	t := s.guard.Turn()
	if errors.Is(err, sse.ErrFrameTooLong) && t.Terminal == guard.KindNone {
		s.guard.Oversized(s.cfg.MaxEventBytes)
		err = errRefused
	}
	switch {
	case errors.Is(err, errRefused):
		s.refuse()
	case t.Terminal != guard.KindNone: // whatever came after it
		s.outcome = outcomeOf(t.Terminal)
		s.end(upstreamOutcomeOf(t.Terminal))
	case errors.Is(err, errWrite):
		s.outcome, s.failure = outcomeClientGone, clientGone()
		s.failure.cause = err
		s.end(upstreamCancelled)
	case err == io.EOF && s.route.PassMissingEnd && s.begun && !t.Error.Seen:
		s.outcome = outcomeCompleted
		s.end(upstreamCompleted)
	case err == io.EOF && !s.begun:
		s.end(upstreamHTTPError)
		s.fail(protocolError(errors.New("event stream without an event")))
	default:
		f, o := s.broken(err)
		s.end(o)
		s.endWith(f)
	}
}

// broken says what a body means that ended or broke before the turn did.
func (t *turn) broken(err error) (*failure, upstreamOutcome) {
	switch cause := context.Cause(t.ctx); {
	case errors.Is(cause, errClientGone):
		return clientGone(), upstreamCancelled
	case errors.Is(cause, errShutdown):
		return shuttingDown(), upstreamCancelled
	case t.guard.Turn().Error.Seen: // the error event was the upstream's last word
		e := t.guard.Turn().Error
		f := upstreamFailure(http.StatusBadGateway, e.Code, e.Message)
		f.outcome = outcomeFailed
		return f, upstreamFailed
	case errors.Is(cause, errIdle):
		return stalled(), upstreamTimedOut
	}
	return truncated(err), upstreamTruncated
}

// refuse ends the client's answer at once and reads the upstream on for a short
// time, so that what was spent is still accounted (S5).
func (s *stream) refuse() {
	s.upstream = upstreamPending
	s.leave()
	s.endWith(refused(s.guard.Refused()))
	s.cancelAfter(s.cfg.DrainTimeout)
	body := s.resp.Body
	reader := s.reader
	s.reader = nil
	s.detached = func() { s.drain(reader, body) }
}

// drain reads what is left of a refused stream, for the accounts only.
func (s *stream) drain(reader *sse.Reader, body io.Closer) {
	var err error
	for err == nil && s.guard.Turn().Terminal == guard.KindNone {
		var f *sse.Frame
		if f, err = reader.Next(); err == nil {
			s.guard.Account(f)
		}
	}
	o := upstreamOutcomeOf(s.guard.Turn().Terminal)
	if s.guard.Turn().Terminal == guard.KindNone {
		if o = upstreamTruncated; context.Cause(s.ctx) != nil || errors.Is(err, sse.ErrFrameTooLong) {
			o = upstreamCancelled
		}
	}
	s.end(o)
	body.Close()
	reader.Release()
	s.accountUpstream()
	s.p.recent.update(s.id, func(r *turnRecord) {
		r.UpstreamOutcome, r.Tokens = string(o), tokens(s.guard.Turn().Usage)
	})
}

// endWith ends the client's answer with a failure: as events if the client
// waits for a stream's, else as the HTTP error it still can be.
func (s *stream) endWith(f *failure) {
	s.failure, s.outcome = f, f.outcome
	if f.outcome == outcomeClientGone {
		return
	}
	if !s.begun && f.refusal == nil {
		s.fail(f)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	if !s.begun {
		s.begin()
	}
	if err := s.write(append(s.closing(), s.failureEvents(s.guard.Turn(), f)...), true); err != nil && f.refusal == nil {
		s.outcome = outcomeClientGone
	}
}
