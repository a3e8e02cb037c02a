package proxy

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"turngate/replay"
)

// aboutResponse reports whether a request is about one response that was made
// before, and its id.
func (t target) aboutResponse(method string) (id string, ok bool) {
	s := t.segments
	if len(s) < 2 || s[0] != "responses" || !t.known(method) || t.takesInput(method) {
		return "", false
	}
	return s[1], true
}

// serveStored answers a request about a response that the store has (R12). If
// the store does not have it, and an upstream that keeps its own state may, that
// is returned and nothing was answered.
func (ex *exchange) serveStored(id string, to target) (native *route) {
	serve := ex.serveResponse
	switch {
	case len(to.segments) == 3 && to.segments[2] == "input_items":
		serve = ex.serveInputItems
	case len(to.segments) == 3:
		serve = ex.serveCancel
	case ex.r.Method == http.MethodDelete:
		serve = ex.serveDelete
	}
	f := serve(id)
	if f == nil {
		return nil
	}
	if f.status == http.StatusNotFound {
		if native = ex.cfg.nativeRoute(); native != nil {
			return native
		}
	}
	ex.failPassed(f)
	return nil
}

// nativeRoute returns the upstream for requests about responses that are not in
// the store: one that keeps its own state, nil if none does.
func (s *settings) nativeRoute() *route {
	if r := s.routeFor(""); !r.replays {
		return r
	}
	for _, r := range s.routes {
		if !r.replays {
			return r
		}
	}
	return nil
}

// inStore calls the store with each scope of the client, until it knows what it
// is asked about.
func (ex *exchange) inStore(id, operation string, call func(context.Context, replay.Scope) error) *failure {
	err := ex.p.askStore(ex.r.Context(), operation, func(ctx context.Context) error {
		for _, r := range ex.cfg.routes {
			if !r.replays {
				continue
			}
			scope, err := ex.scope(ctx, r)
			if err == nil {
				err = call(ctx, scope)
			}
			if !errors.Is(err, replay.ErrNotFound) {
				return err
			}
		}
		return replay.ErrNotFound
	})
	input, ok := errors.AsType[*replay.InputError](err)
	switch {
	case err == nil:
		return nil
	case ok:
		return unexpandable(input)
	case errors.Is(err, replay.ErrNotFound):
		return responseNotFound(id)
	case ex.r.Context().Err() != nil:
		return clientGone()
	}
	return storeUnavailable(err)
}

// lookUp finds a response in the store.
func (ex *exchange) lookUp(id string) (rec replay.Record, f *failure) {
	f = ex.inStore(id, storeGet, func(ctx context.Context, scope replay.Scope) (err error) {
		rec, err = ex.cfg.Store.Get(ctx, scope, id)
		return err
	})
	return rec, f
}

func (ex *exchange) serveResponse(id string) *failure {
	rec, f := ex.lookUp(id)
	switch {
	case f != nil:
		return f
	case ex.r.URL.Query().Get("stream") == "true":
		return notStreamable()
	}
	ex.writeRaw(http.StatusOK, rec.Response())
	return nil
}

// serveCancel says no: what is in the store has ended.
func (ex *exchange) serveCancel(id string) *failure {
	if _, f := ex.lookUp(id); f != nil {
		return f
	}
	return notCancellable()
}

func (ex *exchange) serveDelete(id string) *failure {
	f := ex.inStore(id, storeDelete, func(ctx context.Context, scope replay.Scope) error {
		return ex.cfg.Store.Delete(ctx, scope, id)
	})
	if f != nil {
		return f
	}
	ex.writeRaw(http.StatusOK, append(appendString([]byte(`{"id":`), id), `,"object":"response","deleted":true}`...))
	return nil
}

func (ex *exchange) serveInputItems(id string) *failure {
	var items []replay.Item
	f := ex.inStore(id, storeGet, func(ctx context.Context, scope replay.Scope) error {
		chain, err := ex.cfg.Store.Chain(ctx, scope, id)
		if err != nil {
			return err
		}
		items, err = replay.InputItems(chain)
		return err
	})
	if f != nil {
		return f
	}
	items, more, f := pageOf(items, ex.r.URL.Query())
	if f != nil {
		return f
	}
	ex.writeRaw(http.StatusOK, appendPage(nil, items, more))
	return nil
}

// pageOf returns the part of items, which are in their order, that a query of
// the API's lists asks for, and whether there is more behind it.
func pageOf(items []replay.Item, query url.Values) (page []replay.Item, more bool, f *failure) {
	limit := 20
	if s := query.Get("limit"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil || n < 1 || n > 100 {
			return nil, false, invalidQuery("limit", "expected a number from 1 to 100.")
		}
		limit = n
	}
	switch query.Get("order") {
	case "", "desc":
		items = slices.Clone(items)
		slices.Reverse(items)
	case "asc":
	default:
		return nil, false, invalidQuery("order", "expected 'asc' or 'desc'.")
	}
	if after := query.Get("after"); after != "" {
		// The last of its id: a client that pages must come to an end.
		last := -1
		for i, it := range items {
			if it.ID == after {
				last = i
			}
		}
		if last < 0 {
			return nil, false, invalidQuery("after", "the response has no input item with this id.")
		}
		items = items[last+1:]
	}
	return items[:min(limit, len(items))], len(items) > limit, nil
}

// appendPage appends a list as the API answers it.
func appendPage(dst []byte, items []replay.Item, more bool) []byte {
	raw := make([][]byte, len(items))
	first, last := []byte("null"), []byte("null")
	for i, it := range items {
		raw[i] = it.Raw
		last = appendString(nil, it.ID)
		if i == 0 {
			first = last
		}
	}
	dst = append(append(dst, `{"object":"list","data":`...), joinItems(raw)...)
	dst = append(append(dst, `,"first_id":`...), first...)
	dst = append(append(dst, `,"last_id":`...), last...)
	return append(strconv.AppendBool(append(dst, `,"has_more":`...), more), '}')
}

// appendString appends s as a JSON string, with U+FFFD for what is not UTF-8.
func appendString(dst []byte, s string) []byte {
	dst, _ = jsontext.AppendQuote(dst, s) // an error reports what was replaced
	return dst
}
