package bolt

import (
	"encoding/binary"
	"errors"
	"time"

	"go.etcd.io/bbolt"

	"turngate/replay/internal/kit"
)

// format is the version of the layout below.
const format = 1

// The file's buckets. All numbers are big-endian.
//
//	meta     format, scope key, totals
//	records  root, seq      -> header, encoded record
//	names    kit.Key        -> root, seq        of responses and of items
//	roots    root           -> extended, bytes, records, last seq
//	age      extended, root -> nothing          least recently extended first
//	doomed   root           -> cause            unreachable, being removed
//
// A root is a number that is never used again, and seq counts the records of a
// root from 1. So records of one root lie side by side, and a record points at
// its parent by a number that nothing can take over.
var (
	bucketMeta    = []byte("meta")
	bucketRecords = []byte("records")
	bucketNames   = []byte("names")
	bucketRoots   = []byte("roots")
	bucketAge     = []byte("age")
	bucketDoomed  = []byte("doomed")

	buckets = [][]byte{bucketMeta, bucketRecords, bucketNames, bucketRoots, bucketAge, bucketDoomed}

	metaFormat   = []byte("format")
	metaScopeKey = []byte("scope key")
	metaTotals   = []byte("totals")
)

var errDamaged = errors.New("damaged store")

// recordKey is root and seq.
type recordKey [16]byte

func makeKey(root, seq uint64) (k recordKey) {
	binary.BigEndian.PutUint64(k[:8], root)
	binary.BigEndian.PutUint64(k[8:], seq)
	return k
}

func (k recordKey) root() uint64 { return binary.BigEndian.Uint64(k[:8]) }
func (k recordKey) seq() uint64  { return binary.BigEndian.Uint64(k[8:]) }

// lookUp returns where name points.
func lookUp(tx *bbolt.Tx, name kit.Key) (k recordKey, ok bool) {
	v := tx.Bucket(bucketNames).Get(name[:])
	if len(v) != len(k) {
		return k, false
	}
	return recordKey(v), true
}

// root is the value in the bucket of roots.
type root struct {
	extended int64 // Unix nanoseconds
	bytes    int64
	records  int64
	seq      uint64
}

func (r root) age(id uint64) []byte {
	b := binary.BigEndian.AppendUint64(nil, uint64(r.extended))
	return binary.BigEndian.AppendUint64(b, id)
}

func rootID(id uint64) []byte { return binary.BigEndian.AppendUint64(nil, id) }

// readRoot returns a root; ok is false if it is not there or doomed.
func readRoot(tx *bbolt.Tx, id uint64) (r root, ok bool) {
	v := tx.Bucket(bucketRoots).Get(rootID(id))
	if len(v) != 32 {
		return r, false
	}
	r.extended = int64(binary.BigEndian.Uint64(v))
	r.bytes = int64(binary.BigEndian.Uint64(v[8:]))
	r.records = int64(binary.BigEndian.Uint64(v[16:]))
	r.seq = binary.BigEndian.Uint64(v[24:])
	return r, true
}

// writeRoot stores r in place of old, both under id.
func writeRoot(tx *bbolt.Tx, id uint64, old, r root) error {
	v := binary.BigEndian.AppendUint64(nil, uint64(r.extended))
	v = binary.BigEndian.AppendUint64(v, uint64(r.bytes))
	v = binary.BigEndian.AppendUint64(v, uint64(r.records))
	v = binary.BigEndian.AppendUint64(v, r.seq)
	if err := tx.Bucket(bucketRoots).Put(rootID(id), v); err != nil {
		return err
	}
	age := tx.Bucket(bucketAge)
	if old.extended != r.extended {
		if err := age.Delete(old.age(id)); err != nil {
			return err
		}
	}
	return age.Put(r.age(id), nil)
}

// removeRoot makes the records of id unreachable.
func removeRoot(tx *bbolt.Tx, id uint64, r root) error {
	return errors.Join(tx.Bucket(bucketAge).Delete(r.age(id)), tx.Bucket(bucketRoots).Delete(rootID(id)))
}

// totals are the numbers of the whole store.
type totals struct{ records, bytes int64 }

func readTotals(tx *bbolt.Tx) (t totals) {
	if v := tx.Bucket(bucketMeta).Get(metaTotals); len(v) == 16 {
		t.records = int64(binary.BigEndian.Uint64(v))
		t.bytes = int64(binary.BigEndian.Uint64(v[8:]))
	}
	return t
}

func writeTotals(tx *bbolt.Tx, t totals) error {
	v := binary.BigEndian.AppendUint64(nil, uint64(t.records))
	v = binary.BigEndian.AppendUint64(v, uint64(t.bytes))
	return tx.Bucket(bucketMeta).Put(metaTotals, v)
}

// header stands before an encoded record: what walks and removals need without
// decoding it.
type header struct {
	parent uint64 // seq of the record that this one continues; 0: none
	depth  uint32 // records from the root to here
	total  int64  // their Size
	names  []kit.Key
}

func (h header) append(b []byte) []byte {
	b = binary.BigEndian.AppendUint64(b, h.parent)
	b = binary.BigEndian.AppendUint32(b, h.depth)
	b = binary.BigEndian.AppendUint64(b, uint64(h.total))
	b = binary.BigEndian.AppendUint32(b, uint32(len(h.names)))
	for _, n := range h.names {
		b = append(b, n[:]...)
	}
	return b
}

const headerSize = 8 + 4 + 8 + 4

// readHeader returns the fixed part of a header and the rest of the value.
func readHeader(v []byte) (h header, names, record []byte, err error) {
	if len(v) < headerSize {
		return h, nil, nil, errDamaged
	}
	h.parent = binary.BigEndian.Uint64(v)
	h.depth = binary.BigEndian.Uint32(v[8:])
	h.total = int64(binary.BigEndian.Uint64(v[12:]))
	n := int64(binary.BigEndian.Uint32(v[20:])) * int64(len(kit.Key{}))
	if int64(len(v)-headerSize) < n {
		return h, nil, nil, errDamaged
	}
	return h, v[headerSize : headerSize+n], v[headerSize+n:], nil
}

// cost is what a record with a value of so many bytes takes of the file, about:
// its entry, and one in names for each name, in pages that are two thirds full.
func cost(value, names int) int64 {
	return int64(value)*9/8 + 96 + int64(names)*64
}

// expired reports whether a root is too old.
func (s *Store) expired(r root, now time.Time) bool {
	return now.UnixNano()-r.extended >= int64(s.limits.TTL)
}
