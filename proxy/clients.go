package proxy

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"strings"
)

// ClientKey is a key that lets a client in.
type ClientKey struct {
	Name string            // whose it is; unique, and safe to show
	Hash [sha256.Size]byte // SHA-256 of the key
}

// authenticate finds out whose key the client sent, for all that is logged from
// then on. Without client keys everyone is let in, as nobody in particular.
func (ex *exchange) authenticate() *failure {
	keys := ex.cfg.ClientKeys
	if len(keys) == 0 {
		return nil
	}
	sent := false
	for _, key := range sentKeys(ex.r.Header) {
		if key == "" {
			continue
		}
		sent = true
		if k := findKey(keys, key); k != nil {
			ex.client, ex.log = k.Name, ex.log.With("client", k.Name)
			return nil
		}
	}
	return invalidAPIKey(sent)
}

// sentKeys returns what may be the client's key, in the order in which it is
// tried; "" where there is none.
func sentKeys(h http.Header) []string {
	bearer := ""
	if scheme, rest, ok := strings.Cut(h.Get("Authorization"), " "); ok && strings.EqualFold(scheme, "Bearer") {
		bearer = strings.Trim(rest, " ")
	}
	return []string{bearer, h.Get("Api-Key"), h.Get("X-Api-Key")}
}

// findKey returns the entry of a key, nil if there is none. How long it takes
// tells nothing of the keys but their number: all are looked at, and what is
// compared are hashes, in constant time.
func findKey(keys []ClientKey, key string) *ClientKey {
	hash := sha256.Sum256([]byte(key))
	found := -1
	for i := range keys {
		same := subtle.ConstantTimeCompare(hash[:], keys[i].Hash[:])
		found = subtle.ConstantTimeSelect(same, i, found)
	}
	if found < 0 {
		return nil
	}
	return &keys[found]
}

// reject answers a client that was not let in. Its body is not read, and it is
// not put among the recent turns, where it could push out those of others.
func (ex *exchange) reject(f *failure) {
	ex.log.Warn("client not let in", "request_id", ex.id, "remote", ex.r.RemoteAddr, "error", f.code)
	if ex.turn {
		ex.p.metrics.turns.WithLabelValues(noUpstream, "json", string(f.outcome)).Inc()
	}
	ex.w.Header()["Www-Authenticate"] = []string{"Bearer"}
	ex.fail(f)
}
