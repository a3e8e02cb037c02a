// Package mock plays an upstream: an [http.Handler] that answers create requests
// with turns given to it, byte for byte and with the faults that real upstreams
// show, and that remembers what it was asked. Tests use it in place of a
// provider, and the command "turngate mock" serves recorded turns with it.
//
// [Stream] writes the event streams that such turns are made of.
package mock

import (
	"encoding/json"
	"io"
	"net/http"
	"sync"
)

// Upstream is a server made of turns. Make one with [New]; it is safe for use by
// many clients at once.
//
// Which turn answers: one whose Route is the request's method and path; else,
// for a POST, one whose Name is the model that the request asks for; else, for a
// POST, any turn without a Route. Where several fit, they are served in the
// order given, one a request, and the last one repeats. A request that no turn
// fits gets a JSON error with status 404.
type Upstream struct {
	turns   []Turn
	observe func(Request)

	mu       sync.Mutex
	served   map[string]int // how often each choice of turns was used
	requests []Request
	counts   Counts
	changed  chan struct{} // closed, and replaced, whenever counts change
}

// New returns an upstream that serves turns.
func New(turns ...Turn) *Upstream {
	return &Upstream{
		turns:   turns,
		served:  make(map[string]int),
		changed: make(chan struct{}),
	}
}

// Observe has fn called with each request once its body was read and before it
// is answered, from the request's own goroutine. Call it before serving.
func (u *Upstream) Observe(fn func(Request)) { u.observe = fn }

// ServeHTTP answers a request with the turn that fits it.
func (u *Upstream) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		u.receive(Request{Method: r.Method, Path: r.URL.EscapedPath(), Header: r.Header.Clone(), Body: body})
		u.end(outcomeGone)
		return
	}
	var asked struct{ Model string }
	_ = json.Unmarshal(body, &asked) // not JSON: no model, so any turn fits

	req := Request{
		Method: r.Method,
		Path:   r.URL.EscapedPath(),
		Query:  r.URL.RawQuery,
		Host:   r.Host,
		Header: r.Header.Clone(),
		Body:   body,
		Model:  asked.Model,
	}
	turn := u.choose(req)
	req.Turn = turn.Name
	u.receive(req)
	if u.observe != nil {
		u.observe(req)
	}

	out := turn.play(w, r)
	u.end(out)
	if out == outcomeBroken {
		panic(http.ErrAbortHandler) // net/http closes the connection and says nothing
	}
}

// choose returns the turn that answers req.
func (u *Upstream) choose(req Request) Turn {
	route := req.Method + " " + req.Path
	if t, ok := u.next("route "+route, func(t Turn) bool { return t.Route == route }); ok {
		return t
	}
	if req.Method == http.MethodPost {
		if t, ok := u.next("model "+req.Model, func(t Turn) bool {
			return t.Route == "" && t.Name != "" && t.Name == req.Model
		}); ok {
			return t
		}
		if t, ok := u.next("order", func(t Turn) bool { return t.Route == "" }); ok {
			return t
		}
	}
	return Turn{
		Status: http.StatusNotFound,
		Body: []byte(`{"error":{"message":` + quote("mock upstream: no turn for "+route) +
			`,"type":"invalid_request_error","param":null,"code":"not_found"}}`),
	}
}

// next returns the turn that follows, among those that fit, the one that was
// served last under key.
func (u *Upstream) next(key string, fits func(Turn) bool) (Turn, bool) {
	var fitting []Turn
	for _, t := range u.turns {
		if fits(t) {
			fitting = append(fitting, t)
		}
	}
	if len(fitting) == 0 {
		return Turn{}, false
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	n := u.served[key]
	u.served[key]++
	return fitting[min(n, len(fitting)-1)], true
}
