package sse

import (
	"bytes"

	gosse "github.com/tmaxmax/go-sse"
)

// AppendEvent appends one event in the form that OpenAI's servers use: an event
// line, a data line, a blank line, each ended by a line feed. typ may be empty;
// with a line end in it AppendEvent panics. data must be free of line ends and
// not empty, as compact JSON is: others are split into several data lines, and
// an empty data line at the end is lost.
func AppendEvent(dst []byte, typ string, data []byte) []byte {
	m := &gosse.Message{}
	if typ != "" {
		m.Type = gosse.Type(typ)
	}
	m.AppendData(string(data))
	buf := bytes.NewBuffer(dst)
	m.WriteTo(buf) // a bytes.Buffer takes everything
	return buf.Bytes()
}
