package main

import (
	"crypto/sha256"
	"crypto/subtle"
	"io"
	"net/http"
	"strings"
)

// requireKey lets only those to h who send key, as a Bearer token or, for
// browsers, as the password of any user. Health checks need none: what they
// tell is no secret, and those who make them often cannot send headers. Without
// a key everyone is let in.
func requireKey(h http.Handler, key string) http.Handler {
	if key == "" {
		return h
	}
	want := sha256.Sum256([]byte(key))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got := sha256.Sum256([]byte(operatorKey(r)))
		open := r.URL.Path == "/healthz" || r.URL.Path == "/readyz"
		if subtle.ConstantTimeCompare(got[:], want[:]) != 1 && !open {
			w.Header()["Www-Authenticate"] = []string{"Bearer", `Basic realm="turngate"`}
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusUnauthorized)
			io.WriteString(w, `{"error":"the key of the admin listener is needed"}`+"\n")
			return
		}
		h.ServeHTTP(w, r)
	})
}

// operatorKey returns the key that a request carries, "" if it has none.
func operatorKey(r *http.Request) string {
	if _, password, ok := r.BasicAuth(); ok {
		return password
	}
	scheme, rest, ok := strings.Cut(r.Header.Get("Authorization"), " ")
	if !ok || !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.Trim(rest, " ")
}
