package proxy

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"turngate/guard"
	"turngate/sse"
)

// errRefused ends a stream whose guard has refused.
var errRefused = errors.New("turn refused")

// errNoTerminal ends a stream that said [DONE] before any terminal event.
var errNoTerminal = errors.New("no terminal event before [DONE]")

// errWrite wraps what went wrong on the client's side.
var errWrite = errors.New("cannot write to the client")

// stream relays one event stream in lockstep: read what has arrived, judge each
// frame, write what may pass, read again. One goroutine does all of it, so the
// verdict cannot race the relay and a slow client slows the upstream down. Only
// heartbeats come from elsewhere, under mu.
type stream struct {
	*turn
	resp   *http.Response
	reader *sse.Reader
	pulse  *pulse
	loneCR bool // of the last frame that passed
	client *http.ResponseController
	conn   *clientConn // nil: another's

	mu         sync.Mutex    // held for every write to the client
	begun      bool          // the head has gone out
	ended      bool          // nothing may be written any more
	beaten     bool          // no more signs of life
	lastSent   time.Duration // since start
	deadlineAt time.Duration // since start: when the write deadline was last moved
	open       bool          // the last frame does not end for all readers, see closing
}

// relayStream relays an answer that is an event stream.
func (t *turn) relayStream(resp *http.Response, body *sniffed, pulse *pulse) {
	s := t.newStream(resp, body, pulse)
	err := sse.Tee(s.reader, s.inspect, s.skim, s)
	pulse.stop()
	s.finish(err)
	s.close()
}

// newStream is apart from relayStream for the depth of the stack: if net/http
// writes the answer's head too far down, each stream keeps a stack of 16 KiB in
// place of 8. keepTime and onClientSide are apart for that as well.
func (t *turn) newStream(resp *http.Response, body *sniffed, pulse *pulse) *stream {
	t.transport = "sse"
	s := &stream{turn: t, resp: resp, pulse: pulse, client: http.NewResponseController(t.w), conn: clientConnOf(t.r)}
	s.reader = sse.NewReader(body.src, &t.p.buffers, int(t.cfg.MaxEventBytes))
	s.reader.Prepend(body.head)
	if t.cfg.Heartbeat > 0 {
		pulse.beat(s)
	}
	return s
}

// inspect judges a frame before it is relayed, and says what is relayed for it.
func (s *stream) inspect(f *sse.Frame, flush func() error) ([]byte, error) {
	kind, refusal := s.guard.Inspect(f)
	if refusal != nil {
		return nil, errRefused
	}
	switch kind {
	case guard.KindOther: // nearly all, and never rewritten
		s.loneCR = f.LoneCR
		return f.Raw, nil
	case guard.KindLate:
		s.route.m.unusual.WithLabelValues(s.route.Name, "late_event").Inc()
		return nil, nil
	case guard.KindBroken: // the stream was cut inside an event
		return nil, nil
	case guard.KindDone:
		if s.guard.Turn().Terminal == guard.KindNone && !s.route.PassMissingEnd {
			return nil, errNoTerminal
		}
	case guard.KindCompleted, guard.KindIncomplete, guard.KindFailed:
		if err := s.keep(kind, flush); err != nil {
			return nil, err
		}
		// The upstream has said all; it gets a little time to close.
		s.cancelAfter(s.cfg.DrainTimeout)
		s.lastBeat()
	}
	s.loneCR = f.LoneCR
	return s.shown(f), nil
}

// skim passes what needs no inspection.
func (s *stream) skim(b []byte) (n, events int) {
	if n, events = s.guard.Skim(b); n > 0 {
		s.loneCR = false
	}
	return n, events
}

// keep makes a record of the turn before the client sees its end (R3). What came
// before the end does not wait for the store.
func (s *stream) keep(kind guard.Kind, flush func() error) error {
	if s.history == nil || kind == guard.KindFailed {
		return nil
	}
	if err := flush(); err != nil {
		return err
	}
	s.commit()
	return nil
}

// shown is the frame as the client gets it: a snapshot says what the client
// asked for, where the request was rewritten (R4).
func (s *stream) shown(f *sse.Frame) []byte {
	if data := s.guard.Restore(s.asked); data != nil {
		return f.WithData(data)
	}
	return f.Raw
}

// cancelAfter cancels the upstream request after d, if it is still running.
func (s *stream) cancelAfter(d time.Duration) {
	timer := time.AfterFunc(d, func() { s.cancel(errDrained) })
	context.AfterFunc(s.ctx, func() { timer.Stop() })
}

// Relay implements sse.Sink: it writes whole frames and flushes them.
func (s *stream) Relay(frames []byte, events int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.begun {
		s.begin()
	}
	if events > 0 && s.firstAt.IsZero() {
		s.firstAt = time.Now()
	}
	s.open = s.loneCR
	s.route.m.events.Add(float64(events))
	s.route.m.bytes.Add(float64(len(frames)))
	return s.write(frames, events > 0)
}

// begin sends the head. It waits for the first frame, so that an answer that
// turns out to be none can still get a status of its own.
func (s *stream) begin() {
	s.begun = true
	h := s.w.Header()
	copyResponseHeader(h, s.resp.Header)
	h["Cache-Control"] = []string{"no-cache, no-transform"}
	h["X-Accel-Buffering"] = []string{"no"}
	if h["Content-Type"] == nil {
		h["Content-Type"] = []string{"text/event-stream; charset=utf-8"}
	}
	s.w.WriteHeader(s.resp.StatusCode)
}

// write sends bytes to the client now. mu is held. A client that takes nothing
// for as long as an upstream may be silent is given up.
func (s *stream) write(b []byte, event bool) error {
	s.keepTime(event)
	s.conn.hold(len(b))
	_, err := s.w.Write(b)
	if err == nil {
		err = s.client.Flush()
	}
	if e := s.conn.release(); err == nil {
		err = e
	}
	return onClientSide(err)
}

// onClientSide makes err, if there is one, an errWrite.
func onClientSide(err error) error {
	if err == nil {
		return nil
	}
	return errors.Join(errWrite, err)
}

// keepTime notes that something is sent now, and how long that may take. mu is
// held.
func (s *stream) keepTime(event bool) {
	now := time.Since(s.start) // costs half of time.Now
	if limit := s.route.IdleTimeout; limit > 0 && (s.deadlineAt == 0 || now-s.deadlineAt > limit/4) {
		s.deadlineAt = now
		s.client.SetWriteDeadline(s.start.Add(now + limit))
	}
	if event || !s.codex {
		s.lastSent = now // Codex's idle timer does not count comments
	}
}

// beat sends a sign of life if the client has had none for the heartbeat
// interval, and returns when to ask again; more is false once the stream has
// ended.
func (s *stream) beat() (due time.Duration, more bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	interval := s.cfg.Heartbeat
	switch quiet := time.Since(s.start) - s.lastSent; {
	case s.ended, s.beaten:
		return 0, false
	case s.firstAt.IsZero():
		return interval, true
	case quiet < interval:
		return interval - quiet, true
	}
	// Without a blank line: openai-python takes each of those for an event, once
	// an id has been seen.
	sign := ": keepalive\n"
	if s.codex {
		sign = "data: {\"type\":\"keepalive\"}\n\n"
	}
	if err := s.write(append(s.closing(), sign...), true); err != nil {
		s.cancel(errClientGone)
		return 0, false
	}
	return interval, true
}

// closing is what comes before anything of turngate's own. Readers that know
// only line feeds are still inside an event that ended in a bare carriage
// return; to the others the blank lines mean nothing. mu is held.
func (s *stream) closing() []byte {
	if !s.open {
		return nil
	}
	s.open = false
	return []byte("\n\n")
}

// lastBeat ends the heartbeats: behind a terminal event nothing is added (S7).
func (s *stream) lastBeat() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.beaten = true
}

// close lets nothing be written any more and gives back what the stream holds.
func (s *stream) close() {
	s.mu.Lock()
	s.ended = true
	s.mu.Unlock()
	s.client.SetWriteDeadline(time.Time{})
	if s.reader != nil {
		s.reader.Release()
		s.resp.Body.Close()
	}
}
