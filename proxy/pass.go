package proxy

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// servePassed hands a request that is not a turn to an upstream and its answer
// back. rest is the cleaned path below /v1/.
func (p *Proxy) servePassed(ex *exchange, rest string) {
	r := ex.cfg.routeFor("")
	if r.injects && !isKnownPath(ex.r.Method, rest) {
		// With the operator's key only what is known is let through.
		ex.fail(notFound("/v1/" + rest))
		return
	}
	body, f := ex.readBody()
	if f != nil {
		ex.fail(f)
		return
	}
	ctx, cancel := context.WithCancelCause(ex.r.Context())
	defer cancel(nil)
	req := r.request(ctx, ex.r.Method, escapePath(rest), ex.r)
	if len(body.bytes) > 0 {
		req.ContentLength = int64(len(body.bytes))
		req.Body = body.reader()
	}
	resp, f := ex.roundTrip(r, req, cancel)
	body.release()
	if f != nil {
		ex.log.Warn("request failed", "request_id", ex.id, "upstream", r.Name, "error", f.code, "cause", f.cause)
		if ex.r.Context().Err() == nil {
			ex.fail(f)
		}
		return
	}
	ex.pass(r, resp)
}

// pass hands an answer back as it comes.
func (ex *exchange) pass(r *route, resp *http.Response) {
	defer resp.Body.Close()
	switch {
	case resp.StatusCode >= 400:
		body, f := ex.p.readError(r, resp)
		if f != nil {
			ex.fail(f)
			return
		}
		ex.passError(resp, body)
		return
	case resp.StatusCode < 200 || resp.StatusCode >= 300 && resp.StatusCode != http.StatusNotModified:
		ex.fail(protocolError(errors.New("upstream answered " + resp.Status)))
		return
	}
	raw, ok := decoded(resp)
	if !ok {
		ex.fail(protocolError(errors.New("unreadable content encoding")))
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
			// The client must not take half an answer for a whole one.
			panic(http.ErrAbortHandler)
		}
	}
}

// isKnownPath reports whether a path is part of the API that turngate speaks.
func isKnownPath(method, rest string) bool {
	head, tail, _ := strings.Cut(rest, "/")
	switch {
	case head == "models":
		return method == http.MethodGet || method == http.MethodHead
	case head != "responses" || tail == "":
		return false
	case tail == "compact" || tail == "input_tokens":
		return method == http.MethodPost
	}
	id, sub, _ := strings.Cut(tail, "/")
	switch sub {
	case "":
		return id != "" && (method == http.MethodGet || method == http.MethodDelete)
	case "input_items":
		return method == http.MethodGet
	case "cancel":
		return method == http.MethodPost
	}
	return false
}

// escapePath escapes the segments of a decoded path again.
func escapePath(p string) string {
	segments := strings.Split(p, "/")
	for i, s := range segments {
		segments[i] = url.PathEscape(s)
	}
	return strings.Join(segments, "/")
}
