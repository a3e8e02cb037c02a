package mock_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/openai/openai-go/v3/packages/ssestream"
	"github.com/openai/openai-go/v3/responses"
	"github.com/tidwall/gjson"

	"turngate/proxy/mock"
)

// types returns the types in a stream's data, and fails on a frame whose parts
// do not agree or whose number is not the next.
func types(t *testing.T, stream []byte) []string {
	t.Helper()
	var got []string
	for i, frame := range strings.Split(strings.TrimSuffix(string(stream), "\n\n"), "\n\n") {
		event, data, ok := strings.Cut(frame, "\ndata: ")
		kind := gjson.Get(data, "type").String()
		if !ok || event != "event: "+kind || !json.Valid([]byte(data)) || gjson.Get(data, "sequence_number").Int() != int64(i) {
			t.Errorf("frame %d is off: %q", i, frame)
		}
		var compact bytes.Buffer
		if err := json.Compact(&compact, []byte(data)); err != nil || compact.String() != data {
			t.Errorf("frame %d is not compact: %q", i, data)
		}
		got = append(got, strings.TrimPrefix(kind, "response."))
	}
	return got
}

func TestStreamEvents(t *testing.T) {
	s := new(mock.Stream).Created().InProgress().
		Text("hel", "lo <&>").
		Call(1, mock.FC("read_file", `{"path":"a"}`)).
		Call(2, mock.CTC("apply_patch", "*** Begin Patch")).
		Completed()
	want := []string{
		"created", "in_progress",
		"output_item.added", "content_part.added", "output_text.delta", "output_text.delta", "output_text.done", "content_part.done", "output_item.done",
		"output_item.added", "function_call_arguments.delta", "function_call_arguments.done", "output_item.done",
		"output_item.added", "custom_tool_call_input.delta", "custom_tool_call_input.done", "output_item.done",
		"completed",
	}
	if diff := cmp.Diff(want, types(t, s.Bytes())); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	if s.Len() != len(s.Bytes()) {
		t.Errorf("Len %d, want %d", s.Len(), len(s.Bytes()))
	}
	if got := gjson.GetBytes(s.JSON(), `output.#.type`).String(); got != `["message","function_call","custom_tool_call"]` {
		t.Errorf("the answer's items are %s", got)
	}
}

// TestStreamIsRead holds the builder to what an independent client makes of it.
func TestStreamIsRead(t *testing.T) {
	s := new(mock.Stream).Created().Added(0, mock.FC("f", `{"a":1}`)).Args(0, `{"a"`).Args(0, `:1}`).
		ArgsDone(0, `{"a":1}`).Done(0, mock.FC("f", `{"a":1}`)).Completed().Marker()
	_, url := serve(t, s.Turn())
	dec := ssestream.NewStream[responses.ResponseStreamEventUnion](ssestream.NewDecoder(post(t, url, "{}")), nil)
	defer dec.Close()
	var deltas, name string
	var tokens int64
	for dec.Next() {
		switch e := dec.Current().AsAny().(type) {
		case responses.ResponseFunctionCallArgumentsDeltaEvent:
			deltas += e.Delta
		case responses.ResponseOutputItemAddedEvent:
			if e.Item.Arguments.OfString != "" || e.Item.Status != "in_progress" {
				t.Errorf("added shows %s", e.Item.RawJSON())
			}
		case responses.ResponseCompletedEvent:
			name, tokens = e.Response.Output[0].Name, e.Response.Usage.TotalTokens
		}
	}
	if dec.Err() != nil {
		t.Fatal(dec.Err())
	}
	if deltas != `{"a":1}` || name != "f" || tokens != mock.InputTokens+mock.OutputTokens {
		t.Errorf("read deltas %q, name %q, %d tokens", deltas, name, tokens)
	}
}

func TestStreamEnds(t *testing.T) {
	for name, tc := range map[string]struct {
		s      *mock.Stream
		types  []string
		path   string
		answer string
	}{
		"incomplete": {new(mock.Stream).Created().Incomplete("max_output_tokens"), []string{"created", "incomplete"}, "incomplete_details.reason", "max_output_tokens"},
		"failed":     {new(mock.Stream).Created().Failed("server_error", "no"), []string{"created", "failed"}, "error.message", "no"},
		"error":      {new(mock.Stream).Created().Error("server_error", "no"), []string{"created", "error"}, "status", "in_progress"},
		"output":     {new(mock.Stream).CompletedWith(mock.Message("x")), []string{"completed"}, "output.0.content.0.text", "x"},
		"id":         {(&mock.Stream{ID: "resp_7", Model: "n"}).Created(), []string{"created"}, "id", "resp_7"},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.types, types(t, tc.s.Bytes())); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
			if got := gjson.GetBytes(tc.s.JSON(), tc.path).String(); got != tc.answer {
				t.Errorf("%s is %q, want %q", tc.path, got, tc.answer)
			}
		})
	}
}

func TestItemWith(t *testing.T) {
	plain := mock.FC("add", "{}")
	if got := plain.With("namespace", "crm").Get("namespace"); got != "crm" {
		t.Errorf("namespace is %q", got)
	}
	if strings.Contains(string(plain), "crm") {
		t.Error("With changed its receiver")
	}
}
