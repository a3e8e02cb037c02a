package replay

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
)

// NewScope returns the scope of the client that parts describe, for example the
// kind of credential, the credential, and the upstream's name. It is a keyed
// hash: without key (from [Store.ScopeKey]) nobody can tell from a scope what
// it was made of, or try credentials against it. Different lists of parts give
// different scopes, also where their concatenation is the same.
func NewScope(key []byte, parts ...string) Scope {
	h := hmac.New(sha256.New, key)
	var n [8]byte
	for _, p := range parts {
		binary.BigEndian.PutUint64(n[:], uint64(len(p)))
		h.Write(n[:])
		h.Write([]byte(p))
	}
	return Scope(hex.EncodeToString(h.Sum(nil)[:16]))
}
