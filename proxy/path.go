package proxy

import (
	"net/http"
	"net/url"
	"path"
	"strings"
)

// target is the path of a client's request, cleaned: what an upstream would
// clean must not get past the gate.
type target struct {
	clean    string   // decoded, begins with a slash
	segments []string // decoded, below /v1; nil if the path is not there
}

// targetOf cleans the path of u. A slash that the client escaped stays inside
// its segment, unless what is around it would make a path of another meaning
// once decoded: then it is cleaned as a slash.
func targetOf(u *url.URL) target {
	clean := path.Clean("/" + u.Path)
	t := target{clean: clean}
	rest, ok := strings.CutPrefix(clean, "/v1/")
	if !ok {
		return t
	}
	t.segments = strings.Split(rest, "/")
	asSent := path.Clean("/" + u.EscapedPath())
	var segments []string
	for s := range strings.SplitSeq(asSent[1:], "/") {
		s, err := url.PathUnescape(s)
		if err != nil {
			return t
		}
		segments = append(segments, s)
	}
	if len(segments) > 1 && segments[0] == "v1" && "/"+strings.Join(segments, "/") == clean {
		t.segments = segments[1:]
	}
	return t
}

// isTurns reports whether the path is that of create requests.
func (t target) isTurns() bool { return t.clean == "/v1/responses" }

// resemblesTurns reports whether some servers take the path for that of create
// requests although it is another: they ignore case, parameters behind a
// semicolon, or what stands behind a NUL or at an end that is white space.
func (t target) resemblesTurns() bool {
	if len(t.segments) == 0 || t.isTurns() {
		return false
	}
	first := t.segments[0]
	if i := strings.IndexFunc(first, func(r rune) bool { return r <= ' ' || r == ';' || r == 0x7f }); i >= 0 {
		return strings.EqualFold(first[:i], "responses")
	}
	return len(t.segments) == 1 && strings.EqualFold(first, "responses")
}

// escaped returns the path below /v1 with every segment escaped again.
func (t target) escaped() string {
	segments := make([]string, len(t.segments))
	for i, s := range t.segments {
		segments[i] = url.PathEscape(s)
	}
	return strings.Join(segments, "/")
}

// known reports whether the path is part of the API that turngate speaks.
func (t target) known(method string) bool {
	s := t.segments
	switch {
	case s[0] == "models":
		return method == http.MethodGet || method == http.MethodHead
	case s[0] != "responses":
		return false
	case t.takesInput(method):
		return true
	case len(s) == 2:
		return method == http.MethodGet || method == http.MethodDelete
	case len(s) == 3 && s[2] == "input_items":
		return method == http.MethodGet
	case len(s) == 3 && s[2] == "cancel":
		return method == http.MethodPost
	}
	return false
}

// takesInput reports whether a request of this method has an input as a turn
// has, and may name a response that it continues.
func (t target) takesInput(method string) bool {
	s := t.segments
	return method == http.MethodPost && len(s) == 2 && s[0] == "responses" && (s[1] == "compact" || s[1] == "input_tokens")
}
