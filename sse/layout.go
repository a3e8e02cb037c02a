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

// cutAlike cuts a frame that is like the one before; where its end has not come,
// it takes what stands before the data.
func (c *cutter) cutAlike(b []byte, f *Frame) (n int, ok bool) {
	s := &c.last
	switch {
	case c.alike:
		if c.pos != s.line {
			return 0, false
		}
	case c.pos > 0, c.loneCR, s.n == 0, !bytes.HasPrefix(b, s.head[:s.n]):
		return 0, false
	}
	lf, cr := c.lf.next(b, s.line), c.cr.next(b, s.line)
	if lf < 0 || lf+1 >= len(b) || b[lf+1] != '\n' || cr >= 0 && cr < lf {
		c.fields, c.event, c.pos, c.alike = true, s.event, s.line, true
		return 0, false
	}
	n = lf + 2
	*f = Frame{Raw: b[:n], Data: b[s.n:lf:lf]}
	if s.event.to > 0 {
		f.Event = b[s.event.from:s.event.to]
	}
	if c.alike {
		c.progress = progress{}
	}
	c.prevCR, c.prevLF = false, true
	c.advance(n)
	return n, true
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
