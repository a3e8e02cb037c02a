package proxy

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/tidwall/gjson"

	"turngate/guard"
	"turngate/proxy/mock"
)

// carrier is a place of an event stream in which a call can come (G11).
type carrier struct {
	name     string
	event    func(c called) event // typ "" if the item does not come this way
	terminal bool                 // the event ends the turn
	typeless bool                 // the type in the data is not the event's
}

func carriers() []carrier {
	with := func(typ string, member func(c called) string) func(called) event {
		return func(c called) event {
			return event{typ, `{"type":"` + typ + `","sequence_number":2,` + member(c) + `}`}
		}
	}
	item := func(c called) string { return `"output_index":1,"item":` + string(c.item) }
	output := func(c called) string { return `"output":[` + string(mock.Message("x")) + `,` + string(c.item) + `]` }
	all := []carrier{
		{name: "output_item.added", event: with("response.output_item.added", item)},
		{name: "output_item.done", event: with("response.output_item.done", item)},
		{name: "item of an unknown event", event: with("response.vendor_thing", item)},
		{name: "output of an unknown event", event: with("response.vendor_thing", output)},
		{name: "output of an event of no family", event: with("thing", output)},
		{name: "event that is the item", typeless: true, event: func(c called) event {
			return event{"response.vendor_thing", string(c.item)}
		}},
	}
	for _, part := range []string{"delta", "done"} {
		all = append(all, carrier{name: "arguments " + part, event: func(c called) event {
			if c.event == "" {
				return event{}
			}
			key := map[string]string{"response.function_call_arguments": "arguments", "response.custom_tool_call_input": "input",
				"response.shell_call_command": "command", "response.apply_patch_call_operation_diff": "diff"}[c.event]
			if part == "delta" {
				key = "delta"
			}
			return with(c.event+"."+part, func(c called) string {
				return `"output_index":1,` + c.fields + `,"` + key + `":"` + argumentMarker + `"`
			})(c)
		}})
	}
	for _, status := range []string{"created", "queued", "in_progress", "completed", "incomplete", "failed", "done"} {
		terminal := status != "created" && status != "queued" && status != "in_progress"
		all = append(all, carrier{name: "snapshot " + status, terminal: terminal, event: with("response."+status, func(c called) string {
			return `"response":{"id":"resp_1","object":"response","status":"` + status + `",` + output(c) + `}`
		})})
	}
	return all
}

// carried is one case of the table: what is sent, and what must come of it.
type carried struct {
	name      string
	call      called
	declared  bool
	askStream bool
	turn      mock.Turn
	before    []byte // of the body, up to the event that carries the call
	opening   string // what may be before the failure
	closing   string
	json      bool
	reason    string // of the refusal; "" is undeclared_tool_call
}

var contentTypes = []string{"text/event-stream", "text/plain", "application/json", mock.NoContentType}

// streamCases crosses a carrier of an item with framings and content types. The
// two ways to ask take turns, so that each meets every framing and every type.
func streamCases(c called, via carrier, declared bool) []carried {
	start := eventsIn(new(mock.Stream).Created().Done(0, mock.Message("hello")).Bytes())
	carrying := via.event(c)
	events := append(start[:len(start):len(start)], carrying)
	rest := eventsIn(new(mock.Stream).Args(0, argumentMarker).CompletedWith(c.item).Bytes())
	var cases []carried
	for i, f := range framings() {
		if via.typeless && f.name == "event line only" {
			continue // without its type it is no item
		}
		all := events
		switch {
		case f.closing != "" && declared && !via.terminal:
			all = append(all[:len(all):len(all)], rest[len(rest)-1])
		case f.closing == "" && !(declared && via.terminal):
			all = append(all[:len(all):len(all)], rest...)
		}
		body := f.write(all)
		before := f.write(start)
		if f.closing != "" {
			before = framings()[0].write(start)
		}
		for j, ct := range contentTypes {
			// Under the race detector, which finds nothing new in it, a quarter
			// of the cross; each framing still meets each type with some item.
			if raceDetector && (i+j+len(c.name)+len(via.name))%len(contentTypes) != 0 {
				continue
			}
			cases = append(cases, carried{
				name: f.name + "/" + ct, call: c, declared: declared, askStream: (i+j+len(via.name))%2 == 0,
				turn: mock.Turn{Body: body, ContentType: ct, Chunk: len(body)}, before: before, opening: f.opening, closing: f.closing,
			})
		}
	}
	return cases
}

// jsonCases are the answers without a stream.
func jsonCases(c called, declared bool) []carried {
	var cases []carried
	for i, status := range []string{"completed", "incomplete", "failed"} {
		for j, ct := range contentTypes {
			for _, bom := range []string{"", "\xEF\xBB\xBF"} {
				body := bom + ` {"id":"resp_1","object":"response","status":"` + status + `","output":[` + string(mock.Message("x")) + `,` + string(c.item) + `]}`
				cases = append(cases, carried{
					name: fmt.Sprintf("JSON %s/%s/BOM %t", status, ct, bom != ""), call: c, declared: declared, askStream: (i+j)%2 == 0,
					turn: mock.Turn{Body: []byte(body), ContentType: ct}, json: true,
				})
			}
		}
	}
	return cases
}

// tableRig is a rig for many turns side by side.
type tableRig struct {
	*rig
	mu    sync.RWMutex
	turns map[string]mock.Turn
}

func newTableRig(t *testing.T, configure func(*Config)) *tableRig {
	t.Helper()
	r := &tableRig{turns: map[string]mock.Turn{}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		r.mu.RLock()
		turn := r.turns[req.URL.Query().Get("case")]
		r.mu.RUnlock()
		mock.New(turn).ServeHTTP(w, req)
	}))
	t.Cleanup(server.Close)
	base, err := url.Parse(server.URL + "/v1")
	if err != nil {
		t.Fatal(err)
	}
	r.rig = newRig(t, func(c *Config) {
		c.Upstreams[0].BaseURL = base
		if configure != nil {
			configure(c)
		}
	})
	return r
}

// play sends a request that the upstream answers with turn.
func (r *tableRig) play(turn mock.Turn, request []byte) answer {
	r.Helper()
	r.mu.Lock()
	id := strconv.Itoa(len(r.turns))
	r.turns[id] = turn
	r.mu.Unlock()
	return r.do(http.MethodPost, "/responses?case="+id, request, nil)
}

// TestG11CarriersG12Framings crosses every carrier with every item type, framing,
// content type and both transports: the same verdict everywhere, and nothing of
// a refused call's arguments in the client's bytes.
func TestG11CarriersG12Framings(t *testing.T) {
	rig := newTableRig(t, nil)
	var count, refused atomic.Int64
	run := func(t *testing.T, c carried) {
		count.Add(1)
		got := rig.play(c.turn, requestFor(c.call, c.declared, c.askStream))
		if !c.declared {
			refused.Add(1)
		}
		if problem := c.problem(got); problem != "" {
			t.Fatalf("%s: %s\nsent: %q\ngot %d: %q", c.name, problem, c.turn.Body, got.status, got.body)
		}
	}
	t.Run("table", func(t *testing.T) {
		for _, c := range calledItems() {
			for _, declared := range []bool{true, false} {
				t.Run(fmt.Sprintf("%s declared %t", c.name, declared), func(t *testing.T) {
					t.Parallel()
					for _, via := range carriers() {
						if via.event(c).typ == "" {
							continue
						}
						for _, cs := range streamCases(c, via, declared) {
							cs.name = via.name + "/" + cs.name
							run(t, cs)
						}
					}
					for _, cs := range jsonCases(c, declared) {
						run(t, cs)
					}
				})
			}
		}
	})
	if n := count.Load(); n < 2_500 || refused.Load() < n/3 {
		t.Errorf("the table has only %d cases, %d of them refused", n, refused.Load())
	}
	rig.stop()
	if got := rig.metric("turngate_refusals_total", "mode", "refuse", "reason", "undeclared_tool_call"); got != float64(refused.Load()) {
		t.Errorf("%v refusals counted, want %d", got, refused.Load())
	}
	if got := rig.metric("turngate_turns_total", "outcome", "refused"); got != float64(refused.Load()) {
		t.Errorf("%v refused turns counted, want %d", got, refused.Load())
	}
}

// problem says what is wrong with a client's answer; "" is nothing.
func (c carried) problem(got answer) string {
	switch {
	case got.err != nil:
		return "the body broke: " + got.err.Error()
	case c.declared:
		if want := append(bytes.Clone(c.turn.Body), c.closing...); got.status != 200 || !bytes.Equal(got.body, want) {
			return "not verbatim"
		}
		return ""
	case bytes.Contains(got.body, []byte(argumentMarker)):
		return "arguments of the refused call got out"
	case c.json:
		return c.problemJSON(got)
	case got.status != 200:
		return "status is not 200"
	}
	tail, ok := bytes.CutPrefix(got.body, append(bytes.Clone(c.before), c.opening...))
	if !ok {
		return "what came before the call is not verbatim"
	}
	frames := strings.SplitAfter(string(tail), "\n\n")
	if len(frames) != 3 || frames[1] != "data: [DONE]\n\n" || frames[2] != "" {
		return "the tail is not one event and [DONE]"
	}
	data, ok := strings.CutPrefix(frames[0], "event: response.failed\ndata: ")
	if !ok || !json.Valid([]byte(data)) {
		return "the tail does not begin with response.failed"
	}
	r := gjson.Parse(data)
	if r.Get("type").String() != "response.failed" || r.Get("sequence_number").Int() != 2 ||
		r.Get("response.id").String() != "resp_1" || r.Get("response.status").String() != "failed" ||
		r.Get("response.output.#.type").String() != `["message"]` {
		return "the failure does not continue the stream"
	}
	return c.problemError(r.Get("response.error"))
}

func (c carried) problemJSON(got answer) string {
	if got.status != http.StatusBadGateway || got.header.Get("X-Should-Retry") != "false" || !json.Valid(got.body) {
		return "not a 502 that is not to be retried"
	}
	return c.problemError(gjson.GetBytes(got.body, "error"))
}

func (c carried) problemError(e gjson.Result) string {
	if e.Get("code").String() != cmp.Or(c.reason, guard.UndeclaredToolCall) || e.Get("refusal.item_type").String() != c.call.itemType() {
		return "the error does not name the call"
	}
	return ""
}
