package mock

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"time"
)

// play answers one request with the turn.
func (t Turn) play(w http.ResponseWriter, r *http.Request) outcome {
	rc := http.NewResponseController(w)
	if t.Fault != None && t.At < 0 {
		if t.Fault == Cut {
			return outcomeBroken
		}
		if out, over := t.fail(rc, r.Context()); over {
			return out
		}
	}
	t.writeHead(w)
	_ = rc.Flush() // the head goes out even if the body is late

	at := len(t.Body)
	if t.Fault != None && t.At >= 0 {
		at = min(t.At, len(t.Body))
	}
	p := pacer{w: w, flush: rc.Flush, ctx: r.Context(), chunk: t.Chunk, interval: t.Interval, arrivals: t.Arrivals}
	if !p.send(t.Body[:at]) {
		return outcomeGone
	}
	if t.Fault != None && t.At >= 0 {
		if out, over := t.fail(rc, r.Context()); over {
			return out
		}
	}
	if !p.send(t.Body[at:]) {
		return outcomeGone
	}
	return outcomeWhole
}

// fail lets the turn's fault happen. It reports how the answer ended, and false
// if it goes on after a stall.
func (t Turn) fail(rc *http.ResponseController, ctx context.Context) (out outcome, over bool) {
	switch t.Fault {
	case Cut:
		return outcomeWhole, true
	case Abort:
		return outcomeBroken, true
	case Reset:
		if reset(rc) {
			return outcomeReset, true
		}
		return outcomeBroken, true
	case Stall:
		select {
		case <-ctx.Done():
			return outcomeGone, true
		case <-t.Resume: // nil blocks for ever
			return outcomeWhole, false
		}
	}
	return outcomeWhole, false
}

// reset closes the client's connection with a TCP reset. What was flushed before
// is in the client's receive queue by then and can still be read.
func reset(rc *http.ResponseController) bool {
	conn, _, err := rc.Hijack()
	if err != nil {
		return false // HTTP/2 has no connection to give
	}
	if inner, ok := conn.(interface{ NetConn() net.Conn }); ok {
		conn = inner.NetConn() // below TLS, whose Close would send an alert first
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
	return true
}

// pacer writes a body in the pieces and at the pace that a turn asks for.
type pacer struct {
	w        http.ResponseWriter
	flush    func() error
	ctx      context.Context
	chunk    int
	interval time.Duration
	started  bool // an event was begun, so the next one waits

	arrivals []Arrival // of what is still to be sent
	sent     int
	due      time.Duration // when the last piece was
}

// send writes body and reports whether the client is still there.
func (p *pacer) send(body []byte) bool {
	if len(p.arrivals) > 0 {
		return p.arrive(body)
	}
	if p.chunk > 0 && p.interval == 0 {
		return p.pieces(body) // chunks may then span events
	}
	for len(body) > 0 {
		n := eventLen(body)
		if p.started && p.interval > 0 && !p.wait(p.interval) {
			return false
		}
		p.started = true
		if !p.pieces(body[:n]) {
			return false
		}
		body = body[n:]
	}
	return true
}

// pieces writes b, flushing each chunk.
func (p *pacer) pieces(b []byte) bool {
	for len(b) > 0 {
		n := len(b)
		if p.chunk > 0 {
			n = min(n, p.chunk)
		}
		if _, err := p.w.Write(b[:n]); err != nil {
			return false
		}
		if err := p.flush(); err != nil || p.ctx.Err() != nil {
			return false
		}
		b = b[n:]
	}
	return true
}

// arrive writes body in the pieces in which it arrived once, with the pauses
// that were between them.
func (p *pacer) arrive(body []byte) bool {
	for len(body) > 0 {
		if len(p.arrivals) > 0 && p.arrivals[0].Offset <= p.sent {
			pause := p.arrivals[0].At - p.due
			if p.sent > 0 && pause > 0 && !p.wait(pause) {
				return false
			}
			p.due, p.arrivals = p.arrivals[0].At, p.arrivals[1:]
			continue
		}
		n := len(body)
		if len(p.arrivals) > 0 {
			n = min(n, p.arrivals[0].Offset-p.sent)
		}
		if !p.pieces(body[:n]) {
			return false
		}
		p.sent += n
		body = body[n:]
	}
	return true
}

// wait lets d pass and reports whether the client is still there.
func (p *pacer) wait(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-p.ctx.Done():
		return false
	}
}

// eventLen returns the length of the first event in b, its blank line included,
// or of all of b if no blank line follows. It is deliberately not the reader of
// package sse, which is tested with what this one sends.
func eventLen(b []byte) int {
	for i := 0; i < len(b); i++ {
		next := bytes.IndexAny(b[i:], "\r\n")
		if next < 0 {
			break
		}
		i += next
		for _, blank := range []string{"\n\n", "\r\n\r\n", "\r\r"} {
			if bytes.HasPrefix(b[i:], []byte(blank)) {
				return i + len(blank)
			}
		}
	}
	return len(b)
}
