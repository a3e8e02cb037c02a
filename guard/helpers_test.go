package guard

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"turngate/sse"
)

// readFile is a tools list that declares the one function read_file.
const readFile = `[{"type":"function","name":"read_file","parameters":{"type":"object"}}]`

// body is a request that declares tools.
func body(tools string) string {
	return `{"model":"m","stream":true,"input":"hi","tools":` + tools + `}`
}

// catalogOf reads the catalog of a request body.
func catalogOf(t testing.TB, body string) *Catalog {
	t.Helper()
	r, err := ReadRequest([]byte(body))
	if err != nil {
		t.Fatalf("ReadRequest(%.200s): %v", body, err)
	}
	return r.Catalog
}

// guardOf returns an enforcing guard of a request that declares tools.
func guardOf(t testing.TB, tools string) *Guard {
	t.Helper()
	return New(catalogOf(t, body(tools)), Options{})
}

// event is a frame as the usual framing gives it, with a data line for each line
// of data.
func event(data string) *sse.Frame {
	return &sse.Frame{Raw: []byte("data: " + strings.ReplaceAll(data, "\n", "\ndata: ") + "\n\n"), Data: []byte(data)}
}

// typed makes the data of an event: its type and more members.
func typed(typ, members string) string { return fmt.Sprintf(`{"type":%q,%s}`, typ, members) }

// done makes the data of an output_item.done event.
func done(item string) string {
	return typed("response.output_item.done", `"output_index":0,"item":`+item)
}

// call makes a function_call item of the tool that members name.
func call(members string) string {
	return `{"type":"function_call","id":"fc_1","call_id":"call_1","arguments":"{}",` + members + `}`
}

// rmAll is a call that no test declares.
const rmAll = `{"type":"function_call","id":"fc_1","call_id":"call_1","name":"rm_all","arguments":"{}"}`

// stream cuts raw into frames with the reader that the proxy uses and shows
// them to g, until one is refused.
func stream(t testing.TB, g *Guard, raw string) *Refusal {
	t.Helper()
	return streamFrom(t, g, strings.NewReader(raw))
}

func streamFrom(t testing.TB, g *Guard, src io.Reader) *Refusal {
	t.Helper()
	if err := relay(g, src, &received{}); err != io.EOF && err != errRefused {
		t.Fatalf("reading the stream: %v", err)
	}
	return g.Refused()
}

// received is what a client has got.
type received struct {
	strings.Builder
	events int
}

func (r *received) Relay(frames []byte, events int) error {
	r.Write(frames)
	r.events += events
	return nil
}

var errRefused = errors.New("refused")

// relay judges a stream and relays it as the proxy does.
func relay(g *Guard, src io.Reader, dst sse.Sink) error {
	return relayBy(g, src, g.Skim, dst)
}

func relayBy(g *Guard, src io.Reader, skim sse.Skim, dst sse.Sink) error {
	return sse.Tee(sse.NewReader(src, &sse.Buffers{}, 0), func(f *sse.Frame, _ func() error) ([]byte, error) {
		kind, refusal := g.Inspect(f)
		if refusal != nil {
			return nil, errRefused
		}
		if kind == KindLate || kind == KindBroken {
			return nil, nil
		}
		return f.Raw, nil
	}, skim, dst)
}

// reasonOf says what a refusal is about, for comparison.
func reasonOf(r *Refusal) string {
	if r == nil {
		return "passed"
	}
	return r.Reason
}

// namedIn counts the names that a catalog holds.
func namedIn(c *Catalog) (n int) {
	for _, p := range c.parts {
		n += len(p.named)
	}
	return n
}
