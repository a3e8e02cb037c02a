package kit

import (
	"bytes"
	"encoding/binary"
	"errors"
	"reflect"
	"testing"
	"time"

	"go.uber.org/goleak"

	"turngate/replay"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func newCodec(t testing.TB) *Codec {
	t.Helper()
	c, err := NewCodec()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func TestCodec(t *testing.T) {
	c := newCodec(t)
	want := replay.Record{
		ID: "a", Alias: "\xff", PreviousID: string(make([]byte, 300)), Declares: true, Created: time.Unix(0, -5),
		Input: []byte("[1]"), Output: []byte{}, Snapshot: bytes.Repeat([]byte("x"), 1<<20),
	}
	got, err := c.Decode(c.Append([]byte("head"), &want)[len("head"):])
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, %v", got, err)
	}
}

// What is damaged is said to be, whatever it claims about its size, and takes
// no more memory than it may.
func TestDecodeDamaged(t *testing.T) {
	c := newCodec(t)
	rec := replay.Record{ID: "a", Input: []byte("[1,2,3]"), Snapshot: []byte("{}")}
	good := c.Append(nil, &rec)
	for i := range good {
		if _, err := c.Decode(good[:i]); !errors.Is(err, errDamaged) {
			t.Errorf("cut at %d: %v", i, err)
		}
		bad := bytes.Clone(good)
		bad[i] ^= 0x55
		if got, err := c.Decode(bad); err == nil && !reflect.DeepEqual(got, mustDecode(t, c, good)) {
			t.Errorf("flipped at %d: read as %v", i, got)
		}
	}
	huge := binary.AppendUvarint([]byte{version}, 1<<60)
	if _, err := c.Decode(append(huge, good[2:]...)); !errors.Is(err, errDamaged) {
		t.Errorf("huge: %v", err)
	}
	// A frame that opens to more than the record says.
	bomb := c.enc.EncodeAll(make([]byte, 64<<20), binary.AppendUvarint([]byte{version}, 100))
	if _, err := c.Decode(bomb); !errors.Is(err, errDamaged) {
		t.Errorf("bomb: %v", err)
	}
}

func mustDecode(t *testing.T, c *Codec, b []byte) replay.Record {
	t.Helper()
	rec, err := c.Decode(b)
	if err != nil {
		t.Fatal(err)
	}
	return rec
}

func TestKeys(t *testing.T) {
	seen := make(map[Key]string)
	for what, k := range map[string]Key{
		"a/b": ResponseKey("a", "b"), "ab/": ResponseKey("ab", ""), "/ab": ResponseKey("", "ab"),
		"item a/b": ItemKey("a", "b"), "item ab/": ItemKey("ab", ""),
	} {
		if other, ok := seen[k]; ok {
			t.Errorf("%s and %s have one key", what, other)
		}
		seen[k] = what
	}
}
