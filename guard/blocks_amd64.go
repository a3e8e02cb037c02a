//go:build !purego

package guard

import "golang.org/x/sys/cpu"

// What stringBlocks and plainBlocks look at at once: with less they can do nothing.
const (
	stringBlock = 64
	plainBlock  = 32
)

// blocks is false on processors that lack the instructions.
var blocks = cpu.X86.HasAVX2

// blockTables are what stringBlocks and plainBlocks compare with, each byte twice:
// for the two halves of a register.
//
// Bytes fall into classes by their low and their high four bits: a byte is of
// those whose bit both tables have. A class is of bytes with the same high half,
// or with the same set of low halves under each.
type blockTables struct {
	low, high    [32]byte
	quote, slash [32]byte
	control      [32]byte // the last byte that must be escaped
	u            [32]byte
	escape       [32]byte // classes that may stand behind a backslash
	digit        [32]byte // classes of hexadecimal digits
}

var tables = newBlockTables()

func newBlockTables() *blockTables {
	t := &blockTables{}
	for i := range 32 {
		t.quote[i], t.slash[i], t.control[i], t.u[i] = '"', '\\', 0x1F, 'u'
		t.escape[i], t.digit[i] = 0x0F, 0x30
	}
	for class, bytes := range map[byte]string{0x01: `"/`, 0x02: `\`, 0x04: "bfn", 0x08: "rtu", 0x10: "0123456789", 0x20: "abcdefABCDEF"} {
		for _, c := range []byte(bytes) {
			for half := 0; half < 32; half += 16 {
				t.low[half+int(c&15)] |= class
				t.high[half+int(c>>4)] |= class
			}
		}
	}
	return t
}

// stringBlocks goes through what is inside of a string, from b[0] on, 64 bytes
// at once. It returns n so that b[:n] is well formed and ends outside of an
// escape sequence, with no closing quotation mark in it. b[n] is that mark, or
// what comes is to be read byte by byte: there is an error in it, or too little
// is left.
//
//go:noescape
func stringBlocks(t *blockTables, b []byte) int

// skipBlocks returns how much of b, the inside of a string, can be skipped.
func skipBlocks(b []byte) int {
	if !blocks || len(b) < stringBlock {
		return 0
	}
	return stringBlocks(tables, b)
}

// plainBlocks returns the index of the first byte of b, from i on, that does not
// stand for itself in a string; len(b) if there is none. b has 32 bytes or more.
//
//go:noescape
func plainBlocks(t *blockTables, b []byte, i int) int

// skipPlain returns an index in b, from i on, before which all bytes stand for
// themselves in a string.
func skipPlain(b []byte, i int) int {
	if !blocks || len(b) < plainBlock {
		return i
	}
	return plainBlocks(tables, b, i)
}
