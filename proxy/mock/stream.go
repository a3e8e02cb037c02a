package mock

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
)

// Token counts in the usage of every terminal snapshot that a [Stream] writes.
const (
	InputTokens     = 31
	CachedTokens    = 16
	OutputTokens    = 7
	ReasoningTokens = 3
)

// Stream writes an event stream as OpenAI sends it: compact JSON, an event line,
// sequence numbers from 0, LF. The zero value is ready for use; the methods that
// add events return the stream, so that a whole turn reads as one line:
//
//	new(mock.Stream).Created().Call(0, mock.FC("read_file", `{"path":"a"}`)).Completed().Turn()
//
// In method names and parameters k is the output_index. Finished items (Text,
// Call and Done) are what the terminal snapshot lists.
type Stream struct {
	// ID is the response's id; "" is "resp_1".
	ID string
	// Model is the response's model; "" is "m".
	Model string

	buf    strings.Builder
	seq    int
	next   int          // output_index of the next Text
	items  map[int]Item // begun, by output_index
	output []Item       // finished
	last   string       // the newest snapshot
}

// Created adds response.created.
func (s *Stream) Created() *Stream {
	return s.lifecycle("created", "in_progress", nil, "null", "null")
}

// InProgress adds response.in_progress.
func (s *Stream) InProgress() *Stream {
	return s.lifecycle("in_progress", "in_progress", nil, "null", "null")
}

// Text adds a whole message, with a delta for each of deltas.
func (s *Stream) Text(deltas ...string) *Stream {
	k := s.next
	item := Message(strings.Join(deltas, "")).With("id", "msg_"+strconv.Itoa(k))
	s.Added(k, item)
	at := s.at(k) + `,"content_index":0`
	s.Event("response.content_part.added", at+`,"part":`+textPart(""))
	for _, d := range deltas {
		s.Event("response.output_text.delta", at+`,"delta":`+quote(d)+`,"logprobs":[]`)
	}
	s.Event("response.output_text.done", at+`,"text":`+quote(strings.Join(deltas, ""))+`,"logprobs":[]`)
	s.Event("response.content_part.done", at+`,"part":`+textPart(strings.Join(deltas, "")))
	return s.Done(k, item)
}

// TextDelta adds one delta of a message and nothing around it.
func (s *Stream) TextDelta(k int, delta string) *Stream {
	return s.Event("response.output_text.delta", s.at(k)+`,"content_index":0,"delta":`+quote(delta)+`,"logprobs":[]`)
}

// Added adds response.output_item.added. As OpenAI sends it, the item is in
// progress and its arguments, input or content are empty still; for anything
// else there is [Stream.Event].
func (s *Stream) Added(k int, item Item) *Stream {
	s.begin(k, item)
	return s.Event("response.output_item.added", `"output_index":`+strconv.Itoa(k)+`,"item":`+string(item.start()))
}

// Args adds a delta of the arguments, or of a custom call's input, of item k.
func (s *Stream) Args(k int, delta string) *Stream {
	event, _ := s.argsEvent(k)
	return s.Event(event+".delta", s.at(k)+`,"delta":`+quote(delta))
}

// ArgsDone adds the event that ends the arguments, or the input, of item k.
func (s *Stream) ArgsDone(k int, arguments string) *Stream {
	event, key := s.argsEvent(k)
	return s.Event(event+".done", s.at(k)+`,`+quote(key)+`:`+quote(arguments))
}

// Done adds response.output_item.done.
func (s *Stream) Done(k int, item Item) *Stream {
	s.begin(k, item)
	s.output = append(s.output, item)
	return s.Event("response.output_item.done", `"output_index":`+strconv.Itoa(k)+`,"item":`+string(item))
}

// Call adds everything that a call has: Added, Args in one delta, ArgsDone, Done.
func (s *Stream) Call(k int, item Item) *Stream {
	s.Added(k, item)
	_, key := s.argsEvent(k)
	arguments := item.Get(key)
	return s.Args(k, arguments).ArgsDone(k, arguments).Done(k, item)
}

// Completed adds response.completed with the finished items.
func (s *Stream) Completed() *Stream { return s.CompletedWith(s.output...) }

// CompletedWith adds response.completed with these items for an output.
func (s *Stream) CompletedWith(output ...Item) *Stream {
	return s.lifecycle("completed", "completed", output, "null", "null")
}

// Incomplete adds response.incomplete for a reason such as "max_output_tokens".
func (s *Stream) Incomplete(reason string) *Stream {
	return s.lifecycle("incomplete", "incomplete", s.output, "null", `{"reason":`+quote(reason)+`}`)
}

// Failed adds response.failed with an error.
func (s *Stream) Failed(code, message string) *Stream {
	return s.lifecycle("failed", "failed", s.output, `{"code":`+quote(code)+`,"message":`+quote(message)+`}`, "null")
}

// Error adds an error event in the nested form that OpenAI sends.
func (s *Stream) Error(code, message string) *Stream {
	return s.Event("error", `"error":{"type":`+quote(code)+`,"code":`+quote(code)+`,"message":`+quote(message)+`,"param":null}`)
}

// Event adds an event of this type with the next sequence number. Fields is the
// rest of its object without braces, or "".
func (s *Stream) Event(event, fields string) *Stream {
	if fields != "" {
		fields = "," + fields
	}
	data := `{"type":` + quote(event) + `,"sequence_number":` + strconv.Itoa(s.seq) + fields + `}`
	s.seq++
	return s.Raw("event: " + event + "\ndata: " + data + "\n\n")
}

// Marker adds "data: [DONE]".
func (s *Stream) Marker() *Stream { return s.Raw("data: [DONE]\n\n") }

// Raw adds bytes as they are.
func (s *Stream) Raw(text string) *Stream {
	s.buf.WriteString(text)
	return s
}

// Len returns the number of bytes so far, which is where a turn's At may point.
func (s *Stream) Len() int { return s.buf.Len() }

// Bytes returns the stream so far.
func (s *Stream) Bytes() []byte { return []byte(s.buf.String()) }

// JSON returns the newest snapshot, which after a terminal event is the answer
// that a request without streaming gets.
func (s *Stream) JSON() []byte { return []byte(s.last) }

// Turn returns a turn that sends the stream.
func (s *Stream) Turn() Turn { return Turn{Body: s.Bytes()} }

// JSONTurn returns a turn that sends [Stream.JSON].
func (s *Stream) JSONTurn() Turn { return Turn{Body: s.JSON()} }

// begin remembers item as the one at k.
func (s *Stream) begin(k int, item Item) {
	if s.items == nil {
		s.items = make(map[int]Item)
	}
	s.items[k] = item
	s.next = max(s.next, k+1)
}

// at returns the fields that say where in the output an event belongs.
func (s *Stream) at(k int) string {
	id := cmp.Or(s.items[k].Get("id"), "item_"+strconv.Itoa(k))
	return `"item_id":` + quote(id) + `,"output_index":` + strconv.Itoa(k)
}

// argsEvent returns the stem of the argument events of item k and the key that
// holds the whole in the last of them. An item not begun is a function call.
func (s *Stream) argsEvent(k int) (event, key string) {
	switch s.items[k].Get("type") {
	case "custom_tool_call":
		return "response.custom_tool_call_input", "input"
	case "mcp_call":
		return "response.mcp_call_arguments", "arguments"
	}
	return "response.function_call_arguments", "arguments"
}

// lifecycle adds an event that carries a snapshot of the response.
func (s *Stream) lifecycle(event, status string, output []Item, failure, details string) *Stream {
	items := make([]string, len(output))
	for i, it := range output {
		items[i] = string(it)
	}
	completedAt, usage := "null", "null"
	if status != "in_progress" {
		usage = usageJSON()
	}
	if status == "completed" {
		completedAt = "1796000001"
	}
	s.last = `{"id":` + quote(cmp.Or(s.ID, "resp_1")) + `,"object":"response","created_at":1796000000,"status":` + quote(status) +
		`,"background":false,"completed_at":` + completedAt + `,"error":` + failure + `,"incomplete_details":` + details +
		`,"instructions":null,"max_output_tokens":null,"max_tool_calls":null,"model":` + quote(cmp.Or(s.Model, "m")) +
		`,"output":[` + strings.Join(items, ",") + `],"parallel_tool_calls":true,"previous_response_id":null` +
		`,"prompt_cache_key":null,"reasoning":{"effort":null,"summary":null},"safety_identifier":null` +
		`,"service_tier":"default","store":true,"temperature":1.0,"text":{"format":{"type":"text"},"verbosity":"medium"}` +
		`,"tool_choice":"auto","tools":[],"top_logprobs":0,"top_p":1.0,"truncation":"disabled","usage":` + usage +
		`,"user":null,"metadata":{}}`
	return s.Event("response."+event, `"response":`+s.last)
}

// usageJSON is the usage of a terminal snapshot.
func usageJSON() string {
	return fmt.Sprintf(`{"input_tokens":%d,"input_tokens_details":{"cached_tokens":%d},"output_tokens":%d,`+
		`"output_tokens_details":{"reasoning_tokens":%d},"total_tokens":%d}`,
		InputTokens, CachedTokens, OutputTokens, ReasoningTokens, InputTokens+OutputTokens)
}
