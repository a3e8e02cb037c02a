// Package proxy is the reverse proxy itself: it takes a turn from a client,
// sends it to an upstream, and relays the answer past the guard.
//
// [New] makes a [Proxy]; its Handler serves clients and its AdminHandler
// operators. A turn (turn.go) runs through request.go (limit, decode), route.go,
// expand.go (the history, for an upstream that keeps none), upstream.go and
// headers.go, and then either stream.go (the lockstep loop over an event stream)
// or json.go. Whatever a client is told in turngate's own name is made in
// failure.go. [Judge] takes a turn that has been through the same code.
//
// The package does not decide what a call is or whether it was declared (package
// guard), how frames are cut (package sse), or how records are kept (package
// replay). It reads no configuration files and opens no listeners (cmd/turngate).
package proxy
