package guard

import (
	"bytes"

	"github.com/tidwall/gjson"

	"turngate/sse"
)

// eventType returns the type that a frame gives itself: that of its data, else
// of its event line. It reads the usual form, where the type comes first,
// without a search.
func eventType(f sse.Frame) string {
	if t, ok := leadingType(f.Data); ok {
		return t
	}
	if t := gjson.GetBytes(f.Data, "type"); t.Type == gjson.String && t.Str != "" {
		return t.Str
	}
	return string(f.Event)
}

// leadingType reads `{"type":"X"` at the start of data, if X is plain.
func leadingType(data []byte) (string, bool) {
	rest, ok := bytes.CutPrefix(data, []byte(`{"type":`))
	if !ok {
		return "", false
	}
	rest, ok = bytes.CutPrefix(bytes.TrimPrefix(rest, []byte(" ")), []byte(`"`))
	if !ok {
		return "", false
	}
	end := bytes.IndexByte(rest[:min(len(rest), 80)], '"')
	if end <= 0 || bytes.IndexByte(rest[:end], '\\') >= 0 {
		return "", false
	}
	return intern(rest[:end]), true
}

// intern returns b as a string, without allocating for the usual deltas.
func intern(b []byte) string {
	switch string(b) {
	case "response.output_text.delta":
		return "response.output_text.delta"
	case "response.reasoning_text.delta":
		return "response.reasoning_text.delta"
	case "response.reasoning_summary_text.delta":
		return "response.reasoning_summary_text.delta"
	case functionArgumentsDelta:
		return functionArgumentsDelta
	case customInputDelta:
		return customInputDelta
	}
	return string(b)
}

const (
	functionArgumentsDelta = "response.function_call_arguments.delta"
	customInputDelta       = "response.custom_tool_call_input.delta"
)

// mayCarryCall reports false only if the frame's bytes prove that no reader can
// see a client-executed call in it. Every such call is announced by a type that
// contains "_call" or "_approval_", in a string that only \u00XX escapes could
// write otherwise.
func mayCarryCall(f sse.Frame, typ string) bool {
	data, event := f.Data, f.Event
	if typ == functionArgumentsDelta || typ == customInputDelta {
		// Deltas of arguments are evidence by their type alone. They carry a
		// call only if a key (which can be written "Name" as well) names it.
		before, rest, ok := bytes.Cut(data, []byte(typ))
		if ok && len(before) <= len(`{"type": "`) && !bytes.Contains(rest, []byte(`"n`)) && !bytes.Contains(rest, []byte(`"N`)) {
			data = rest
			if string(event) == typ {
				event = nil
			}
		}
	}
	return !evidenceFree(data) || !evidenceFree(event) ||
		(bytes.Contains(data, []byte(`"n`)) || bytes.Contains(data, []byte(`"N`))) && (ofArguments(data) || ofArguments(event))
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
// reading does not show as it is.
//
// Readers that know only line feeds go on over a bare carriage return: to them
// a line that the standard ignores may be the rest of a JSON text, and one of
// several data lines may be the rest of a comment. openai-node decodes line by
// line and drops a byte order mark at the start of each: a data line to it, an
// unknown field to the standard.
func hidesCall(f sse.Frame) bool {
	marked := bytes.Contains(f.Raw, byteOrderMark)
	if !f.LoneCR && !marked || evidenceFree(f.Raw) {
		return false
	}
	if f.LoneCR && bytes.IndexByte(f.Data, '\n') >= 0 && bytes.IndexByte(f.Raw, '\n') >= 0 {
		return true
	}
	for line := range f.Ignored {
		if marked && bytes.HasPrefix(line, byteOrderMark) || f.LoneCR && !evidenceFree(line) {
			return true
		}
	}
	return false
}

var (
	byteOrderMark = []byte("\xEF\xBB\xBF")
	errorKey      = []byte(`"error"`)
)
