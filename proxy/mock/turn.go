package mock

import (
	"bytes"
	"net/http"
	"time"
)

// Turn is one answer of an [Upstream]: bytes, and how they are sent. The zero
// knobs send the body whole and at once, an event a write.
type Turn struct {
	// Name is the model whose requests this turn answers; see [Upstream].
	Name string
	// Route, if not empty, keeps the turn for requests of one method and path,
	// written "GET /v1/models".
	Route string

	// Body is sent as it is.
	Body []byte
	// Status is the response's status; 0 is 200.
	Status int
	// ContentType is the response's content type; "" chooses application/json or
	// text/event-stream by the body's first byte, [NoContentType] sends none.
	ContentType string
	// Header holds further response headers.
	Header http.Header
	// Redirect, if not empty, is sent as Location; Status 0 is then 307.
	Redirect string

	// Chunk is the number of bytes per write, each of which is flushed; 0 writes
	// one event at a time.
	Chunk int
	// Interval passes before every event but the first.
	Interval time.Duration
	// Arrivals, if not empty, are the pieces in which the body is sent instead,
	// and when, the first at once. They begin at offset 0 and ascend.
	Arrivals []Arrival

	// Fault happens after At bytes of the body, or at its end if that comes
	// first. A negative At is before the response's head, where nothing can be
	// cut cleanly: a Cut is an Abort there.
	Fault Fault
	At    int
	// Resume, if not nil, ends a Stall when it is closed: the rest is then sent.
	Resume <-chan struct{}
}

// Arrival is when the piece of a body is sent that begins at Offset.
type Arrival struct {
	Offset int
	At     time.Duration
}

// NoContentType as a turn's ContentType sends no such header.
const NoContentType = "-"

// Fault is what goes wrong in a turn.
type Fault uint8

const (
	// None: the body is sent to its end.
	None Fault = iota
	// Cut ends the response cleanly, as if the body were over.
	Cut
	// Reset sends a TCP reset (RST), so that the client's read fails.
	Reset
	// Abort closes the connection without the end of a chunked body.
	Abort
	// Stall sends nothing more until the client leaves, or Resume is closed.
	Stall
)

// String returns the fault's name in lower case.
func (f Fault) String() string {
	switch f {
	case None:
		return "none"
	case Cut:
		return "cut"
	case Reset:
		return "reset"
	case Abort:
		return "abort"
	case Stall:
		return "stall"
	}
	return "unknown"
}

// writeHead writes status and headers.
func (t Turn) writeHead(w http.ResponseWriter) {
	h := w.Header()
	switch t.ContentType {
	case NoContentType:
		h["Content-Type"] = nil // keeps net/http from guessing one
	case "":
		h.Set("Content-Type", t.guessType())
	default:
		h.Set("Content-Type", t.ContentType)
	}
	for key, values := range t.Header {
		h[http.CanonicalHeaderKey(key)] = values
	}
	status := t.Status
	if t.Redirect != "" {
		h.Set("Location", t.Redirect)
		if status == 0 {
			status = http.StatusTemporaryRedirect
		}
	}
	if status == 0 {
		status = http.StatusOK
	}
	w.WriteHeader(status)
}

// guessType tells JSON from an event stream.
func (t Turn) guessType() string {
	if b := bytes.TrimLeft(t.Body, " \t\r\n"); len(b) > 0 && (b[0] == '{' || b[0] == '[') {
		return "application/json"
	}
	return "text/event-stream"
}
