package main_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"
	"github.com/tidwall/gjson"

	"turngate/proxy/mock"
)

// TestGoSDK drives openai-go.
func TestGoSDK(t *testing.T) {
	bin := buildTurngate(t)
	t.Run("clean stream", func(t *testing.T) { goClean(t, bin) })
	t.Run("clean JSON", func(t *testing.T) { goCleanJSON(t, bin) })
	t.Run("refused", func(t *testing.T) { goRefused(t, bin, sdkRefused()) })
	t.Run("refused first", func(t *testing.T) { goRefused(t, bin, sdkRefusedFirst()) })
	t.Run("refused amid a message", func(t *testing.T) { goRefused(t, bin, sdkRefusedAmid()) })
	t.Run("refused JSON", func(t *testing.T) { goRefusedJSON(t, bin) })
}

// goClient returns a client for base, with the library's own retries.
func goClient(t *testing.T, base string) openai.Client {
	t.Helper()
	transport := new(http.Transport)
	t.Cleanup(transport.CloseIdleConnections)
	return openai.NewClient(option.WithBaseURL(base), option.WithAPIKey("sk-test"),
		option.WithHTTPClient(&http.Client{Transport: transport}))
}

// goRequest is the request that all SDK tests send.
func goRequest(t *testing.T) responses.ResponseNewParams {
	t.Helper()
	var tools []responses.ToolUnionParam
	if err := json.Unmarshal([]byte(sdkTools), &tools); err != nil {
		t.Fatal(err)
	}
	return responses.ResponseNewParams{
		Model: "m",
		Input: responses.ResponseNewParamsInputUnion{OfString: openai.String("hi")},
		Tools: tools,
	}
}

// goStream sends the request and returns the events as the caller gets them.
func goStream(t *testing.T, base string) []responses.ResponseStreamEventUnion {
	t.Helper()
	client := goClient(t, base)
	stream := client.Responses.NewStreaming(t.Context(), goRequest(t))
	defer stream.Close()
	var events []responses.ResponseStreamEventUnion
	for stream.Next() {
		events = append(events, stream.Current())
	}
	if err := stream.Err(); err != nil {
		t.Errorf("the client fails: %v", err)
	}
	if len(events) == 0 {
		t.Fatal("no events")
	}
	return events
}

// rawEvents returns the events' JSON.
func rawEvents(events []responses.ResponseStreamEventUnion) []string {
	var raw []string
	for _, e := range events {
		raw = append(raw, e.RawJSON())
	}
	return raw
}

func goClean(t *testing.T, bin string) {
	_, base := startUpstream(t, sdkClean().Turn())
	g := startGate(t, bin, base)
	direct, through := goStream(t, base), goStream(t, g.URL)
	if diff := cmp.Diff(rawEvents(direct), rawEvents(through)); diff != "" {
		t.Errorf("events without turngate and behind it (-without +behind):\n%s", diff)
	}
}

func goCleanJSON(t *testing.T, bin string) {
	_, base := startUpstream(t, sdkClean().JSONTurn())
	g := startGate(t, bin, base)
	var got []string
	for _, to := range []string{base, g.URL} {
		client := goClient(t, to)
		response, err := client.Responses.New(t.Context(), goRequest(t))
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, response.RawJSON())
	}
	if diff := cmp.Diff(got[0], got[1]); diff != "" {
		t.Errorf("answers without turngate and behind it (-without +behind):\n%s", diff)
	}
}

func goRefused(t *testing.T, bin string, s *mock.Stream) {
	u, base := startUpstream(t, s.Turn())
	g := startGate(t, bin, base)
	events := goStream(t, g.URL)
	wantRequests(t, u, 1)
	failed, ok := events[len(events)-1].AsAny().(responses.ResponseFailedEvent)
	if !ok {
		t.Fatalf("last event is %s", events[len(events)-1].RawJSON())
	}
	if got := failed.Response.Error.Code; got != "undeclared_tool_call" {
		t.Errorf("code is %q", got)
	}
	wantRefusal(t, gjson.Parse(failed.Response.RawJSON()))
	if all := strings.Join(rawEvents(events), "\n"); strings.Contains(all, sdkArgument) {
		t.Errorf("the refused call's arguments reached the client:\n%s", all)
	}
}

func goRefusedJSON(t *testing.T, bin string) {
	u, base := startUpstream(t, sdkRefused().JSONTurn())
	g := startGate(t, bin, base)
	client := goClient(t, g.URL)
	_, err := client.Responses.New(t.Context(), goRequest(t))
	wantRequests(t, u, 1)
	refused, ok := errors.AsType[*openai.Error](err)
	if !ok || refused.StatusCode != http.StatusBadGateway {
		t.Fatalf("got %v, want an error with status 502", err)
	}
	wantRefusalError(t, gjson.Parse(refused.RawJSON()))
}
