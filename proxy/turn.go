package proxy

import (
	"context"
	"errors"
	"net/http"
	"time"

	"turngate/guard"
)

// turn is a create request on its way: an exchange, where it goes, what the
// guard says of its answer, and how it ended.
type turn struct {
	*exchange
	route   *route
	guard   *guard.Guard
	request *guard.Request
	ctx     context.Context // of the upstream request
	cancel  context.CancelCauseFunc
	leave   func() bool // stop cancelling ctx when the client goes away

	transport string // "sse" or "json": what the answer is
	outcome   outcome
	upstream  upstreamOutcome
	failure   *failure // what the client was told, if it was not the upstream's answer
	status    int      // of the upstream's head
	firstAt   time.Time
	reported  int // findings that were let pass
	ended     time.Time
	recording *recording // nil: the turn is not recorded
	history   *history   // nil: no record is made of the turn
	span      *span      // nil: the turn is not traced
	onFinding func(*guard.Refusal, guard.Mode)

	// detached is what goes on when the client has its answer and the turn was
	// accounted; it has the turn to itself then. nil: nothing.
	detached func()
}

// serveTurn takes a turn from request to end.
func (p *Proxy) serveTurn(ex *exchange) {
	t := &turn{exchange: ex, transport: "json"}
	t.startSpan()
	if !p.running.enter() {
		ex.w.Header()["Connection"] = []string{"close"} // the next one may find another proxy
		t.fail(draining())
		t.account()
		return
	}
	defer p.running.leave()
	t.startRecording()
	defer t.close()

	if n := p.active.Add(1); ex.cfg.MaxStreams > 0 && n > int64(ex.cfg.MaxStreams) {
		p.active.Add(-1)
		t.fail(overloaded())
		return
	}
	defer p.active.Add(-1)
	t.run()
}

// close accounts the turn and lets go on what outlives it.
func (t *turn) close() {
	t.account()
	t.history.release()
	if t.detached == nil {
		t.recording.end()
		return
	}
	t.p.running.follow(func() {
		t.detached()
		t.recording.end()
	})
}

func (t *turn) run() {
	body, f := t.readBody()
	if f != nil {
		t.fail(f)
		return
	}
	t.recording.request(body)
	outgoing, f := t.read(body)
	if outgoing != body {
		body.release()
		body = outgoing
	}
	if f != nil {
		t.fail(f)
		return
	}
	t.route.m.active.Inc()
	defer t.route.m.active.Dec()
	t.newContext()
	resp, f := t.send(body)
	body.release() // the transport keeps a hold of its own while it needs one
	if f != nil {
		t.fail(f)
		return
	}
	t.answer(resp)
}

// read understands the request, chooses the upstream, and returns the body to
// send to it: b itself if that needs no edit.
func (t *turn) read(b *body) (*body, *failure) {
	req, err := t.p.tools.ReadRequest(b.bytes)
	if err != nil {
		e, _ := errors.AsType[*guard.RequestError](err)
		return nil, invalidRequest(e)
	}
	if f := t.accept(req); f != nil {
		return nil, f
	}
	if n := t.p.seen.observe(toolSource{t.toolScope(), t.route.Name}, req.Catalog.Lists(), t.start); n > 0 {
		t.p.metrics.drift.WithLabelValues(t.route.Name).Add(float64(n))
	}
	outgoing, f := t.expand(b)
	if f == nil {
		t.newGuard()
	}
	return outgoing, f
}

// accept chooses the upstream for a request.
func (t *turn) accept(req *guard.Request) *failure {
	t.request, t.model, t.plain = req, req.Model, !req.Stream
	if req.Stream {
		t.transport = "sse"
	}
	t.route = t.cfg.routeFor(req.Model)
	if t.route == nil {
		return modelNotFound(req.Model)
	}
	return nil
}

// newGuard makes the guard of the turn's answer. The catalog is complete.
func (t *turn) newGuard() {
	t.guard = guard.New(t.request.Catalog, guard.Options{
		Undeclared:  t.route.Undeclared,
		Arguments:   t.route.Arguments,
		Approvals:   t.route.Approvals,
		Tools:       t.p.tools,
		HostedCalls: t.route.HostedCalls,
		OnRefusal:   t.onRefusal,
		OnUnjudged:  func(reason string) { t.route.m.unjudged.WithLabelValues(t.route.Name, reason).Inc() },
		OnUnusual:   func(kind string) { t.route.m.unusual.WithLabelValues(t.route.Name, kind).Inc() },
	})
	t.route.m.guards.WithLabelValues(t.route.Name, t.guard.State()).Inc()
}

func (t *turn) onRefusal(r *guard.Refusal, mode guard.Mode) {
	r.Upstream, r.RequestID = t.route.Name, t.id
	t.route.m.refusal(r, mode)
	t.span.finding(r, mode)
	if t.onFinding != nil {
		t.onFinding(r, mode)
	}
	if mode == guard.Report {
		t.reported++
		t.log.Warn("reported call", "request_id", t.id, "upstream", t.route.Name, "reason", r.Reason, "message", r.Message())
	}
}

// newContext makes the upstream request's context: cancelled when the client
// goes away or the proxy stops, but able to outlive the handler (S5).
func (t *turn) newContext() {
	ctx := t.r.Context()
	t.ctx, t.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	gone := context.AfterFunc(ctx, func() { t.cancel(errClientGone) })
	stopping := context.AfterFunc(t.p.stopping, func() { t.cancel(errShutdown) })
	t.leave = func() bool { stopping(); return gone() }
}

// answer relays an upstream's answer by what it is.
func (t *turn) answer(resp *http.Response) {
	t.status = resp.StatusCode
	pulse := newPulse(resp, t.route.IdleTimeout, t.cancel)
	defer pulse.stop()
	t.recording.answer(resp)
	switch {
	case resp.StatusCode >= 400:
		t.relayError(resp)
	case resp.StatusCode < 200 || resp.StatusCode >= 300:
		resp.Body.Close()
		t.end(upstreamHTTPError)
		t.fail(protocolError(errors.New("upstream answered " + resp.Status)))
	default:
		t.relayAnswer(resp, pulse)
	}
}

// fail answers with f and notes the outcome. Nothing may have been sent. A
// client that is gone is answered too: one that is not, after all, must not get
// the empty 200 that net/http sends for silence.
func (t *turn) fail(f *failure) {
	t.failure, t.outcome = f, f.outcome
	t.exchange.fail(f)
}

// end releases the upstream request and notes what the upstream did.
func (t *turn) end(o upstreamOutcome) {
	t.upstream = o
	if t.leave != nil {
		t.leave()
	}
	if t.cancel != nil {
		t.cancel(nil)
	}
}

// account counts and logs the turn, once, when its answer has ended.
func (t *turn) account() {
	now := time.Now()
	t.ended = now
	name := t.upstreamName()
	if t.route != nil {
		t.route.m.duration.Observe(now.Sub(t.start).Seconds())
		if !t.firstAt.IsZero() {
			t.route.m.first.Observe(t.firstAt.Sub(t.start).Seconds())
		}
	}
	t.p.metrics.turns.WithLabelValues(name, t.transport, string(t.outcome)).Inc()
	if f := t.failure; f != nil && t.route != nil {
		t.route.m.fault(f.kind)
	}
	r := t.record(name, now)
	t.logTurn(&r)
	t.p.recent.add(r)
	if t.upstream != upstreamPending {
		t.accountUpstream()
	}
}

// upstreamName is the turn's upstream as metrics and logs name it.
func (t *turn) upstreamName() string {
	if t.route == nil {
		return noUpstream
	}
	return t.route.Name
}

// accountUpstream counts what the upstream did and spent. After a refusal it
// runs later than account, when the rest of the stream has been read.
func (t *turn) accountUpstream() {
	defer t.span.end(t)
	if t.upstream == upstreamNotAsked {
		return
	}
	usage := t.guard.Turn().Usage
	t.p.metrics.outcomes.WithLabelValues(t.route.Name, string(t.upstream)).Inc()
	t.route.m.spent(usage)
}
