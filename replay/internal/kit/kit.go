// Package kit holds what the stores share: keys, the encoding of records, the
// checks before a record is kept, and opening and closing. It knows no store.
package kit

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"

	"turngate/replay"
)

// Key names a response or an item within a scope. Ids come from strangers and
// may be of any length and of any bytes; keys are of one size and say nothing.
type Key [16]byte

// ResponseKey returns the key of a response id.
func ResponseKey(scope replay.Scope, id string) Key { return key('r', scope, id) }

// ItemKey returns the key of an item id.
func ItemKey(scope replay.Scope, id string) Key { return key('i', scope, id) }

func key(kind byte, scope replay.Scope, id string) Key {
	b := make([]byte, 0, 9+len(scope)+len(id))
	b = append(b, kind)
	b = binary.BigEndian.AppendUint64(b, uint64(len(scope)))
	b = append(b, scope...)
	b = append(b, id...)
	sum := sha256.Sum256(b)
	return Key(sum[:16])
}

// maxItemKeys bounds the index entries of one record. A turn has a handful of
// items; one with more keeps them all and has this many that can be referred to.
const maxItemKeys = 2048

// Keys are the names of a record. IDs has one or two.
type Keys struct {
	IDs, Items []Key
	Previous   Key // meaningful if the record has a PreviousID
}

// Prepare checks a record before it is kept and returns its keys.
func Prepare(scope replay.Scope, rec *replay.Record, limits replay.Limits) (Keys, error) {
	if scope == "" {
		return Keys{}, fmt.Errorf("%w: no scope", replay.ErrInvalid)
	}
	if n := rec.Size(); n > limits.MaxRecordBytes || n > limits.MaxChainBytes {
		return Keys{}, fmt.Errorf("%w: %d bytes", replay.ErrTooLarge, n)
	}
	if err := rec.Check(); err != nil {
		return Keys{}, err
	}
	k := Keys{IDs: []Key{ResponseKey(scope, rec.ID)}}
	if rec.Alias != "" && rec.Alias != rec.ID {
		k.IDs = append(k.IDs, ResponseKey(scope, rec.Alias))
	}
	if rec.PreviousID != "" {
		k.Previous = ResponseKey(scope, rec.PreviousID)
	}
	for _, it := range rec.Items() {
		if len(k.Items) == maxItemKeys {
			break
		}
		k.Items = append(k.Items, ItemKey(scope, it.ID))
	}
	return k, nil
}

// PickItems returns the items with these ids, nil where there is none. The i-th
// is looked for in recs[at[i]], and nowhere if at[i] is less than 0. Each record
// is read once, however many of its items are asked for.
func PickItems(ids []string, at []int, recs []replay.Record) [][]byte {
	byID := make([]map[string][]byte, len(recs))
	found := make([][]byte, len(ids))
	for i, id := range ids {
		if at[i] < 0 {
			continue
		}
		if byID[at[i]] == nil {
			m := make(map[string][]byte)
			for _, it := range recs[at[i]].Items() {
				m[it.ID] = it.Raw
			}
			byID[at[i]] = m
		}
		found[i] = byID[at[i]][id]
	}
	return found
}

// CheckChain returns ErrChainTooLong, wrapped, if a chain of so many records
// with so many bytes together exceeds the limits.
func CheckChain(records int, bytes int64, limits replay.Limits) error {
	if records > limits.MaxChain {
		return fmt.Errorf("%w: %d records", replay.ErrChainTooLong, records)
	}
	if bytes > limits.MaxChainBytes {
		return fmt.Errorf("%w: %d bytes", replay.ErrChainTooLong, bytes)
	}
	return nil
}
