package proxy

import (
	"net/http"
	"strings"
	"time"

	"turngate/guard"
	"turngate/replay"
)

// Failures of requests that name what came before them, in the API's own words
// where it has some.

func previousNotFound(id string) *failure {
	return local(http.StatusBadRequest, "previous_response_not_found", "previous_response_id",
		"Previous response with id '%s' not found.", guard.Shown(id, maxLogged))
}

func wrongType(param, wanted string, got byte) *failure {
	return local(http.StatusBadRequest, "invalid_type", param,
		"Invalid type for '%s': expected %s, but got %s instead.", param, wanted, kindName(got))
}

// kindName names the kind of a JSON value by its first byte.
func kindName(first byte) string {
	switch first {
	case 'n':
		return "null"
	case 't', 'f':
		return "a boolean"
	case '"':
		return "a string"
	case '{':
		return "an object"
	case '[':
		return "an array"
	}
	return "a number"
}

func previousWithConversation() *failure {
	return local(http.StatusBadRequest, "mutually_exclusive_parameters", "",
		"Mutually exclusive parameters: ''. Ensure you are only providing one of: 'previous_response_id' or 'conversation'.")
}

func backgroundUnsupported() *failure {
	return local(http.StatusBadRequest, "unsupported_parameter", "background",
		"Unsupported parameter: 'background'. turngate keeps the state of this upstream, and runs nothing in the background.")
}

// unexpandable is for an input that cannot be made whole.
func unexpandable(e *replay.InputError) *failure {
	status := http.StatusBadRequest
	if e.Code == replay.CodeRequestTooLarge {
		status = http.StatusRequestEntityTooLarge
	}
	return local(status, e.Code, e.Param, "%s", guard.Shown(e.Message, maxErrorMessage))
}

// ambiguousHistory is for a request that its history makes unreadable.
func ambiguousHistory(e *guard.RequestError) *failure {
	f := invalidRequest(e)
	f.message = "turngate: with the history of the previous response: " + strings.TrimPrefix(f.message, "turngate: ")
	return f
}

func chainTooLong() *failure {
	return local(http.StatusBadRequest, "request_too_large", "previous_response_id",
		"turngate: the previous response ends a chain that is too long to be continued.")
}

func storeUnavailable(cause error) *failure {
	return &failure{status: http.StatusServiceUnavailable, code: "store_unavailable", after: 5 * time.Second, stream: "rate_limit_exceeded",
		outcome: outcomeLocalError, cause: cause, message: "turngate: the store of responses could not be asked; try again in 5 s."}
}

// Failures of requests about stored responses.

func responseNotFound(id string) *failure {
	return local(http.StatusNotFound, "not_found", "", "Response with id '%s' not found.", guard.Shown(id, maxLogged))
}

func notCancellable() *failure {
	return local(http.StatusBadRequest, "invalid_request", "", "Cannot cancel a synchronous response.")
}

func notStreamable() *failure {
	return local(http.StatusBadRequest, "unsupported_parameter", "stream",
		"This response cannot be streamed because it was not created with background=true.")
}

func invalidQuery(param, format string, args ...any) *failure {
	return local(http.StatusBadRequest, "invalid_value", param, "Invalid '"+param+"': "+format, args...)
}
