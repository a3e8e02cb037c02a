// Package proxy is the reverse proxy itself: it takes a turn from a client,
// sends it to an upstream, and relays the answer past the guard.
//
// [New] makes a [Proxy]; its Handler serves clients and its AdminHandler
// operators. A turn runs through request.go (limit, decode, one strict
// reading), route.go, upstream.go (transport and header rules) and then either
// stream.go (the lockstep loop over an event stream) or json.go. Whatever a
// client is told in turngate's own name is made in failure.go.
//
// The package does not decide what a call is or whether it was declared (package
// guard), nor how frames are cut (package sse). It reads no configuration
// files and opens no listeners (cmd/turngate).
package proxy
