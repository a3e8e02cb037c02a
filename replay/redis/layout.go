package redis

import (
	"encoding/hex"
	"strconv"
	"strings"
	"time"

	"turngate/replay/internal/kit"
)

// keys makes the names of keys; it is the prefix of all.
//
//	P:{ROOT}           hash    all records of a root:
//	                             t       when it was extended, Unix ms
//	                             n b c   last seq, bytes, records
//	                             f       when the names were made to last
//	                             rSEQ    encoded record
//	                             hSEQ    "parent depth size-of-chain cost"
//	                             kSEQ    names, 16 bytes each
//	P:n:NAME           string  "ROOT:SEQ." of a response or an item
//	P:{all}:age        zset    roots by t
//	P:{all}:bytes      hash    ROOT -> bytes
//	P:{all}:records    hash    ROOT -> records
//	P:{all}:total      hash    b, r: the sums of these
//	P:{all}:scope-key  string
//
// ROOT is 128 random bits in hex, never used again. Braces mark what decides the
// cluster slot.
//
// What must be one step is one script on one slot; what is not, is ordered so
// that a process that dies in between leaves a record that nobody was told of,
// or an entry that leads nowhere, and both expire.
type keys string

func (p keys) tree(root string) string { return string(p) + ":{" + root + "}" }
func (p keys) name(k kit.Key) string   { return string(p) + ":n:" + hex.EncodeToString(k[:]) }
func (p keys) scopeKey() string        { return string(p) + ":{all}:scope-key" }
func (p keys) total() string           { return string(p) + ":{all}:total" }

// index are the keys that the scripts on {all} take.
func (p keys) index() []string {
	return []string{string(p) + ":{all}:age", string(p) + ":{all}:bytes", string(p) + ":{all}:records", p.total()}
}

// place is where a record is.
type place struct {
	root string
	seq  string
}

func (p place) String() string { return p.root + ":" + p.seq + "." }

// parsePlace reads what String wrote.
func parsePlace(s string) (p place, ok bool) {
	p.root, p.seq, ok = strings.Cut(strings.TrimSuffix(s, "."), ":")
	return p, ok && len(p.root) == 32 && p.seq != ""
}

// cost is what a record takes of the server's memory, about.
func cost(value, names int) int64 { return int64(value) + 300 + int64(names)*200 }

// splitNames cuts a kSEQ value, or several, into names.
func splitNames(s string) []kit.Key {
	var names []kit.Key
	for ; len(s) >= len(kit.Key{}); s = s[len(kit.Key{}):] {
		names = append(names, kit.Key([]byte(s[:len(kit.Key{})])))
	}
	return names
}

// treeLife is how long the server keeps a root that is not extended. A sweep
// comes first, as a rule; this is for when no proxy runs.
func (s *Store) treeLife() time.Duration { return s.limits.TTL + s.limits.TTL/8 + time.Minute }

// nameLife is how long the server keeps a name. Names are made to last again at
// most every half TTL, so one lasts longer than its root under all
// circumstances.
func (s *Store) nameLife() time.Duration { return 2*s.limits.TTL + 2*time.Minute }

func ms(t time.Time) string         { return strconv.FormatInt(t.UnixMilli(), 10) }
func millis(d time.Duration) string { return strconv.FormatInt(max(d.Milliseconds(), 1), 10) }
