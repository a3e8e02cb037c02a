package proxy

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"time"

	"turngate/guard"
)

// relayAnswer relays a 2xx answer: as an event stream or as JSON, by what it is
// and not by what was asked for (S6).
func (t *turn) relayAnswer(resp *http.Response, pulse *pulse) {
	raw, ok := decoded(resp)
	if !ok {
		resp.Body.Close()
		if context.Cause(t.ctx) != nil { // it fell silent, or was cut, in the encoding's head
			t.failBroken(context.Cause(t.ctx))
			return
		}
		t.end(upstreamHTTPError)
		t.fail(protocolError(errors.New("upstream used content encoding " + strconv.Quote(resp.Header.Get("Content-Encoding")))))
		return
	}
	body, f, err := sniff(raw, resp.Header.Get("Content-Type"))
	if err == nil && f == formStream {
		t.relayStream(resp, body, pulse)
		return
	}
	defer resp.Body.Close()
	switch {
	case err != nil:
		pulse.stop()
		t.failBroken(err)
	case f == formJSON:
		t.relayJSON(resp, body, pulse)
	default:
		pulse.stop()
		t.end(upstreamHTTPError)
		t.fail(protocolError(errors.New("2xx body is neither an event stream nor JSON")))
	}
}

// relayJSON reads a JSON answer whole, judges it, and passes it on as it came.
func (t *turn) relayJSON(resp *http.Response, body io.Reader, pulse *pulse) {
	t.transport = "json"
	buf, n, err := readAll(&t.p.buffers, body, int(max(resp.ContentLength, 0)), t.cfg.MaxEventBytes)
	pulse.stop()
	defer t.p.buffers.Put(buf)
	if err != nil && !errors.Is(err, errTooLarge) {
		t.failBroken(err)
		return
	}
	t.firstAt = time.Now()
	if err != nil {
		t.end(upstreamCancelled)
		t.fail(refused(t.guard.Oversized(t.cfg.MaxEventBytes)))
		return
	}
	kind, refusal, ok := t.guard.InspectAnswer(buf.B[:n])
	switch {
	case !ok:
		t.end(upstreamHTTPError)
		t.fail(protocolError(errors.New("2xx JSON body is not a response object")))
	case kind == guard.KindError && t.route.tells(buf.B[:n]):
		t.end(upstreamHTTPError)
		t.fail(protocolError(errors.New("2xx error body repeats the configured key")))
	case kind == guard.KindError:
		t.end(upstreamHTTPError)
		t.relayDisguised(resp, buf.B[:n])
	case refusal != nil:
		t.end(upstreamOutcomeOf(t.guard.Turn().Terminal))
		t.fail(refused(refusal))
	default:
		t.end(upstreamOutcomeOf(kind))
		t.outcome = outcomeOf(kind)
		if kind != guard.KindFailed {
			t.commit()
		}
		body := buf.B[:n]
		if restored := t.guard.Restore(t.asked); restored != nil {
			body = restored
		}
		t.write(resp, resp.StatusCode, body)
	}
}

// failBroken answers for a body that broke before anything was relayed.
func (t *turn) failBroken(err error) {
	f, o := t.broken(err)
	if f.outcome == outcomeTruncated {
		f = upstreamUnreachable("reset", err)
	}
	t.end(o)
	t.fail(f)
}

// write sends a whole body on.
func (t *turn) write(resp *http.Response, status int, body []byte) {
	h := t.w.Header()
	copyResponseHeader(h, resp.Header)
	h["Content-Length"] = []string{strconv.Itoa(len(body))}
	t.w.WriteHeader(status)
	if _, err := t.w.Write(body); err != nil && t.outcome != outcomeRefused {
		t.outcome = outcomeClientGone
	}
}

// relayDisguised passes on an error object that came with status 200 as the
// error that it is (S7b).
func (t *turn) relayDisguised(resp *http.Response, body []byte) {
	e := t.guard.Turn().Error
	status := http.StatusBadGateway
	if isRateLimit(e.Code) {
		status = http.StatusTooManyRequests
	}
	f := upstreamFailure(status, e.Code, e.Message)
	f.kind = "error_body"
	if t.codex && !t.plain {
		t.fail(f)
		return
	}
	t.failure, t.outcome = f, f.outcome
	t.w.Header()[headerError] = []string{"upstream_error"}
	t.write(resp, status, body)
}
