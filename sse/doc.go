// Package sse reads and writes server-sent events without losing a byte.
//
// A [Reader] cuts a stream into [Frame]s whose raw bytes, put together, are the
// input again, whatever the chunking; [Tee] passes each frame by an inspection,
// or a run of them by a [Skim], and hands what may go on to a [Sink], all whole
// frames that arrived together in one write. [AppendEvent] encodes the events
// that a proxy says itself.
//
// The package knows the event stream format and nothing of what the events
// mean: no JSON, no Responses API, no HTTP.
package sse
