//go:build !amd64 || purego

package guard

// skipBlocks returns how much of b, the inside of a string, can be skipped:
// nothing, where nothing is faster than byte by byte.
func skipBlocks([]byte) int { return 0 }

// skipPlain returns an index in b, from i on, before which all bytes stand for
// themselves in a string.
func skipPlain(_ []byte, i int) int { return i }
