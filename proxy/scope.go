package proxy

import (
	"context"
	"fmt"
	"hash/maphash"

	"turngate/replay"
)

// scope says whose records those of the client are at an upstream (R8).
func (ex *exchange) scope(ctx context.Context, r *route) (replay.Scope, error) {
	key, err := ex.cfg.Store.ScopeKey(ctx)
	if err != nil {
		return "", fmt.Errorf("scope key: %w", err)
	}
	kind, credential := ex.identity()
	return replay.NewScope(key, kind, credential, r.Name), nil
}

// toolScope tells clients apart whose tools are compared from turn to turn. It is
// a keyed hash that no other process can make: a store's scope outlives the
// process, and there may be no store.
func (ex *exchange) toolScope() uint64 {
	kind, credential := ex.identity()
	return maphash.String(ex.p.seed, kind+"\x00"+credential)
}

// identity tells clients apart: by the name of the client's key, else by the
// credential that it sends to its upstream. It is shown nowhere.
func (ex *exchange) identity() (kind, credential string) {
	if ex.client != "" {
		return "client", ex.client
	}
	for _, kind := range [...]string{"Authorization", "Api-Key", "X-Api-Key"} {
		if c := ex.r.Header.Get(kind); c != "" {
			return kind, c
		}
	}
	return "anonymous", ""
}
