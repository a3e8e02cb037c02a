package sse

import "bytes"

// layout is how a frame began, up to its data, when that was all in one line,
// with a blank line behind it. Most frames of a stream begin like the one
// before: then only the end of their data is to be found.
type layout struct {
	head  [64]byte // whole lines, and "data: "
	n     int      // of head; 0: nothing is known
	line  int      // where the data line begins
	event span
}

// begins reports whether b begins like the frame before.
func (s *layout) begins(b []byte) bool {
	return s.n > 0 && bytes.HasPrefix(b, s.head[:s.n])
}

// learn takes the layout of a frame that was cut as p says.
func (s *layout) learn(p *progress, raw []byte) {
	n := p.data.from
	s.n = 0
	if p.dataLines != 1 || p.bom || p.loneCR || n > len(s.head) || raw[n-1] != ' ' ||
		string(raw[p.data.to:]) != "\n\n" || bytes.IndexByte(raw[:n], '\r') >= 0 {
		return
	}
	s.n = copy(s.head[:], raw[:n])
	s.line = n - len("data: ")
	s.event = p.event
}
