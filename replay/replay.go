package replay

import (
	"context"
	"time"
)

// Record is one finished turn. A Record that came from a store is read-only:
// its slices may be shared with the store and with other readers.
type Record struct {
	// ID is the response's id, as its terminal event has it. Required.
	ID string
	// Alias is the first id that the response was seen with, where that is not
	// ID: some providers change it in mid-stream. The record is found under
	// both. Empty: none.
	Alias string
	// PreviousID is the id of the record that this one continues; empty: none.
	PreviousID string

	// Input is a JSON array: the items that this turn added, as the caller sent
	// them ([Expansion.New]). Empty means no items.
	Input []byte
	// Output is a JSON array: the output items as the upstream sent them. Empty
	// means no items.
	Output []byte
	// Snapshot is a JSON object: the terminal response without its output
	// ([SplitResponse]). Required.
	Snapshot []byte

	// Declares says that the turn's own guard counted tool declarations in
	// Output (additional_tools, tool_search_output). Unless it is true they are
	// never replayed: an upstream could otherwise authorise a tool in one turn
	// and call it in the next.
	Declares bool

	// Created is when the turn was recorded. The store fills in its own time if
	// it is zero.
	Created time.Time
}

// A Scope says whose records these are. It is part of every key: an id of
// another scope is unknown, and nothing tells it from one that never was. Make
// it with [NewScope]; the empty Scope is refused by every store.
type Scope string

// Store keeps records. All methods may be called from many goroutines at once,
// and where the store is shared from many processes.
//
// The context bounds a call: when it ends first, its error is returned, wrapped,
// and a write may or may not have happened. An error that is none of the
// package's sentinels means that the store could not be asked, never that
// something is not there.
//
// Age and eviction go by root: the records of one root are found together or
// not at all, and a Put to any of them makes all of them young again.
type Store interface {
	// ScopeKey returns 32 random bytes for [NewScope], made once when the store
	// was created and shared by all who use it. It is cached; call it for each
	// turn, because a shared store that lost its data gets a new one. The caller
	// must not change the bytes.
	ScopeKey(ctx context.Context) ([]byte, error)

	// Put records a turn under its ID and its Alias. When it returns nil, every
	// later Chain in any process sees the record, and where the store is durable
	// it survives a crash. The store copies what it keeps.
	//
	// An id that is already in the record's own chain is left alone; if none
	// remains the error is ErrInChain. An id that names another turn is moved to
	// this one; chains that already hold the other turn keep it.
	//
	// ErrNotFound: PreviousID is not there (any more). ErrInvalid: a field is
	// missing or not JSON. ErrTooLarge, ErrChainTooLong: see Limits. On any
	// of these nothing was recorded; another error leaves it open.
	Put(ctx context.Context, scope Scope, rec Record) error

	// Chain returns the records from the root to the one named id, oldest
	// first, so never none. ErrNotFound if id, or any record before it, is
	// unknown, expired, evicted or deleted.
	Chain(ctx context.Context, scope Scope, id string) ([]Record, error)

	// Get returns the record named id, or ErrNotFound.
	Get(ctx context.Context, scope Scope, id string) (Record, error)

	// Delete removes the record named id, or returns ErrNotFound. Records that
	// continue it stay, but their chains are broken and no longer found: what a
	// user deleted is not sent again.
	Delete(ctx context.Context, scope Scope, id string) error

	// Items returns the stored items with these item ids, for item_reference:
	// one entry for each id, nil where it is unknown. Output items come
	// normalised and only if they may be replayed. The item recorded last wins.
	Items(ctx context.Context, scope Scope, ids []string) ([][]byte, error)

	// Sweep removes what is expired and what is over the size limit, in small
	// steps, and returns when nothing is left to remove. Stores sweep by
	// themselves; calling it is for tests and for those who cannot wait.
	Sweep(ctx context.Context) error

	// Stats returns numbers for metrics.
	Stats(ctx context.Context) (Stats, error)

	// Close waits for running calls and releases the store. Calls after it
	// return ErrClosed, except Close itself, which returns nil.
	Close() error
}

// Stats are numbers about a store. Records and Bytes are of the whole store;
// the evictions are those that this process did since it opened the store.
type Stats struct {
	Records int64 // records kept
	Bytes   int64 // bytes kept, as stored (compressed), with an estimate for keys

	EvictedTTL  int64 // records removed because their root got too old
	EvictedSize int64 // records removed because the store got too large
}
