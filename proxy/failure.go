package proxy

import (
	"fmt"
	"net/http"
	"strconv"
	"time"

	"turngate/guard"
)

// failure is an answer in turngate's own name. It says what the caller may
// know: nothing of hosts, ports, keys or Go errors (E2); the cause goes to the
// log beside it.
type failure struct {
	status  int    // HTTP status for clients in general
	code    string // also the value of x-turngate-error
	message string
	param   string // "" is null
	final   bool   // a retry cannot cure it
	stream  string // code for a Codex stream where it is not the HTTP form of E3b
	after   time.Duration
	refusal *guard.Refusal
	kind    string // label in turngate_upstream_errors_total; "" is none
	cause   error  // for the log only
	outcome outcome
}

// Codes by which other code knows a failure.
const (
	codeClientGone = "client_gone"
	codeShutdown   = "proxy_shutdown"
)

func local(status int, code, param, format string, args ...any) *failure {
	return &failure{status: status, code: code, param: param, final: true, outcome: outcomeLocalError,
		message: fmt.Sprintf(format, args...)}
}

func notFound(path string) *failure {
	return local(http.StatusNotFound, "not_found", "", "turngate: no such path: %s", shownPath(path))
}

func shownPath(p string) string { return strconv.Quote(p[:min(len(p), 100)]) }

func websocketUnsupported() *failure {
	return local(http.StatusUpgradeRequired, "websocket_unsupported", "", "turngate: WebSocket is not supported here; use HTTP.")
}

func invalidRequest(e *guard.RequestError) *failure {
	return local(http.StatusBadRequest, "invalid_json", e.Param, "%s", e.Message)
}

func tooLarge(limit int64) *failure {
	return local(http.StatusRequestEntityTooLarge, "request_too_large", "", "turngate: the request body is over the limit of %d bytes.", limit)
}

func undecodable() *failure {
	return local(http.StatusBadRequest, "invalid_json", "", "turngate: the request body is not in the content encoding that it says.")
}

func unreadableBody() *failure {
	return local(http.StatusBadRequest, "invalid_json", "", "turngate: the request body could not be read to its end.")
}

func unsupportedEncoding() *failure {
	return local(http.StatusUnsupportedMediaType, "unsupported_content_encoding", "", "turngate: the content encoding of the request is not supported; use identity, gzip or zstd.")
}

// invalidAPIKey is for a client that sent no key, or none that lets it in.
func invalidAPIKey(sent bool) *failure {
	if !sent {
		return local(http.StatusUnauthorized, "invalid_api_key", "", "turngate: a key is needed: send it as Authorization: Bearer, api-key or x-api-key.")
	}
	return local(http.StatusUnauthorized, "invalid_api_key", "", "turngate: the key is not one of those that this proxy lets in.")
}

func modelNotFound(model string) *failure {
	return local(http.StatusNotFound, "model_not_found", "model", "turngate: no upstream takes the model %s.", shownPath(model))
}

func clientGone() *failure {
	f := local(499, codeClientGone, "", "turngate: the client went away.")
	f.outcome, f.cause = outcomeClientGone, errClientGone
	return f
}

func overloaded() *failure {
	return &failure{status: http.StatusServiceUnavailable, code: "overloaded", after: 5 * time.Second, stream: "rate_limit_exceeded",
		outcome: outcomeLocalError, message: "turngate: too many turns at once; try again in 5 s."}
}

// draining is for a turn that comes when the proxy has begun to stop.
func draining() *failure {
	f := overloaded()
	f.message = "turngate: the proxy is being stopped; try again in 5 s."
	return f
}

func shuttingDown() *failure {
	return &failure{status: http.StatusServiceUnavailable, code: codeShutdown, after: time.Second, stream: codeShutdown,
		outcome: outcomeLocalError, message: "turngate: the proxy was shut down before the response ended."}
}

func upstreamUnreachable(kind string, cause error) *failure {
	return &failure{status: http.StatusBadGateway, code: "upstream_unreachable", stream: "server_error", kind: kind, cause: cause,
		outcome: outcomeUpstreamError, message: "turngate: the upstream could not be reached, or broke the connection before it answered."}
}

func upstreamTimeout(cause error) *failure {
	return &failure{status: http.StatusGatewayTimeout, code: "upstream_timeout", stream: "server_error", kind: "timeout", cause: cause,
		outcome: outcomeTimeout, message: "turngate: the upstream did not answer in time."}
}

func upstreamUnauthorized(status int) *failure {
	return &failure{status: http.StatusBadGateway, code: "upstream_unauthorized", stream: "invalid_prompt", final: true, kind: "unauthorized",
		outcome: outcomeUpstreamError, cause: fmt.Errorf("upstream status %d to the proxy's own credentials, or to none", status),
		message: "turngate: the upstream did not accept the proxy's credentials. This is for the operator of the proxy to repair."}
}

func protocolError(cause error) *failure {
	return &failure{status: http.StatusBadGateway, code: "upstream_protocol_error", final: true, kind: "protocol", cause: cause,
		outcome: outcomeUpstreamError, message: "turngate: the upstream's answer is not a response of the Responses API."}
}

// refused is the answer to a refusal where no stream has begun: a JSON turn.
func refused(r *guard.Refusal) *failure {
	return &failure{status: http.StatusBadGateway, code: r.Reason, final: true, outcome: outcomeRefused, message: r.Message(), refusal: r}
}

// truncated ends a stream that the upstream did not end.
func truncated(cause error) *failure {
	return &failure{status: http.StatusBadGateway, code: "upstream_truncated", stream: "upstream_truncated", kind: "truncated", cause: cause,
		outcome: outcomeTruncated, message: "turngate: the upstream's stream ended before the response did."}
}

// stalled ends a stream whose upstream fell silent.
func stalled() *failure {
	f := upstreamTimeout(errIdle)
	f.stream, f.message = "upstream_timeout", "turngate: the upstream stopped sending before the response ended."
	return f
}

// upstreamFailure passes on what an error event, or an error answer, said.
func upstreamFailure(status int, code, message string) *failure {
	if code == "" {
		code = "server_error"
	}
	if message == "" {
		message = "The upstream reported an error without a message."
	}
	return &failure{status: status, code: code, stream: code, outcome: outcomeUpstreamError, message: message}
}
