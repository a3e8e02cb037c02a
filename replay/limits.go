package replay

import "time"

// Limits bound a store. The zero value of a field means its default; a negative
// value is taken for zero.
type Limits struct {
	// TTL is the age at which records go, counted from the last Put to any
	// record of the same root. Default 720 hours.
	TTL time.Duration
	// MaxBytes bounds the store as a whole, see Stats.Bytes; the roots that were
	// extended least recently go first. A record that would make its root alone
	// exceed it is refused with ErrTooLarge. Default 1 GiB.
	MaxBytes int64
	// MaxRecordBytes bounds Input, Output and Snapshot of one record together;
	// beyond it Put returns ErrTooLarge. Default 64 MiB, at most 256 MiB.
	MaxRecordBytes int64
	// MaxChain bounds the number of records in a chain; the Put that would
	// exceed it returns ErrChainTooLong. Default 2,000.
	MaxChain int
	// MaxChainBytes bounds Input, Output and Snapshot of all records of a chain
	// together, and so the memory that an expansion takes; beyond it Put returns
	// ErrChainTooLong. Default 128 MiB.
	MaxChainBytes int64
}

// WithDefaults returns l with each unset field filled in.
func (l Limits) WithDefaults() Limits {
	setDefault(&l.TTL, 720*time.Hour)
	setDefault(&l.MaxBytes, 1<<30)
	setDefault(&l.MaxRecordBytes, 64<<20)
	setDefault(&l.MaxChain, 2000)
	setDefault(&l.MaxChainBytes, 128<<20)
	l.MaxRecordBytes = min(l.MaxRecordBytes, 256<<20)
	return l
}

func setDefault[T ~int | ~int64](v *T, d T) {
	if *v <= 0 {
		*v = d
	}
}
