package guard

import (
	"bytes"

	"turngate/sse"
)

// isPlain reports whether a frame is no more than an event line and a data
// line, or a data line alone, so that nothing can hide beside the data.
func isPlain(f *sse.Frame) bool {
	rest := len(f.Raw) - len(f.Data) - len(f.Event)
	if f.Event == nil {
		return !f.Cut && !f.LoneCR && rest <= len("data: \n\n")
	}
	return !f.Cut && !f.LoneCR && rest <= len("event: \ndata: \n\n")
}

// mayCarryCall reports false only if the bytes of a broken event prove that no
// reader, however lenient, can see a client-executed call in it. Every such
// call is announced by a type that contains "_call" or "_approval_", in a
// string that only \u00XX escapes could write otherwise. Some readers join
// several data lines without the line feed between.
func mayCarryCall(f *sse.Frame) bool {
	data := f.Data
	if bytes.IndexByte(data, '\n') >= 0 {
		data = bytes.ReplaceAll(data, []byte("\n"), nil)
	}
	return !evidenceFree(data) || !evidenceFree(f.Event) ||
		(bytes.Contains(data, []byte(`"n`)) || bytes.Contains(data, []byte(`"N`))) && (ofArguments(data) || ofArguments(f.Event))
}

// ofArguments reports whether b could hold the type of an event of the
// arguments family (G11) that does not say "_call".
func ofArguments(b []byte) bool {
	return bytes.Contains(b, []byte("_arguments.")) || bytes.Contains(b, []byte("_input.")) ||
		bytes.Contains(b, []byte("_command.")) || bytes.Contains(b, []byte("_diff."))
}

func evidenceFree(b []byte) bool {
	return !bytes.Contains(b, []byte("_call")) && !bytes.Contains(b, []byte("_approval_")) &&
		!bytes.Contains(b, []byte(`\u00`))
}

// hidesCall reports whether a frame could hold a call that the standard's
// reading does not show as it is, to readers that cut lines differently:
//
//   - openai-go and others that know only line feeds go on over a bare carriage
//     return: to them a line that the standard ignores may be the rest of a JSON
//     text, and one of several data lines the rest of a comment;
//   - openai-node decodes line by line and drops a byte order mark at the start
//     of each: a data line to it, an unknown field to the standard;
//   - hand-made ones trim a line before they look for "data:";
//   - Python's str.splitlines, and so httpx's iter_lines, ends lines at eight
//     more characters. In valid JSON they stand in strings only, where nothing
//     can hide: the quotes of what is hidden would end the string.
func hidesCall(f *sse.Frame) bool {
	if isPlain(f) { // nothing stands beside the data but the event's name
		return pythonBreaks(f.Event) > 0 && !evidenceFree(f.Event)
	}
	if evidenceFree(f.Raw) {
		return false
	}
	if f.LoneCR && bytes.IndexByte(f.Data, '\n') >= 0 && bytes.IndexByte(f.Raw, '\n') >= 0 {
		return true
	}
	if pythonBreaks(f.Raw) > pythonBreaks(f.Data) {
		return true
	}
	for line := range f.Ignored {
		if bytes.HasPrefix(line, []byte(byteOrderMark)) || (f.LoneCR || line[0] != ':') && !evidenceFree(line) {
			return true
		}
	}
	return false
}

// pythonBreaks counts the characters that end a line to str.splitlines and to
// nobody else.
func pythonBreaks(b []byte) (n int) {
	for _, c := range []string{"\v", "\f", "\x1c", "\x1d", "\x1e", "\u0085", "\u2028", "\u2029"} {
		n += bytes.Count(b, []byte(c))
	}
	return n
}

const byteOrderMark = "\xEF\xBB\xBF"
