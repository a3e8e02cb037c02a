package sse

import "bytes"

// Frame is a piece of an event stream that no reader would cut further: one
// event with its closing blank line, one comment line between events, or a
// blank line of its own. The slices are valid until the next call of the
// Reader that cut them, unless [Reader.Ready] was true in between.
type Frame struct {
	// Raw is every byte of the frame, line ends included. The Raw of all
	// frames of a stream, in order, is the stream.
	Raw []byte
	// Event is the value of the last "event" line; nil if there is none.
	Event []byte
	// Data is the value of the "data" lines, joined by line feeds. It is nil
	// if there is none and empty, not nil, for an empty "data" line.
	Data []byte
	// LoneCR is true if a carriage return without a line feed ended one of the
	// frame's lines, or the frame before it. Readers that know only line feeds
	// (openai-go among them) then see other lines than the standard's.
	LoneCR bool
	// Cut is true if the input ended before the frame's blank line. The
	// standard discards such a frame; many readers do not.
	Cut bool
}

// Closing returns the line ends that a frame which is Cut lacks, so that Raw
// and Closing together are a whole frame. It is empty for other frames.
func (f Frame) Closing() string {
	switch {
	case !f.Cut:
		return ""
	case bytes.HasSuffix(f.Raw, []byte("\n")), bytes.HasSuffix(f.Raw, []byte("\r")):
		return "\n"
	}
	return "\n\n"
}

// IsEvent reports whether the frame dispatches an event, that is, whether it
// has data. Comments and stray line ends do not.
func (f Frame) IsEvent() bool { return f.Data != nil }

// Ignored calls yield for each line of the frame that the standard gives no
// meaning: comments, and lines whose field name is unknown.
func (f Frame) Ignored(yield func(line []byte) bool) {
	for rest := f.Raw; len(rest) > 0; {
		i := bytes.IndexAny(rest, "\r\n")
		line := rest
		if i >= 0 {
			line, rest = rest[:i], rest[i+1:]
		} else {
			rest = nil
		}
		name, _, _ := bytes.Cut(line, []byte(":"))
		switch string(name) {
		case "data", "event", "id", "retry":
		default:
			if len(line) > 0 && !yield(line) {
				return
			}
		}
	}
}
