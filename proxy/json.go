package proxy

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/tidwall/gjson"

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
	if f.code == "upstream_truncated" {
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

// relayError passes on an upstream's own HTTP error (E3), except where the
// trouble is the operator's (E3a) or would make Codex hammer (E3b).
func (t *turn) relayError(resp *http.Response) {
	body, refusal := t.p.readError(t.route, resp)
	t.end(upstreamHTTPError)
	switch {
	case refusal != nil:
		t.fail(refusal)
	case resp.StatusCode >= 500 && t.codex && !t.plain:
		f := upstreamFailure(resp.StatusCode, "server_error", errorMessage(body))
		f.kind = "http_5xx"
		t.fail(f)
	default:
		t.outcome = outcomeUpstreamError
		t.failure = upstreamFailure(resp.StatusCode, "upstream_error", "")
		t.failure.kind = "http_4xx"
		if resp.StatusCode >= 500 {
			t.failure.kind = "http_5xx"
		}
		t.passError(resp, body)
	}
}

// maxErrorBody bounds the body of an upstream's HTTP error; the API's are of a
// few hundred bytes.
const maxErrorBody = 1 << 20

// readError reads the body of an upstream's error. A body that is not JSON, or
// that repeats a credential of the proxy's, is returned as nil.
func (p *Proxy) readError(r *route, resp *http.Response) ([]byte, *failure) {
	defer resp.Body.Close()
	if r.withholds && (resp.StatusCode == http.StatusUnauthorized || resp.StatusCode == http.StatusForbidden) {
		return nil, upstreamUnauthorized(resp.StatusCode)
	}
	raw, ok := decoded(resp)
	if !ok {
		return nil, nil
	}
	body, err := io.ReadAll(io.LimitReader(raw, maxErrorBody+1))
	if err != nil || len(body) > maxErrorBody || !isJSONObject(body) || r.tells(body) {
		return nil, nil
	}
	return body, nil
}

// passError writes an upstream's error with its status and headers; without a
// JSON body, with one of ours.
func (ex *exchange) passError(resp *http.Response, body []byte) {
	h := ex.w.Header()
	copyResponseHeader(h, resp.Header)
	if body == nil {
		h[headerError] = []string{"upstream_error"}
		f := upstreamFailure(resp.StatusCode, "upstream_error", "The upstream answered "+strconv.Itoa(resp.StatusCode)+" "+http.StatusText(resp.StatusCode)+" without a readable message.")
		ex.writeJSON(resp.StatusCode, struct {
			Error errorBody `json:"error"`
		}{errorBody{Message: f.message, Type: f.httpType(), Code: f.code, RequestID: ex.id}})
		return
	}
	h["Content-Length"] = []string{strconv.Itoa(len(body))}
	ex.w.WriteHeader(resp.StatusCode)
	ex.w.Write(body)
}

func isJSONObject(b []byte) bool {
	return bytes.HasPrefix(bytes.TrimLeft(b, " \t\r\n"), []byte("{")) && guard.Valid(b)
}

// errorMessage returns the message of an error body, bounded, or "".
func errorMessage(body []byte) string {
	if body == nil {
		return ""
	}
	root := gjson.ParseBytes(body)
	for _, path := range []string{"error.message", "message", "detail", "error"} {
		if m := root.Get(path); m.Type == gjson.String {
			return guard.Shown(m.Str, maxErrorMessage)
		}
	}
	return ""
}

// maxErrorMessage bounds what of an upstream's message is put into an event of
// ours, in characters.
const maxErrorMessage = 1000

func outcomeOf(k guard.Kind) outcome {
	switch k {
	case guard.KindIncomplete:
		return outcomeIncomplete
	case guard.KindFailed:
		return outcomeFailed
	}
	return outcomeCompleted
}

func upstreamOutcomeOf(k guard.Kind) upstreamOutcome {
	switch k {
	case guard.KindIncomplete:
		return upstreamIncomplete
	case guard.KindFailed:
		return upstreamFailed
	}
	return upstreamCompleted
}
