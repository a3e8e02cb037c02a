package proxy

import (
	"bytes"
	"io"
	"mime"
	"strings"
)

// form is what an answer is, by its bytes; its Content-Type is only a hint.
type form int

const (
	formOther  form = iota // neither: a web page, an empty body
	formStream             // an event stream
	formJSON               // one JSON value
)

// sniffed is a body whose beginning was looked at.
type sniffed struct {
	src  io.Reader
	head []byte // read, not yet handed on
	buf  [64]byte
}

// Read hands on what was looked at, then the rest.
func (s *sniffed) Read(p []byte) (int, error) {
	if len(s.head) > 0 {
		n := copy(p, s.head)
		s.head = s.head[n:]
		return n, nil
	}
	return s.src.Read(p)
}

// sniff reads just enough of body to tell its form. An event stream is one that
// begins with a comment or one of the format's fields, or whatever is neither
// markup nor JSON where the Content-Type says event stream. The error is the
// body's, nil at a clean end.
func sniff(body io.Reader, contentType string) (*sniffed, form, error) {
	s := &sniffed{src: body}
	declared := isEventStream(contentType)
	for n := 0; ; {
		m, err := body.Read(s.buf[n:])
		n += m
		s.head = s.buf[:n]
		if f, ok := formOf(s.head, declared, err != nil || n == len(s.buf)); ok {
			return s, f, nil
		}
		if err != nil {
			if err == io.EOF {
				err = nil
			}
			return s, formOther, err
		}
	}
}

func isEventStream(contentType string) bool {
	t, _, err := mime.ParseMediaType(contentType)
	return err == nil && t == "text/event-stream" ||
		err != nil && strings.HasPrefix(strings.ToLower(strings.TrimSpace(contentType)), "text/event-stream")
}

// formOf tells the form of a body by its first bytes; ok is false if it takes
// more of them. last is true if there will not be more.
func formOf(head []byte, declared, last bool) (f form, ok bool) {
	rest := bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\xEF\xBB\xBF")), " \t\r\n")
	if len(rest) == 0 {
		// White space may come before either; a stream of nothing but blank
		// lines has to be relayed some time.
		return formStream, declared && len(head) >= 16
	}
	switch rest[0] {
	case '{', '[':
		return formJSON, true
	case '<':
		return formOther, true
	case ':':
		return formStream, true
	}
	if declared {
		return formStream, true
	}
	name, _, found := bytes.Cut(rest, []byte(":"))
	if line, _, ended := bytes.Cut(name, []byte("\n")); ended {
		name, found = line, true
	}
	switch string(bytes.TrimRight(name, "\r")) {
	case "data", "event", "id", "retry":
		if found || last {
			return formStream, true
		}
	}
	if found || last || len(rest) > len("event")+1 {
		return formOther, true
	}
	return formOther, false
}
