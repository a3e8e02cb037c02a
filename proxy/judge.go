package proxy

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"time"

	"turngate/guard"
	"turngate/proxy/transcript"
)

// Recorded is a turn that has been: what was asked and what was answered.
type Recorded struct {
	ID      string      // request id, for the refusals
	Header  http.Header // of the client; it tells a Codex
	Request []byte      // the client's body; nil: none could be read
	Sent    []byte      // the body that went upstream; nil: the client's

	Response *http.Response // nil: no head came
	End      transcript.End // what followed the last byte of its body

	// Local is the code of the error with which the turn ended where that came
	// of neither the request nor the answer; "" else.
	Local string
}

// Verdict is how a turn was judged.
type Verdict struct {
	Outcome         string // as in turngate_turns_total
	UpstreamOutcome string // as in turngate_upstream_outcomes_total
	Reason          string // why turngate ended the turn: a refusal's reason or an error's code; "" if it did not
	Message         string // the same in words
	Findings        []Finding
	Events          int      // of the stream, those behind its end aside
	Catalog         []string // what the request declared
}

// Finding is a refusal, or with mode [guard.Report] what would have been one.
type Finding struct {
	Mode guard.Mode
	*guard.Refusal
}

// Refused reports whether turngate put an end of its own in place of what the
// upstream sent.
func (v *Verdict) Refused() bool {
	switch outcome(v.Outcome) {
	case outcomeCompleted, outcomeIncomplete, outcomeFailed, outcomeClientGone:
		return false
	}
	return true
}

// drainLimit is what reading a recorded answer to its end may take.
const drainLimit = 24 * time.Hour

// Judge says how a proxy with this one upstream takes a turn. The turn runs
// through the same code as a live one; only its network is a recording. The body
// of rec.Response is read piece by piece, and closed. maxEventBytes is
// [Config.MaxEventBytes].
func Judge(u Upstream, maxEventBytes int64, rec Recorded) (*Verdict, error) {
	u.IdleTimeout = 0 // time does not pass in a recording
	p, err := New(Config{Upstreams: []Upstream{u}, MaxEventBytes: maxEventBytes, DrainTimeout: drainLimit})
	if err != nil {
		return nil, err
	}
	r := &http.Request{Method: http.MethodPost, URL: &url.URL{Path: "/v1/responses"}, Header: rec.Header}
	t := &turn{exchange: p.newExchange(nowhere{}, r), transport: "json"}
	t.exchange.turn, t.exchange.id = true, rec.ID
	v := &Verdict{}
	t.onFinding = func(f *guard.Refusal, m guard.Mode) { v.Findings = append(v.Findings, Finding{m, f}) }
	t.judge(rec, v)
	t.account()
	if t.detached != nil {
		t.detached()
	}
	if rec.Response != nil {
		rec.Response.Body.Close()
	}
	v.Outcome, v.UpstreamOutcome = string(t.outcome), string(t.upstream)
	if t.failure != nil && v.Refused() {
		v.Reason, v.Message = t.failure.code, t.failure.message
	}
	if t.guard != nil {
		v.Events = t.guard.Turn().Events
	}
	return v, p.Shutdown(context.Background())
}

// judge is run with a recording for a client and an upstream.
func (t *turn) judge(rec Recorded, v *Verdict) {
	if rec.Local != "" {
		t.fail(unjudged(rec.Local))
		return
	}
	req, f := t.reread(rec)
	if f != nil {
		t.fail(f)
		return
	}
	v.Catalog = req.Catalog.Declared()
	if f := t.accept(req); f != nil {
		t.fail(f)
		return
	}
	t.newGuard()
	t.newContext()
	if rec.Response == nil {
		f := unanswered(rec.End)
		t.unsent(f)
		t.fail(f)
		return
	}
	rec.Response.Body = &replayed{ReadCloser: rec.Response.Body, end: rec.End, turn: t}
	t.answer(rec.Response)
}

// reread reads the request as the client sent it, with the declarations of what
// went upstream (G2).
func (t *turn) reread(rec Recorded) (*guard.Request, *failure) {
	req, err := t.p.tools.ReadRequest(rec.Request)
	if err != nil {
		e, _ := errors.AsType[*guard.RequestError](err)
		return nil, invalidRequest(e)
	}
	if rec.Sent != nil {
		if sent, err := t.p.tools.ReadRequest(rec.Sent); err == nil {
			req.Catalog.Add(sent.Catalog)
		}
	}
	return req, nil
}

// unjudged is the failure of a turn that ended before anything was sent.
func unjudged(code string) *failure {
	if code == codeClientGone {
		return clientGone()
	}
	return local(http.StatusServiceUnavailable, code, "", "turngate: the turn ended before anything was sent upstream.")
}

// unanswered is the failure of a request that got no response head.
func unanswered(end transcript.End) *failure {
	switch end {
	case transcript.EndClientGone:
		return clientGone()
	case transcript.EndHeaderTimeout:
		return upstreamTimeout(errHeaderTimeout)
	case transcript.EndShutdown:
		return shuttingDown()
	}
	return upstreamUnreachable("other", errors.New("no response head was recorded"))
}

// replayed is the body of a recorded answer: it ends as the live one did.
type replayed struct {
	io.ReadCloser
	end  transcript.End
	turn *turn
}

func (r *replayed) Read(p []byte) (int, error) {
	n, err := r.ReadCloser.Read(p)
	if err != io.EOF {
		return n, err
	}
	cut := func(cause error) (int, error) {
		r.turn.cancel(cause)
		return n, context.Canceled
	}
	switch r.end {
	case transcript.EndReset:
		return n, io.ErrUnexpectedEOF
	case transcript.EndStalled:
		return cut(errIdle)
	case transcript.EndDrained:
		return cut(errDrained)
	case transcript.EndShutdown:
		return cut(errShutdown)
	case transcript.EndClientGone, transcript.EndUnread:
		return cut(errClientGone)
	}
	return n, io.EOF
}

// nowhere is a client that takes everything.
type nowhere struct{}

func (nowhere) Header() http.Header              { return http.Header{} }
func (nowhere) Write(b []byte) (int, error)      { return len(b), nil }
func (nowhere) WriteHeader(int)                  {}
func (nowhere) Flush()                           {}
func (nowhere) SetWriteDeadline(time.Time) error { return nil }
