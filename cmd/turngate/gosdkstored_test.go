package main_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/responses"
	"github.com/tidwall/gjson"

	"turngate/proxy/mock"
)

// storedUpstream plays two turns and what else the tests of stored responses ask
// of an upstream.
func storedUpstream(t *testing.T) (*mock.Upstream, string) {
	t.Helper()
	first := new(mock.Stream).Text("uno").Completed()
	second := (&mock.Stream{ID: "resp_2"}).Created().InProgress().Text("dos").Completed()
	return startUpstream(t, first.JSONTurn(), second.Turn(),
		mock.Turn{Route: "POST /v1/responses/compact", Body: []byte(`{"id":"cmp_1","object":"response.compaction","created_at":1796000000,"output":[],"usage":{"input_tokens":1,"input_tokens_details":{"cached_tokens":0},"output_tokens":1,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":2}}`)},
		mock.Turn{Route: "POST /v1/responses/input_tokens", Body: []byte(`{"object":"response.input_tokens","input_tokens":7}`)})
}

// wholeStored is what an upstream must get as input for what continues resp_1
// with "two".
const wholeStored = `[{"type":"message","role":"user","content":[{"type":"input_text","text":"hi"}]},` +
	`{"id":"msg_0","type":"message","status":"completed","content":[{"type":"output_text","annotations":[],"logprobs":[],"text":"uno"}],"role":"assistant"},` +
	`{"type":"message","role":"user","content":[{"type":"input_text","text":"two"}]}]`

// TestGoSDKStored uses openai-go's own methods for stored responses.
func TestGoSDKStored(t *testing.T) {
	u, base := storedUpstream(t)
	g := startGate(t, buildTurngate(t), base)
	client := goClient(t, g.URL)
	ctx := t.Context()
	first, err := client.Responses.New(ctx, goRequest(t))
	if err != nil {
		t.Fatal(err)
	}
	next := goRequest(t)
	next.PreviousResponseID = openai.String(first.ID)
	next.Input.OfString = openai.String("two")
	stream := client.Responses.NewStreaming(ctx, next)
	var last responses.ResponseStreamEventUnion
	for stream.Next() {
		last = stream.Current()
		if r := last.Response; r.ID != "" && r.PreviousResponseID != first.ID {
			t.Errorf("%s shows previous_response_id %q", last.Type, r.PreviousResponseID)
		}
	}
	if err := stream.Err(); err != nil || last.Type != "response.completed" {
		t.Fatalf("last event %s, error %v", last.Type, err)
	}

	got, err := client.Responses.Get(ctx, "resp_2", responses.ResponseGetParams{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(gjson.Parse(last.Response.RawJSON()).Value(), gjson.Parse(got.RawJSON()).Value()); diff != "" {
		t.Errorf("the response that was seen, and that is stored (-seen +stored):\n%s", diff)
	}

	var items []string
	pages := client.Responses.InputItems.ListAutoPaging(ctx, "resp_2", responses.InputItemListParams{Limit: openai.Int(1), Order: "asc"})
	for pages.Next() {
		items = append(items, gjson.Get(pages.Current().RawJSON(), "content.0.text").Str)
	}
	if diff := cmp.Diff([]string{"hi", "uno", "two"}, items); diff != "" || pages.Err() != nil {
		t.Errorf("input items, error %v (-want +got):\n%s", pages.Err(), diff)
	}

	goStoredErrors(t, client)
	goStoredInput(t, client, u)
	if err := client.Responses.Delete(ctx, "resp_2"); err != nil {
		t.Error(err)
	}
	if _, err := client.Responses.Get(ctx, "resp_2", responses.ResponseGetParams{}); apiStatus(err) != http.StatusNotFound {
		t.Errorf("after the delete: %v", err)
	}
}

func apiStatus(err error) int {
	if e, ok := errors.AsType[*openai.Error](err); ok {
		return e.StatusCode
	}
	return 0
}

// goStoredErrors asks for what cannot be.
func goStoredErrors(t *testing.T, client openai.Client) {
	t.Helper()
	_, err := client.Responses.Cancel(t.Context(), "resp_2")
	if e, ok := errors.AsType[*openai.Error](err); !ok || e.StatusCode != http.StatusBadRequest || e.Message != "Cannot cancel a synchronous response." {
		t.Errorf("cancel: %v", err)
	}
	next := goRequest(t)
	next.PreviousResponseID = openai.String("resp_9")
	_, err = client.Responses.New(t.Context(), next)
	if e, ok := errors.AsType[*openai.Error](err); !ok || e.StatusCode != http.StatusBadRequest || e.Code != "previous_response_not_found" || e.Param != "previous_response_id" {
		t.Errorf("an unknown response: %v", err)
	}
}

// goStoredInput compacts and counts what continues a response.
func goStoredInput(t *testing.T, client openai.Client, u *mock.Upstream) {
	t.Helper()
	_, err := client.Responses.Compact(t.Context(), responses.ResponseCompactParams{
		Model: "m", PreviousResponseID: openai.String("resp_1"),
		Input: responses.ResponseCompactParamsInputUnion{OfString: openai.String("two")},
	})
	if err != nil {
		t.Error(err)
	}
	count, err := client.Responses.InputTokens.Count(t.Context(), responses.InputTokenCountParams{
		Model: openai.String("m"), PreviousResponseID: openai.String("resp_1"),
		Input: responses.InputTokenCountParamsInputUnion{OfString: openai.String("two")},
	})
	if err != nil || count.InputTokens != 7 {
		t.Errorf("count %+v, error %v", count, err)
	}
	all := u.Requests()
	for _, req := range all[len(all)-2:] {
		var body struct {
			Input    json.RawMessage
			Previous *string `json:"previous_response_id"`
		}
		if err := json.Unmarshal(req.Body, &body); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(wholeStored, string(body.Input)); diff != "" || body.Previous != nil {
			t.Errorf("%s (-want +got):\n%s", req.Path, diff)
		}
	}
}
