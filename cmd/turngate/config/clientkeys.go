package config

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"strings"

	"turngate/proxy"
)

// minClientKey is the length of the shortest key that is taken. Keys are meant
// to be random, not to be remembered, and are the only thing that is asked for.
const minClientKey = 16

// clientKeys reads the file of the option client-keys: one "name: key" a line.
// As what stands at a wrong place there may be a key, faults name lines only.
func (l *loader) clientKeys() {
	path := l.settings.ClientKeys
	if path == "" {
		return
	}
	text, ok := l.fileText(path)
	if !ok {
		return
	}
	before := len(l.faults)
	f := file{path: path, faults: &l.faults, secret: true}
	pairs := f.pairs(f.root(text), "the file")
	lines := make(map[[sha256.Size]byte]int) // of the keys
	plain := false
	for _, p := range pairs {
		var name labelName
		if err := name.Set(p.key); err != nil {
			f.fault(p.line, "a client's name %v", err)
		}
		value, ok := f.scalar(pair{"a client's key", p.line, p.value})
		if !ok {
			continue
		}
		hash, hashed, err := clientKeyHash(value)
		if err != nil {
			f.fault(p.value.Line, "a client's key %v", err)
			continue
		}
		if line, ok := lines[hash]; ok {
			f.fault(p.value.Line, "the key is that of line %d", line)
		}
		lines[hash] = p.value.Line
		plain = plain || !hashed
		l.settings.Clients = append(l.settings.Clients, proxy.ClientKey{Name: string(name), Hash: hash})
	}
	if len(pairs) == 0 && len(l.faults) == before {
		l.faults.add(path, "holds no key, so that nobody could get in")
	}
	l.checkMode(path, plain)
}

// clientKeyHash returns the hash of a key as it stands in the file, and whether
// it stands there as a hash.
func clientKeyHash(s string) (hash [sha256.Size]byte, hashed bool, err error) {
	const prefix = "sha256:"
	if len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix) {
		b, err := hex.DecodeString(s[len(prefix):])
		if err != nil || len(b) != len(hash) {
			return hash, true, errors.New("is not sha256: and 64 hexadecimal digits")
		}
		return [sha256.Size]byte(b), true, nil
	}
	if len(s) < minClientKey {
		return hash, false, errors.New("has less than 16 characters, which could be guessed")
	}
	for _, r := range s {
		// What a Bearer token may hold (RFC 6750). A colon or a dollar would be
		// a sign of a hash that this is not taken for.
		if !isAlnum(r) && !strings.ContainsRune("-._~+/=", r) {
			return hash, false, errors.New("may hold letters, digits and -._~+/= only")
		}
	}
	return sha256.Sum256([]byte(s)), false, nil
}

// checkMode looks at who else may use the file. Who may write it may let anyone
// in. That others can read it does no harm where it holds hashes, and is how
// some platforms hand out their secrets, so it is a warning.
func (l *loader) checkMode(path string, plain bool) {
	info, err := os.Stat(path)
	if err != nil {
		return // it has just been read
	}
	switch mode := info.Mode().Perm(); {
	case mode&0o002 != 0:
		l.faults.add(path, "may be written by everyone (mode %04o)", mode)
	case mode&0o004 != 0 && plain:
		l.settings.Warnings.add(path, "holds keys and may be read by everyone (mode %04o)", mode)
	}
}
