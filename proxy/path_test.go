package proxy

import (
	"net/url"
	"strings"
	"testing"
)

// TestTargetIsCleaned holds what is routed by, and what an upstream is sent, to
// one reading of the path.
func TestTargetIsCleaned(t *testing.T) {
	for raw, want := range map[string]string{
		"/v1/responses":                          "responses",
		"/v1//responses":                         "responses",
		"//v1/responses":                         "responses",
		"/v1/x/../responses":                     "responses",
		"/v1/./responses/.":                      "responses",
		"/v1/responses/":                         "responses",
		"/v1/%72esponses":                        "responses",
		"/v1%2Fresponses":                        "responses",
		"/v1/x%2F..%2Fresponses":                 "responses",
		"/v1/x/%2e%2E/responses":                 "responses",
		"/v1/responses%2F":                       "responses",
		"/v1/responses%2F.":                      "responses",
		"/v1/%2e/responses":                      "responses",
		"/v1/%2572esponses":                      "%2572esponses", // one decoding, not two
		"/v1/responses/resp_1":                   "responses/resp_1",
		"/v1/responses/a%2Fb":                    "responses/a%2Fb",
		"/v1/responses/a%2fb/input_items":        "responses/a%2Fb/input_items",
		"/v1/responses/a%2F..%2Fb":               "responses/b",
		"/v1/responses/x%2F..%2F..%2Ffiles":      "files",
		"/v1/responses/%2E%2E%2Fmodels":          "models",
		"/v1/responses/a%3Fb%23c":                "responses/a%3Fb%23c",
		"/v1/responses/a%20b%5C..%5Cc":           "responses/a%20b%5C..%5Cc",
		"/v1/responses/resp_%C3%A9":              "responses/resp_%C3%A9",
		"/v1/models/vendor/model:free":           "models/vendor/model:free",
		"/v1/models/vendor%2Fmodel":              "models/vendor%2Fmodel",
		"/v1/../v1/models":                       "models",
		"/v1/responses/../../v1/x/../models":     "models",
		"/":                                      "",
		"/v1":                                    "",
		"/v1/":                                   "",
		"/v1/..":                                 "",
		"/v1/responses/..%2F..%2F..":             "",
		"/v1/../admin":                           "",
		"/v1/responses/..%2F..%2F..%2Fmetrics":   "",
		"/v10/responses":                         "",
		"/V1/responses":                          "",
		"/v1/responses/%2e%2e%2f%2e%2e%2fetc/x":  "",
		"/x/v1/responses":                        "",
		"*":                                      "",
		"/v1/responses/a/../../../../../etc/pwd": "",
	} {
		u, err := url.ParseRequestURI(raw)
		if err != nil {
			t.Fatal(err)
		}
		to := targetOf(u)
		if got := to.escaped(); got != want {
			t.Errorf("%s goes to %q, want %q", raw, got, want)
		}
		if got := to.isTurns(); got != (want == "responses") {
			t.Errorf("%s is a turn: %v", raw, got)
		}
		if strings.Contains("/"+to.escaped()+"/", "/../") || strings.Contains("/"+to.escaped()+"/", "/./") {
			t.Errorf("%s goes on as %q, which an upstream would clean", raw, to.escaped())
		}
	}
}

// TestTargetResemblesTurns lists what an upstream could take for its turn
// endpoint, and what merely looks like it.
func TestTargetResemblesTurns(t *testing.T) {
	for path, want := range map[string]bool{
		"/v1/Responses":           true,
		"/v1/RESPONSES/":          true,
		"/v1/responses;v=1":       true,
		"/v1/responses%3Bv=1":     true,
		"/v1/Responses;v=1/x":     true,
		"/v1/responses%00":        true,
		"/v1/responses%00/x":      true,
		"/v1/responses%20":        true,
		"/v1/responses%09%0A":     true,
		"/v1/responses%7F":        true,
		"/v1/responses":           false,
		"/v1/responses/Responses": false,
		"/v1/responses/a;b":       false,
		"/v1/responses2":          false,
		"/v1/models":              false,
		"/v1/;responses":          false,
		"/":                       false,
	} {
		u, err := url.ParseRequestURI(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := targetOf(u).resemblesTurns(); got != want {
			t.Errorf("%s resembles the turn endpoint: %v, want %v", path, got, want)
		}
	}
}

// FuzzTarget shows that no path goes on that a server which decodes, or cleans,
// once more would read as another one of these.
func FuzzTarget(f *testing.F) {
	for _, s := range []string{"/v1/responses", "/v1/x%2F..%2Fresponses", "/v1/responses/a%2Fb", "/v1//%2e%2e/v1/models"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		u, err := url.ParseRequestURI(raw)
		if err != nil || u.Host != "" || !strings.HasPrefix(u.Path, "/") {
			return
		}
		to := targetOf(u)
		if to.segments == nil {
			return
		}
		sent, err := url.ParseRequestURI("/v1/" + to.escaped())
		if err != nil {
			t.Fatalf("%q goes on as %q: %v", raw, to.escaped(), err)
		}
		if again := targetOf(sent); again.clean != to.clean || again.escaped() != to.escaped() || sent.Path != to.clean {
			t.Errorf("%q goes on as %q, which reads as %q", raw, to.escaped(), again.escaped())
		}
	})
}
