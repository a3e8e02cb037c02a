// Package transcript keeps turns as folders of plain files: what a client asked,
// what went upstream, what came back and when, what the client got, and how the
// turn was judged. "turngate serve --record" writes them, "turngate check" judges
// them again, "turngate mock" serves them.
//
// A [Recorder] writes beside the streams: callers hand over copies, one goroutine
// does the rest, and what it cannot keep up with is dropped and counted. Nothing
// that could be a credential is written (redact.go, scrub.go). [Open] reads a
// folder back.
//
// The package knows HTTP heads and the tools of a request, where credentials may
// stand, but does not judge: that is package proxy.
package transcript
