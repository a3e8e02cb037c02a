package main

import (
	"net/http"
	"strings"
	"testing"
)

// TestAdminKey asks for what operators see, with the key and without.
func TestAdminKey(t *testing.T) {
	const key = "admin-4711"
	in := startServe(t, map[string]string{"ADMIN_KEY": key + "\n"}, "--admin-key-env", "ADMIN_KEY")
	for _, tc := range []struct {
		path string
		auth func(*http.Request)
		want int
	}{
		{"/turns", nil, http.StatusUnauthorized},
		{"/metrics", nil, http.StatusUnauthorized},
		{"/turns/req_1", nil, http.StatusUnauthorized},
		{"/nonsense", nil, http.StatusUnauthorized},
		{"//healthz", nil, http.StatusUnauthorized},
		{"/healthz/../turns", nil, http.StatusUnauthorized},
		{"/healthz", nil, http.StatusOK},
		{"/readyz", nil, http.StatusOK},
		{"/metrics", bearer(key), http.StatusOK},
		{"/turns", bearer(key), http.StatusOK},
		{"/turns/req_1", bearer(key), http.StatusNotFound},
		{"/turns", bearer(key + "x"), http.StatusUnauthorized},
		{"/turns", bearer(""), http.StatusUnauthorized},
		{"/turns", func(r *http.Request) { r.SetBasicAuth("anyone", key) }, http.StatusOK},
		{"/turns", func(r *http.Request) { r.SetBasicAuth(key, "") }, http.StatusUnauthorized},
		{"/turns", func(r *http.Request) { r.Header.Set("Authorization", key) }, http.StatusUnauthorized},
		{"/readyz", bearer("wrong"), http.StatusOK},
	} {
		req, err := http.NewRequest(http.MethodGet, in.admin+tc.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if tc.auth != nil {
			tc.auth(req)
		}
		if got, body := do(t, req); got != tc.want {
			t.Errorf("%s with %q: status %d, want %d: %s", tc.path, req.Header.Get("Authorization"), got, tc.want, body)
		}
	}
	if strings.Contains(in.log.String(), key) {
		t.Error("the key is in the log")
	}
}

// bearer sets a key as operators and Prometheus send it.
func bearer(key string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+key) }
}
