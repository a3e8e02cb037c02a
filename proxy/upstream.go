package proxy

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"time"
)

// send makes the upstream request of a turn and waits for the response head.
func (t *turn) send(b *body) (*http.Response, *failure) {
	req := t.route.request(t.ctx, http.MethodPost, "responses", t.r)
	req.ContentLength = int64(len(b.bytes))
	req.Body = b.reader()
	req.GetBody = func() (io.ReadCloser, error) { return b.reader(), nil }
	t.span.pass(req.Header, t.route)
	t.recording.sent(req, b)
	resp, f := t.roundTrip(t.route, req, t.cancel)
	if f == nil {
		return resp, nil
	}
	t.unsent(f)
	return nil, f
}

// unsent notes what became of a request that got no response head.
func (t *turn) unsent(f *failure) {
	switch f.outcome {
	case outcomeClientGone:
		t.end(upstreamCancelled)
	case outcomeTimeout:
		t.end(upstreamTimedOut)
	default:
		t.end(upstreamUnreached)
	}
}

// request makes a request to the upstream in place of the client's.
func (r *route) request(ctx context.Context, method, rest string, client *http.Request) *http.Request {
	req := &http.Request{
		Method: method, URL: r.target(rest, client.URL.RawQuery), Host: r.base.Host,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: r.upstreamHeader(client.Header),
	}
	return req.WithContext(ctx)
}

// roundTrip sends one request and waits for the head of its response, at most
// for the header timeout. It follows no redirect. Failures are opaque to the
// client (E2); cancel is told the cause of a timeout.
func (ex *exchange) roundTrip(r *route, req *http.Request, cancel context.CancelCauseFunc) (*http.Response, *failure) {
	if ex.cfg.HeaderTimeout > 0 {
		timer := time.AfterFunc(ex.cfg.HeaderTimeout, func() { cancel(errHeaderTimeout) })
		defer timer.Stop()
	}
	resp, err := r.transport.RoundTrip(req)
	if err == nil {
		return resp, nil
	}
	switch cause := context.Cause(req.Context()); {
	case errors.Is(cause, errClientGone):
		return nil, clientGone()
	case errors.Is(cause, errHeaderTimeout):
		return nil, upstreamTimeout(cause)
	case errors.Is(cause, errShutdown):
		return nil, shuttingDown()
	}
	return nil, upstreamUnreachable(faultKind(err), unquoted(err))
}

// unquoted returns err, cut where net/http begins to quote what the upstream
// sent: the log holds no bodies (E7).
func unquoted(err error) error {
	before, _, found := strings.Cut(err.Error(), `"`)
	if !found {
		return err
	}
	return errors.New(strings.TrimSpace(before))
}

// faultKind names a transport error for the metrics.
func faultKind(err error) string {
	var dns *net.DNSError
	var op *net.OpError
	var cert *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	var alert tls.AlertError
	switch {
	case errors.As(err, &dns):
		return "dns"
	case errors.As(err, &cert), errors.As(err, &record), errors.As(err, &alert):
		return "tls"
	case errors.As(err, &op) && op.Op == "dial":
		return "connect"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.As(err, &op):
		return "reset"
	case strings.Contains(err.Error(), "malformed HTTP"), strings.Contains(err.Error(), "header"):
		return "protocol"
	}
	return "other"
}

// isRateLimit reports whether the code of an upstream's error says that too much
// was asked for (S7b).
func isRateLimit(code string) bool {
	switch code {
	case "rate_limit_exceeded", "rate_limit_error", "too_many_requests", "slow_down",
		"insufficient_quota", "usage_limit_reached", "429":
		return true
	}
	return false
}

// decoded undoes a content encoding that the upstream used although it was
// asked for none (G14). ok is false for encodings that cannot be read.
func decoded(resp *http.Response) (body io.ReadCloser, ok bool) {
	enc := strings.ToLower(strings.TrimSpace(resp.Header.Get("Content-Encoding")))
	switch enc {
	case "", "identity":
		return resp.Body, true
	case "gzip", "zstd":
		dec, err := decoder(enc, resp.Body)
		if err != nil {
			return resp.Body, false
		}
		return struct {
			io.Reader
			io.Closer
		}{dec, closers{dec, resp.Body}}, true
	}
	return resp.Body, false
}

type closers []io.Closer

func (c closers) Close() error {
	var err error
	for _, x := range c {
		err = errors.Join(err, x.Close())
	}
	return err
}
