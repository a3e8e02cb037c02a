package sse

import "bytes"

const byteOrderMark = "\xEF\xBB\xBF"

// cutter finds the end of a frame and its fields, keeping its place when the
// bytes run out. Offsets count from the frame's start.
type cutter struct {
	progress
	prevCR bool   // the frame before ended in a carriage return without its line feed
	prevLF bool   // the frame before ended in a line feed
	lf, cr finder // the line ends to come
	last   layout
}

// progress is how far the frame at hand has been read.
type progress struct {
	pos       int  // start of the line in progress
	fields    bool // a line that is not a comment came: comments now belong to the frame
	afterCR   bool // the byte before pos is a carriage return: a line feed here belongs to it
	ended     bool // the frame's last line came; at most a line feed after it is missing
	loneCR    bool // Frame.LoneCR
	bom       bool // the frame begins with a byte order mark
	event     span
	data      span
	dataLines int
	joined    []byte // the data of several lines
	alike     bool   // the frame begins like the last
}

type span struct{ from, to int }

// init readies a zero cutter.
func (c *cutter) init() {
	c.prevLF = true
	c.lf.init('\n')
	c.cr.init('\r')
}

// cut cuts the frame at the start of b, which is not empty, into f and returns
// its length; ok is false if its end has not come.
func (c *cutter) cut(b []byte, first bool, f *Frame) (n int, ok bool) {
	if n, ok = c.cutAlike(b, f); ok {
		return n, true
	}
	if n, ok = c.scan(b, first); ok {
		c.frame(b[:n], f)
	}
	return n, ok
}

// scan looks for the end of the frame at the start of b and returns its length.
//
// Frames must not depend on how the bytes arrive. So a frame that may end in
// half a CRLF waits for the next byte; but one with a lone carriage return in it
// ends there and then, else a stream of nothing else would lag behind by an
// event. A line feed that comes after all is a frame of its own.
func (c *cutter) scan(b []byte, first bool) (int, bool) {
	if c.prevCR {
		c.prevCR = false
		if b[0] == '\n' {
			return 1, true
		}
	}
	for {
		if c.afterCR {
			if c.pos == len(b) {
				return 0, false
			}
			c.afterCR = false
			if b[c.pos] == '\n' {
				c.pos++
			} else {
				c.loneCR = true
			}
		}
		if c.ended {
			return c.pos, true
		}
		eol := c.lineEnd(b)
		if eol < 0 {
			return 0, false
		}
		line := span{c.pos, eol}
		c.pos = eol + 1
		c.ended = c.line(b, line, first && line.from == 0)
		c.afterCR = b[eol] == '\r' && !(c.ended && c.loneCR)
	}
}

// line takes one line and reports whether it ends the frame.
func (c *cutter) line(b []byte, s span, first bool) bool {
	if first && bytes.HasPrefix(b[s.from:s.to], []byte(byteOrderMark)) {
		s.from += len(byteOrderMark)
		c.bom = true
	}
	line := b[s.from:s.to]
	if len(line) == 0 {
		return true
	}
	if line[0] == ':' {
		return !c.fields
	}
	c.fields = true
	name, value := field(line)
	switch string(line[:name]) {
	case "data":
		c.addData(b, span{s.from + value, s.to})
	case "event":
		c.event = span{s.from + value, s.to}
		if c.event.from == c.event.to { // distinguishable from "none"
			c.event = span{}
		}
	}
	return false
}

// field returns the length of a line's field name and the offset of its value.
func field(line []byte) (name, value int) {
	name = bytes.IndexByte(line, ':')
	if name < 0 {
		return len(line), len(line)
	}
	value = name + 1
	if value < len(line) && line[value] == ' ' {
		value++
	}
	return name, value
}

func (c *cutter) addData(b []byte, s span) {
	c.dataLines++
	switch c.dataLines {
	case 1:
		c.data = s
		return
	case 2:
		c.joined = append(c.joined[:0], b[c.data.from:c.data.to]...)
	}
	c.joined = append(c.joined, '\n')
	c.joined = append(c.joined, b[s.from:s.to]...)
}

// frame makes f the Frame of raw and readies the cutter for the next one.
func (c *cutter) frame(raw []byte, f *Frame) {
	*f = Frame{Raw: raw, LoneCR: c.loneCR, bom: c.bom}
	if c.event.to > 0 {
		f.Event = raw[c.event.from:c.event.to]
	}
	switch {
	case c.dataLines == 1:
		f.Data = raw[c.data.from:c.data.to:c.data.to]
	case c.dataLines > 1:
		f.Data = c.joined
	}
	if !c.alike || c.dataLines != 1 {
		c.last.learn(&c.progress, raw)
	}
	// The joined data is handed out with the frame, so the next frame may not
	// write over it: several frames are valid at once.
	c.progress = progress{loneCR: c.loneCR && !c.blankByLF(raw)}
	last := raw[len(raw)-1]
	c.prevCR, c.prevLF = last == '\r', last == '\n'
	c.advance(len(raw))
}

// clean reports, between frames, whether the next byte begins one to every reader.
func (c *cutter) clean() bool { return !c.loneCR && !c.prevCR }

// skip goes on behind n bytes of whole frames that end in a line feed.
func (c *cutter) skip(n int) {
	if n > 0 {
		c.prevLF = true
		c.advance(n)
	}
}

// advance goes on behind n bytes.
func (c *cutter) advance(n int) {
	c.lf.advance(n)
	c.cr.advance(n)
}

// blankByLF reports whether a reader that knows only line feeds sees a blank
// line at the end of raw: from there on it is in step again.
func (c *cutter) blankByLF(raw []byte) bool {
	rest, ok := bytes.CutSuffix(raw, []byte("\n"))
	if !ok {
		return false
	}
	rest = bytes.TrimSuffix(rest, []byte("\r"))
	return len(rest) == 0 && c.prevLF || bytes.HasSuffix(rest, []byte("\n"))
}

// tail makes f a Cut frame of raw, which lacks its end.
func (c *cutter) tail(raw []byte, first bool, f *Frame) {
	if c.pos < len(raw) {
		c.line(raw, span{c.pos, len(raw)}, first && c.pos == 0)
	}
	c.frame(raw, f)
	f.Cut = true
}

// lineEnd returns the index of the first line end in b from pos on, or -1.
func (c *cutter) lineEnd(b []byte) int {
	lf, cr := c.lf.next(b, c.pos), c.cr.next(b, c.pos)
	if lf < 0 || cr >= 0 && cr < lf {
		return cr
	}
	return lf
}
