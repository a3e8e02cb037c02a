package proxy

import (
	"context"
	"errors"
	"io"
	"net/http"
)

// servePassed hands a request that is not a turn to an upstream and its answer
// back.
func (p *Proxy) servePassed(ex *exchange, to target) {
	r, body := ex.destination(to)
	if r == nil {
		return
	}
	ctx, cancel := context.WithCancelCause(ex.r.Context())
	defer cancel(nil)
	req := r.request(ctx, ex.r.Method, to.escaped(), ex.r)
	if len(body.bytes) > 0 {
		req.ContentLength = int64(len(body.bytes))
		req.Body = body.reader()
		req.GetBody = func() (io.ReadCloser, error) { return body.reader(), nil }
	}
	resp, f := ex.roundTrip(r, req, cancel)
	body.release()
	if f != nil {
		if ex.r.Context().Err() == nil { // else it is the client who went away
			ex.failAsked(r, f)
		}
		return
	}
	pulse := newPulse(resp, r.IdleTimeout, cancel)
	defer pulse.stop()
	ex.pass(ctx, r, resp)
}

// destination returns where a request goes and with which body, or nil if it was
// answered without an upstream.
func (ex *exchange) destination(to target) (*route, *body) {
	r := ex.cfg.routeFor("")
	if r.withholds && !to.known(ex.r.Method) {
		// In the operator's name only what is known is let through.
		ex.fail(notFound(to.clean))
		return nil, nil
	}
	if id, ok := to.aboutResponse(ex.r.Method); ok && ex.cfg.replays() {
		if r = ex.serveStored(id, to); r == nil {
			return nil, nil
		}
	}
	body, f := ex.readBody()
	if f == nil && to.takesInput(ex.r.Method) {
		received := body
		if r, body, f = ex.expandPassed(received); body != received {
			received.release()
		}
	}
	if f != nil {
		ex.failPassed(f)
		return nil, nil
	}
	return r, body
}

// failPassed answers with f, in which no upstream had part.
func (ex *exchange) failPassed(f *failure) {
	if f.cause != nil && f.outcome != outcomeClientGone {
		ex.log.Warn("request failed", "request_id", ex.id, "error", f.code, "cause", f.cause)
	}
	ex.fail(f)
}

// failAsked answers with f, in which the upstream had part.
func (ex *exchange) failAsked(r *route, f *failure) {
	ex.noteFault(r, f)
	ex.fail(f)
}

// noteFault counts and logs f.
func (ex *exchange) noteFault(r *route, f *failure) {
	r.m.fault(f.kind)
	ex.log.Warn("request failed", "request_id", ex.id, "upstream", r.Name, "error", f.code, "cause", f.cause)
}

// pass hands an answer back as it comes. ctx is that of the request upstream.
func (ex *exchange) pass(ctx context.Context, r *route, resp *http.Response) {
	defer resp.Body.Close()
	switch {
	case resp.StatusCode >= 400:
		body, f := ex.p.readError(r, resp)
		if f != nil {
			ex.failAsked(r, f)
			return
		}
		r.m.fault(httpErrorKind(resp.StatusCode))
		ex.passError(resp, body)
		return
	case resp.StatusCode < 200 || resp.StatusCode >= 300 && resp.StatusCode != http.StatusNotModified:
		ex.failAsked(r, protocolError(errors.New("upstream answered "+resp.Status)))
		return
	}
	raw, ok := decoded(resp)
	if ex.r.Method == http.MethodHead || resp.StatusCode == http.StatusNoContent || resp.StatusCode == http.StatusNotModified {
		raw, ok = resp.Body, true // its encoding is that of a body it does not have
	}
	if !ok {
		ex.failAsked(r, protocolError(errors.New("unreadable content encoding")))
		return
	}
	copyResponseHeader(ex.w.Header(), resp.Header)
	ex.w.WriteHeader(resp.StatusCode)
	client := http.NewResponseController(ex.w)
	buf := ex.p.buffers.Get(32 << 10)
	defer ex.p.buffers.Put(buf)
	for {
		n, err := raw.Read(buf.B)
		if n > 0 {
			if _, err := ex.w.Write(buf.B[:n]); err != nil {
				return
			}
			client.Flush()
		}
		if err == io.EOF {
			return
		}
		if err != nil {
			switch {
			case ex.r.Context().Err() != nil: // it is the client who went away
			case errors.Is(context.Cause(ctx), errIdle):
				ex.noteFault(r, stalled())
			default:
				ex.noteFault(r, truncated(err))
			}
			// The client must not take half an answer for a whole one.
			panic(http.ErrAbortHandler)
		}
	}
}
