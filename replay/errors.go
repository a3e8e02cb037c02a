package replay

import "errors"

// What a store or an expansion can say. They come wrapped: use errors.Is.
var (
	// ErrNotFound: no such record for this scope, or its history is incomplete.
	ErrNotFound = errors.New("response not found")
	// ErrInChain: the record's ids are all taken by its own ancestors.
	ErrInChain = errors.New("id is already in its own chain")
	// ErrTooLarge: the record exceeds Limits.MaxRecordBytes or does not fit the
	// store beside the rest of its chain.
	ErrTooLarge = errors.New("record too large")
	// ErrChainTooLong: the chain would exceed Limits.MaxChain or MaxChainBytes.
	ErrChainTooLong = errors.New("chain too long")
	// ErrInvalid: a record or scope that no store takes; a fault of the caller.
	ErrInvalid = errors.New("invalid record")
	// ErrClosed: the store was closed.
	ErrClosed = errors.New("store is closed")
)

// Codes of an [InputError].
const (
	CodeInvalidJSON           = "invalid_json"
	CodeInvalidType           = "invalid_type"
	CodeItemNotFound          = "item_not_found"
	CodeToolOutputWithoutCall = "tool_output_without_call"
	CodeToolCallWithoutOutput = "tool_call_without_output"
	CodeRequestTooLarge       = "request_too_large"
)

// InputError is a fault in what the client sent. Its texts are made for the
// client, in the API's own words where it has some.
type InputError struct {
	Code    string // one of the Code constants
	Param   string // the request's field, "input"
	Message string
}

func (e *InputError) Error() string { return e.Message }
