package kit

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/klauspost/compress/zstd"

	"turngate/replay"
)

// Codec writes records as bytes and reads them back. It may be used by many
// goroutines; Close it in the end.
type Codec struct {
	enc *zstd.Encoder
	dec *zstd.Decoder
}

// version is the first byte of an encoded record.
const version = 1

// maxPayload is more than any record can have, see Limits.MaxRecordBytes. What
// claims to be larger is damaged, and is not given the memory.
const maxPayload = 288 << 20

var errDamaged = errors.New("damaged record")

// NewCodec returns a codec.
func NewCodec() (*Codec, error) {
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(2), zstd.WithWindowSize(1<<20),
		zstd.WithLowerEncoderMem(true), zstd.WithEncoderCRC(true))
	if err != nil {
		return nil, fmt.Errorf("make encoder: %w", err)
	}
	// The limit on capacity is what bounds a decoder: a frame of a few bytes can
	// claim to open to anything.
	dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderLowmem(true),
		zstd.WithDecodeAllCapLimit(true))
	if err != nil {
		return nil, fmt.Errorf("make decoder: %w", err)
	}
	return &Codec{enc: enc, dec: dec}, nil
}

// Close releases the codec, which must no longer be in use.
func (c *Codec) Close() {
	_ = c.enc.Close() // has no stream that could fail
	c.dec.Close()
}

// Append appends the encoded record to b: a version, the size of the payload,
// and the payload, compressed.
func (c *Codec) Append(b []byte, rec *replay.Record) []byte {
	p := make([]byte, 0, rec.Size()+256)
	p = binary.AppendVarint(p, rec.Created.UnixNano())
	flags := byte(0)
	if rec.Declares {
		flags |= 1
	}
	p = append(p, flags)
	for _, s := range []string{rec.ID, rec.Alias, rec.PreviousID} {
		p = binary.AppendUvarint(p, uint64(len(s)))
		p = append(p, s...)
	}
	for _, s := range [][]byte{rec.Input, rec.Output, rec.Snapshot} {
		p = binary.AppendUvarint(p, uint64(len(s)))
		p = append(p, s...)
	}
	b = append(b, version)
	b = binary.AppendUvarint(b, uint64(len(p)))
	return c.enc.EncodeAll(p, b)
}

// Decode reads what Append wrote. The record shares no memory with b.
func (c *Codec) Decode(b []byte) (replay.Record, error) {
	if len(b) == 0 || b[0] != version {
		return replay.Record{}, fmt.Errorf("%w: unknown version", errDamaged)
	}
	size, n := binary.Uvarint(b[1:])
	if n <= 0 || size > maxPayload {
		return replay.Record{}, fmt.Errorf("%w: bad size", errDamaged)
	}
	p, err := c.dec.DecodeAll(b[1+n:], make([]byte, 0, size))
	if err != nil {
		return replay.Record{}, fmt.Errorf("%w: %w", errDamaged, err)
	}
	r := reader{p: p}
	var rec replay.Record
	rec.Created = time.Unix(0, r.varint())
	rec.Declares = r.byte()&1 != 0
	for _, s := range []*string{&rec.ID, &rec.Alias, &rec.PreviousID} {
		*s = string(r.bytes())
	}
	for _, s := range []*[]byte{&rec.Input, &rec.Output, &rec.Snapshot} {
		*s = r.bytes()
	}
	if r.bad || len(r.p) > 0 {
		return replay.Record{}, fmt.Errorf("%w: bad fields", errDamaged)
	}
	return rec, nil
}

// reader takes fields off p; bad is set, and stays, when one is not there.
type reader struct {
	p   []byte
	bad bool
}

func (r *reader) varint() int64 {
	v, n := binary.Varint(r.p)
	if n <= 0 {
		r.bad, r.p = true, nil
		return 0
	}
	r.p = r.p[n:]
	return v
}

func (r *reader) byte() byte {
	if len(r.p) == 0 {
		r.bad = true
		return 0
	}
	b := r.p[0]
	r.p = r.p[1:]
	return b
}

func (r *reader) bytes() []byte {
	size, n := binary.Uvarint(r.p)
	if n <= 0 || size > uint64(len(r.p)-n) {
		r.bad, r.p = true, nil
		return nil
	}
	b := r.p[n : n+int(size) : n+int(size)]
	r.p = r.p[n+int(size):]
	return b
}
