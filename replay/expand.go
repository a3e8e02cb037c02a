package replay

import (
	"bytes"
	"context"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
)

// Request is what Expand is asked about.
type Request struct {
	// PreviousID is the request's previous_response_id; empty: it has none.
	PreviousID string
	// Input is the raw JSON value of the request's input: an array, a string,
	// null, or empty where the request has none.
	Input []byte
	// Hosted reports whether a custom_tool_call of this namespace and name is one
	// that the upstream runs itself, so that it needs no output. Nil: none is.
	Hosted func(namespace, name string) bool
	// MaxBytes bounds Expansion.Input; 0 means 128 MiB. A reference is a few
	// bytes and can stand for megabytes.
	MaxBytes int64
}

// Expansion is the answer. The caller owns its byte slices; the records in
// Chain are read-only.
type Expansion struct {
	// Input is the array that replaces the request's input, or nil if the
	// request needs no edit.
	Input []byte
	// New is an array of the items that this turn adds to its chain, references
	// resolved: Record.Input of the turn, if it is recorded. Never nil.
	New []byte
	// Chain holds the records that the request continues, oldest first; nil
	// without a PreviousID.
	Chain []Record
}

// Expand builds the full input of a request: the items of the chain that
// PreviousID names, oldest first, then the request's own. Stored inputs and the
// request's items keep their bytes; a string becomes a user message; output
// items are normalised ([Record.Replayable]). item_reference items are replaced
// by what they name. Items that the client sent although the chain has them are
// not repeated, see resent. The result is checked for calls and outputs that
// lack their counterpart.
//
// The error is ErrNotFound if the chain is not there, an [*InputError] if the
// client's input is at fault, and else the store's: it could not be asked, and
// the caller must not send the request on without its history. The store is not
// touched by a request with neither PreviousID nor references.
func Expand(ctx context.Context, store Store, scope Scope, req Request) (Expansion, error) {
	items, err := inputItems(req.Input)
	if err != nil {
		return Expansion{}, err
	}
	if req.MaxBytes <= 0 {
		req.MaxBytes = 128 << 20
	}
	referred, err := resolve(ctx, store, scope, items, req.MaxBytes)
	if err != nil {
		return Expansion{}, err
	}
	if req.PreviousID == "" {
		if !referred {
			return Expansion{New: unchanged(req.Input, items)}, nil
		}
		if err := checkCalls(items, req.Hosted); err != nil {
			return Expansion{}, err
		}
		all := joinItems(items)
		return Expansion{Input: all, New: bytes.Clone(all)}, nil
	}

	chain, err := store.Chain(ctx, scope, req.PreviousID)
	if err != nil {
		return Expansion{}, err
	}
	history, err := run(chain)
	if err != nil {
		return Expansion{}, err
	}
	fresh := items[resent(history, items):]
	all := append(history, fresh...)
	if size(all) > req.MaxBytes {
		return Expansion{}, tooLarge(req.MaxBytes)
	}
	if err := checkCalls(all, req.Hosted); err != nil {
		return Expansion{}, err
	}
	x := Expansion{Input: joinItems(all), Chain: chain}
	if len(fresh) == len(items) && !referred {
		x.New = unchanged(req.Input, items)
	} else {
		x.New = joinItems(fresh)
	}
	return x, nil
}

// run returns the items of a chain as they are input again.
func run(chain []Record) ([]item, error) {
	var items []item
	voided := make(map[string]bool)
	for i := range chain {
		items = append(items, readItems(chain[i].Input)...)
		out := chain[i].replayOutput()
		items = append(items, out.items...)
		for id := range out.voided {
			voided[id] = true
		}
		if len(items) > maxItems {
			return nil, tooManyItems()
		}
	}
	return dropVoided(items, voided), nil
}

// inputItems reads the value of a request's input.
func inputItems(input []byte) ([]item, error) {
	v := jsontext.Value(input)
	if len(bytes.TrimSpace(input)) == 0 {
		return nil, nil
	}
	if !v.IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)) {
		return nil, &InputError{Code: CodeInvalidJSON, Param: "input", Message: "Invalid JSON in 'input'."}
	}
	switch v.Kind() {
	case '[':
		if tooMany(input) {
			return nil, tooManyItems()
		}
		return readItems(input), nil
	case '"':
		return []item{message(bytes.TrimSpace(input))}, nil
	case 'n':
		return nil, nil
	}
	return nil, &InputError{
		Code: CodeInvalidType, Param: "input",
		Message: "Invalid type for 'input': expected a string or an array of input items.",
	}
}

// message makes a user message of a JSON string, whose bytes it keeps.
func message(text []byte) item {
	return readItem(`{"type":"message","role":"user","content":[{"type":"input_text","text":` + string(text) + `}]}`)
}

// resolve replaces references in items by what they name and reports whether
// there were any.
func resolve(ctx context.Context, store Store, scope Scope, items []item, limit int64) (bool, error) {
	var ids []string
	place := make(map[string]int)
	for _, it := range items {
		if _, ok := place[it.id]; it.reference() && !ok {
			place[it.id] = len(ids)
			ids = append(ids, it.id)
		}
	}
	if len(ids) == 0 {
		return false, nil
	}
	found, err := store.Items(ctx, scope, ids)
	if err != nil {
		return false, fmt.Errorf("look up items: %w", err)
	}
	named := make([]item, len(ids))
	for i, raw := range found {
		if raw == nil {
			return false, &InputError{
				Code: CodeItemNotFound, Param: "input",
				Message: "Item with id '" + ids[i] + "' not found. Items are not persisted when `store` is set to false. " +
					"Try again with `store` set to true, or remove this item from your input.",
			}
		}
		named[i] = readItem(string(raw))
	}
	for i, it := range items {
		if it.reference() {
			items[i] = named[place[it.id]]
		}
	}
	if size(items) > limit {
		return false, tooLarge(limit)
	}
	return true, nil
}

// unchanged returns the request's input as an array: its own bytes if it is one.
func unchanged(input []byte, items []item) []byte {
	if jsontext.Value(input).Kind() == '[' {
		return bytes.Clone(bytes.TrimSpace(input))
	}
	return joinItems(items)
}

func size(items []item) int64 {
	n := int64(2)
	for _, it := range items {
		n += int64(len(it.raw)) + 1
	}
	return n
}

func tooManyItems() error {
	return &InputError{
		Code: CodeRequestTooLarge, Param: "input",
		Message: fmt.Sprintf("The input with its history has more than %d items.", maxItems),
	}
}

func tooLarge(limit int64) error {
	return &InputError{
		Code: CodeRequestTooLarge, Param: "input",
		Message: fmt.Sprintf("The input with its history exceeds %d bytes.", limit),
	}
}
