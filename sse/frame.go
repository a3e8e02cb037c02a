package sse

import "bytes"

// Frame is a piece of an event stream that no reader would cut further: one
// event with its closing blank line, one comment line between events, or a
// blank line of its own. What the slices hold is valid until the next call of
// the Reader that cut them, unless [Reader.Ready] was true in between.
type Frame struct {
	// Raw is every byte of the frame, line ends included. The Raw of all
	// frames of a stream, in order, is the stream.
	Raw []byte
	// Event is the value of the last "event" line; nil if there is none.
	Event []byte
	// Data is the value of the "data" lines, joined by line feeds. It is nil
	// if there is none and empty, not nil, for an empty "data" line.
	Data []byte
	// LoneCR is true if readers that know only line feeds (openai-go among
	// them) may see another event here than the standard does: a carriage
	// return without a line feed ended one of the frame's lines, or an earlier
	// line, and such readers saw no blank line since.
	LoneCR bool
	// Cut is true if the input ended before the frame did: before its blank
	// line, or where half of the blank line's CRLF may be missing. The standard
	// discards a frame without its blank line; many readers do not.
	Cut bool

	bom bool // Raw begins with a byte order mark that is not part of its line
}

// Closing returns the line ends that a frame which is Cut lacks, so that Raw
// and Closing together are a whole frame to every reader. It is empty for other
// frames.
func (f *Frame) Closing() string {
	rest, cr := bytes.CutSuffix(f.Raw, []byte("\r"))
	switch {
	case !f.Cut:
		return ""
	case bytes.HasSuffix(rest, []byte("\n")), cr && len(rest) == 0:
		return "\n"
	}
	return "\n\n" // behind a carriage return the first only completes a CRLF
}

// IsEvent reports whether the frame dispatches an event, that is, whether it
// has data. Comments and stray line ends do not.
func (f *Frame) IsEvent() bool { return f.Data != nil }

// Ignored calls yield for each line of the frame that the standard gives no
// meaning: comments, and lines whose field name is unknown.
func (f *Frame) Ignored(yield func(line []byte) bool) {
	rest := f.Raw
	if f.bom {
		rest = rest[len(byteOrderMark):]
	}
	for len(rest) > 0 {
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
