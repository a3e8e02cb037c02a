package guard

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"turngate/sse"
)

// frames of the usual form, as providers send them.
const (
	textDelta      = `{"type":"response.output_text.delta","sequence_number":7,"item_id":"msg_68af40337e58819392e935fb404414d0","output_index":0,"content_index":0,"delta":" and then","logprobs":[],"obfuscation":"abcdefgh"}`
	argumentsDelta = `{"type":"response.function_call_arguments.delta","sequence_number":7,"item_id":"fc_68af40337e58819392e935fb404414d0","output_index":0,"delta":"{\"pa","obfuscation":"abcdefgh"}`
	inputDelta     = `{"type":"response.custom_tool_call_input.delta","sequence_number":7,"item_id":"ctc_68af40337e58819392e935fb404414d0","output_index":0,"delta":"+\tif err","obfuscation":"abcdefgh"}`
)

func callItem() string {
	return typed("response.output_item.done", `"sequence_number":9,"output_index":1,"item":{"id":"fc_68af40337e58819392e935fb404414d0","type":"function_call","status":"completed","arguments":"{\"path\":\"README.md\"}","call_id":"call_NMPmGpOnK5YzlbUVkG8JLK5T","name":"read_file"}`)
}

// framed gives data the framing of OpenAI's servers.
func framed(data string) *sse.Frame {
	typ := parse([]byte(data)).Get("type").Str
	raw := []byte("event: " + typ + "\ndata: " + data + "\n\n")
	return &sse.Frame{Raw: raw, Event: raw[7 : 7+len(typ)], Data: raw[14+len(typ) : len(raw)-2]}
}

// TestS9NoAllocations: the deltas are nearly the whole stream, and cost nothing.
func TestS9NoAllocations(t *testing.T) {
	for name, data := range map[string]string{"text delta": textDelta, "arguments delta": argumentsDelta, "input delta": inputDelta} {
		for state, tools := range map[string]string{"enforced": readFile, "stood down": "[]"} {
			g := guardOf(t, tools)
			f, bare := framed(data), event(data)
			if n := testing.AllocsPerRun(200, func() {
				g.Inspect(f)
				g.Inspect(bare)
			}); n != 0 {
				t.Errorf("%s, %s: %v allocations", name, state, n)
			}
		}
	}
}

func benchmarkInspect(b *testing.B, data string) {
	f := framed(data)
	c := catalogOf(b, body(readFile))
	g := New(c, Options{})
	b.SetBytes(int64(len(f.Raw)))
	b.ReportAllocs()
	for b.Loop() {
		if _, r := g.Inspect(f); r != nil {
			b.Fatal(r.Message())
		}
		if g.turn.Terminal != KindNone || len(g.turn.Items) > 0 {
			g = New(c, Options{})
		}
	}
}

func BenchmarkInspectDelta(b *testing.B)          { benchmarkInspect(b, textDelta) }
func BenchmarkInspectArgumentsDelta(b *testing.B) { benchmarkInspect(b, argumentsDelta) }
func BenchmarkInspectCallItem(b *testing.B)       { benchmarkInspect(b, callItem()) }

// BenchmarkRelayDeltas is the whole way of an event, of those that come together.
func BenchmarkRelayDeltas(b *testing.B) {
	const batch = 15
	in := strings.Repeat(usual(textDelta), batch)
	b.SetBytes(int64(len(in) / batch))
	b.ReportAllocs()
	g := guardOf(b, readFile)
	err := relay(g, &endless{in: in, reads: b.N/batch + 1}, discard{})
	if err != io.EOF || g.Turn().Events < b.N {
		b.Fatal(err, g.Turn().Events)
	}
}

// endless is read as often as reads says.
type endless struct {
	in    string
	at    int
	reads int
}

func (e *endless) Read(p []byte) (int, error) {
	if e.reads == 0 {
		return 0, io.EOF
	}
	n := copy(p, e.in[e.at:])
	if e.at += n; e.at == len(e.in) {
		e.at = 0
		e.reads--
	}
	return n, nil
}

type discard struct{}

func (discard) Relay([]byte, int) error { return nil }

func BenchmarkInspectCompleted500KB(b *testing.B) {
	var output strings.Builder
	for i := range 100 {
		fmt.Fprintf(&output, `{"id":"msg_%d","type":"message","status":"completed","role":"assistant","content":[{"type":"output_text","annotations":[],"text":%q}]},`,
			i, strings.Repeat("Some text, \"quoted\", in lines\n", 150))
		output.WriteString(call(`"name":"read_file"`) + ",")
	}
	benchmarkInspect(b, typed("response.completed", `"sequence_number":9,"response":{"id":"resp_1","object":"response","status":"completed","output":[`+
		strings.TrimSuffix(output.String(), ",")+`],"usage":{"input_tokens":5,"output_tokens":7}}`))
}

// requestOf makes a request body of about size bytes, with tools and history.
func requestOf(size int) []byte {
	var tools, input strings.Builder
	for i := range 15 {
		fmt.Fprintf(&tools, `{"type":"function","name":"tool_%d","description":%q,"strict":false,"parameters":{"type":"object","properties":{"path":{"type":"string","description":"where"},"n":{"type":"integer"}},"required":["path"],"additionalProperties":false}},`,
			i, strings.Repeat("What it does. ", 50))
	}
	for i := 0; tools.Len()+input.Len() < size; i++ {
		fmt.Fprintf(&input, `{"type":"message","role":"user","content":[{"type":"input_text","text":%q}]},`, strings.Repeat("if err != nil {\n\treturn err\n}\n", 20))
	}
	return []byte(`{"model":"m","stream":true,"store":false,"input":[` + input.String() + `{"type":"additional_tools","role":"developer","tools":[` + tools.String() + `{"type":"web_search"}]}]}`)
}

func benchmarkReadRequest(b *testing.B, size int) {
	body := requestOf(size)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ReadRequest(body); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkReadRequest30KB(b *testing.B) { benchmarkReadRequest(b, 30<<10) }
func BenchmarkReadRequest1MB(b *testing.B)  { benchmarkReadRequest(b, 1<<20) }
