package sse

import "bytes"

// WithData returns the frame in new bytes with data in place of its own, whole
// to every reader even if the frame is Cut. All other lines keep their bytes and
// their order, and the line ends stay those of the frame. data must have no
// carriage returns; line feeds in it make several data lines. A frame without
// data is returned as it is.
func (f *Frame) WithData(data []byte) []byte {
	out := make([]byte, 0, len(f.Raw)-len(f.Data)+len(data)+len("\n\n"))
	rest := f.Raw
	if f.bom {
		out, rest = append(out, byteOrderMark...), rest[len(byteOrderMark):]
	}
	put := false
	for len(rest) > 0 {
		line, end := cutLine(rest)
		rest = rest[len(line)+len(end):]
		name, _, _ := bytes.Cut(line[:min(len(line), len("data:"))], []byte(":"))
		switch {
		case string(name) != "data":
			out = append(append(out, line...), end...)
		case !put:
			put = true
			if len(end) == 0 {
				end = []byte("\n")
			}
			out = appendData(out, data, end)
		}
	}
	return append(out, (&Frame{Raw: out, Cut: f.Cut}).Closing()...)
}

// appendData appends a data line for each line of data.
func appendData(out, data, end []byte) []byte {
	for more := true; more; {
		var line []byte
		line, data, more = bytes.Cut(data, []byte("\n"))
		out = append(append(append(out, "data: "...), line...), end...)
	}
	return out
}

// cutLine returns the first line of b and its end.
func cutLine(b []byte) (line, end []byte) {
	lf := bytes.IndexByte(b, '\n')
	if lf < 0 {
		lf = len(b)
	}
	n := lf
	if cr := bytes.IndexByte(b[:lf], '\r'); cr >= 0 {
		n = cr
	}
	switch {
	case n == len(b):
		return b, nil
	case n+1 == lf && lf < len(b):
		return b[:n], b[n : n+2]
	}
	return b[:n], b[n : n+1]
}
