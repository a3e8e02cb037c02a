package proxy

import (
	"context"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// pulse watches an upstream's body for silence. It is the reader of the body:
// every byte counts as life, and only time spent waiting for the upstream
// counts as silence, not time spent on a slow client.
type pulse struct {
	src    io.ReadCloser
	idle   time.Duration           // 0: silence is allowed
	cancel context.CancelCauseFunc // told errIdle
	start  time.Time

	waiting atomic.Int64           // when the read in progress began, since start; 0: none
	stream  atomic.Pointer[stream] // gets its heartbeats from the same timer

	mu      sync.Mutex
	timer   *time.Timer
	stopped bool
}

// newPulse puts a pulse in the way of an answer's body.
func newPulse(resp *http.Response, idle time.Duration, cancel context.CancelCauseFunc) *pulse {
	p := &pulse{src: resp.Body, idle: idle, cancel: cancel, start: time.Now()}
	resp.Body = p
	if p.idle > 0 {
		p.next(p.idle)
	}
	return p
}

// Read reads the body.
func (p *pulse) Read(b []byte) (int, error) {
	p.waiting.Store(int64(max(time.Since(p.start), 1)))
	n, err := p.src.Read(b)
	p.waiting.Store(0)
	return n, err
}

// Close closes the body.
func (p *pulse) Close() error { return p.src.Close() }

// beat makes the pulse call s.beat while it is due.
func (p *pulse) beat(s *stream) {
	p.stream.Store(s)
	if p.idle <= 0 || s.cfg.Heartbeat < p.idle {
		p.next(s.cfg.Heartbeat)
	}
}

// next makes the next tick come after d, unless the watch has ended.
func (p *pulse) next(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.stopped:
	case p.timer == nil:
		p.timer = time.AfterFunc(d, p.tick)
	default:
		p.timer.Reset(d)
	}
}

// tick runs when something may be due, and sets the timer for what is next.
func (p *pulse) tick() {
	next := time.Duration(1<<63 - 1)
	if p.idle > 0 {
		next = p.idle
		if since := p.waiting.Load(); since > 0 {
			next = p.idle - (time.Since(p.start) - time.Duration(since))
		}
		if next <= 0 {
			p.cancel(errIdle)
			return
		}
	}
	if s := p.stream.Load(); s != nil {
		due, more := s.beat()
		if !more {
			return
		}
		next = min(next, due)
	}
	p.next(next)
}

// stop ends the watch. A tick that is running may still finish; it does no harm
// to a stream that has ended.
func (p *pulse) stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stopped = true
	if p.timer != nil {
		p.timer.Stop()
	}
}
