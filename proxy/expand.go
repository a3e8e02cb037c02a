package proxy

import (
	"context"
	"errors"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/tidwall/gjson"

	"turngate/guard"
	"turngate/replay"
)

// history is what a turn whose upstream keeps no state adds to its chain, if it
// becomes a record.
type history struct {
	previous string // id of the response that it continues; "": none
	input    []byte // the new items, an array
	body     *body  // in which input lies; nil: it stands by itself
}

// release gives back what the history holds.
func (h *history) release() {
	if h != nil && h.body != nil {
		h.body.release()
	}
}

// expand makes the request whole for an upstream that keeps no state (R4), and
// returns the body to send: b itself if there is nothing to change. The turn
// then has a history, unless the client wants none.
func (t *turn) expand(b *body) (*body, *failure) {
	if !t.route.replays {
		return b, nil
	}
	req := t.request
	previous, f := previousOf(req)
	switch {
	case f != nil:
		return nil, f
	case req.Background.Kind() == 't':
		return nil, backgroundUnsupported()
	}
	x, f := t.wholeInput(t.route, req, previous)
	if f != nil {
		return nil, f
	}
	t.remember(req, previous, x, b)
	edits := inputEdits(previous, x)
	if req.Store.Kind() == 't' {
		edits = append(edits, guard.Edit{Key: "store", Value: []byte("false")})
	}
	if t.route.ReplayReasoning {
		edits = append(edits, includeReasoning(req.Include)...)
	}
	if len(edits) == 0 {
		return b, nil
	}
	out := editBody(b, edits)
	if x.Input == nil {
		return out, nil
	}
	sent, err := t.p.tools.ReadRequest(out.bytes)
	if err != nil {
		out.release()
		e, _ := errors.AsType[*guard.RequestError](err)
		return nil, ambiguousHistory(e)
	}
	req.Catalog.Add(sent.Catalog) // G2, R14
	return out, nil
}

// remember keeps what the turn's record and its snapshots will show. A turn in a
// conversation is not recorded: its history is the upstream's.
func (t *turn) remember(req *guard.Request, previous string, x replay.Expansion, b *body) {
	if previous != "" {
		t.asked.PreviousResponseID = req.PreviousResponseID.Clone()
	}
	if k := req.Store.Kind(); k == 't' || k == 'f' {
		t.asked.Store = req.Store.Clone()
	}
	if req.Store.Kind() == 'f' || !absent(req.Conversation) {
		return
	}
	t.history = &history{previous: previous, input: x.New}
	if x.New == nil {
		b.retain()
		t.history.input, t.history.body = req.Input, b
	}
}

// previousOf returns the id of the response that a request continues, "" if
// there is none.
func previousOf(req *guard.Request) (string, *failure) {
	raw := req.PreviousResponseID
	switch {
	case absent(raw):
		return "", nil
	case raw.Kind() != '"':
		return "", wrongType("previous_response_id", "a string", raw[0])
	}
	id, _ := jsontext.AppendUnquote(nil, raw) // the syntax is good; invalid UTF-8 is replaced
	switch {
	case !absent(req.Conversation):
		return "", previousWithConversation()
	case len(id) == 0:
		return "", previousNotFound("")
	}
	return string(id), nil
}

func absent(v jsontext.Value) bool { return v == nil || v.Kind() == 'n' }

// wholeInput expands a request's input. An expansion without New says that the
// input is an array that stands for itself, and that the store was not asked.
func (ex *exchange) wholeInput(r *route, req *guard.Request, previous string) (replay.Expansion, *failure) {
	if previous == "" && !req.References && req.Input.Kind() == '[' {
		return replay.Expansion{}, nil
	}
	call := replay.Request{
		PreviousID: previous, Input: req.Input,
		Hosted: func(_, name string) bool { return guard.MayBeHosted(name, r.HostedCalls) },
	}
	var x replay.Expansion
	expand := func(ctx context.Context) error {
		var scope replay.Scope
		var err error
		if previous != "" || req.References {
			if scope, err = ex.scope(ctx, r); err != nil {
				return err
			}
		}
		x, err = replay.Expand(ctx, ex.cfg.Store, scope, call)
		return err
	}
	var err error
	if previous == "" && !req.References {
		err = expand(ex.r.Context()) // which has nothing to ask
	} else {
		err = ex.p.askStore(ex.r.Context(), storeExpand, expand)
	}
	if err != nil {
		return x, ex.notExpanded(previous, err)
	}
	return x, nil
}

// expandPassed chooses the upstream of a request that is no turn but takes an
// input, by its model, and returns the body to send: b itself, or one that was
// made whole where that upstream keeps no state (R13).
func (ex *exchange) expandPassed(b *body) (*route, *body, *failure) {
	req, err := ex.p.tools.ReadRequest(b.bytes)
	if err != nil {
		if r := ex.cfg.routeFor(""); !r.replays {
			return r, b, nil // for the upstream to judge
		}
		e, _ := errors.AsType[*guard.RequestError](err)
		return nil, nil, invalidRequest(e)
	}
	r := ex.cfg.routeFor(req.Model)
	switch {
	case r == nil:
		return nil, nil, modelNotFound(req.Model)
	case !r.replays:
		return r, b, nil
	}
	previous, f := previousOf(req)
	if f != nil {
		return nil, nil, f
	}
	x, f := ex.wholeInput(r, req, previous)
	if f != nil {
		return nil, nil, f
	}
	if x.Input == nil {
		return r, b, nil
	}
	return r, editBody(b, inputEdits(previous, x)), nil
}

// notExpanded says what it means for the client that there is no expansion.
func (ex *exchange) notExpanded(previous string, err error) *failure {
	input, ok := errors.AsType[*replay.InputError](err)
	switch {
	case ok:
		return unexpandable(input)
	case errors.Is(err, replay.ErrNotFound):
		return previousNotFound(previous)
	case errors.Is(err, replay.ErrChainTooLong):
		return chainTooLong()
	case ex.r.Context().Err() != nil:
		return clientGone()
	}
	return storeUnavailable(err)
}

// inputEdits puts an expansion in the place of what it came of.
func inputEdits(previous string, x replay.Expansion) []guard.Edit {
	if x.Input == nil {
		return nil
	}
	edits := []guard.Edit{{Key: "input", Value: x.Input}}
	if previous != "" {
		edits = append(edits, guard.Edit{Key: "previous_response_id"})
	}
	return edits
}

// encryptedReasoning makes an upstream give what it needs to take its reasoning
// back as input.
const encryptedReasoning = "reasoning.encrypted_content"

// includeReasoning adds encryptedReasoning to a list of what to include. What is
// no list is left for the upstream to judge.
func includeReasoning(include jsontext.Value) []guard.Edit {
	list := []byte(`["` + encryptedReasoning + `"]`)
	switch {
	case absent(include):
	case include.Kind() != '[':
		return nil
	default:
		elements := gjson.ParseBytes(include).Array()
		for _, e := range elements {
			if e.Str == encryptedReasoning {
				return nil
			}
		}
		if end := len(include) - len("]"); len(elements) > 0 {
			list = append(include[:end:end], `,"`+encryptedReasoning+`"]`...)
		}
	}
	return []guard.Edit{{Key: "include", Value: list}}
}

// editBody returns a body of b's pool with edits made to what b says.
func editBody(b *body, edits []guard.Edit) *body {
	size := len(b.bytes)
	for _, e := range edits {
		size += len(e.Key) + len(e.Value) + len(`,"":`)
	}
	buf := b.pool.Get(size)
	return &body{pool: b.pool, buf: buf, bytes: guard.AppendEdited(buf.B[:0], b.bytes, edits...), refs: 1}
}
