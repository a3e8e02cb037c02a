package proxy

import (
	"bytes"
	"io"
	"net/http"
	"strconv"

	"github.com/tidwall/gjson"

	"turngate/guard"
)

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
		f.kind = httpErrorKind(resp.StatusCode)
		t.fail(f)
	default:
		t.outcome = outcomeUpstreamError
		t.failure = upstreamFailure(resp.StatusCode, "upstream_error", "")
		t.failure.kind = httpErrorKind(resp.StatusCode)
		t.passError(resp, body)
	}
}

// httpErrorKind names an upstream's HTTP error for the metrics.
func httpErrorKind(status int) string {
	if status >= 500 {
		return "http_5xx"
	}
	return "http_4xx"
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
		ex.writeError(resp.StatusCode, errorBody{Message: f.message, Type: f.httpType(), Code: f.code, RequestID: ex.id})
		return
	}
	h["Content-Length"] = []string{strconv.Itoa(len(body))}
	ex.w.WriteHeader(resp.StatusCode)
	ex.w.Write(body)
}

// isJSONObject reports whether b is one JSON object.
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
