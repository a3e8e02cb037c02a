package main_test

import (
	"testing"

	"github.com/tidwall/gjson"

	"turngate/proxy/mock"
)

// The SDK tests share one request, which declares read_file, and these answers.
const (
	sdkTools = `[{"type":"function","name":"read_file","parameters":{"type":"object",` +
		`"properties":{"path":{"type":"string","minLength":1}},"required":["path"],"additionalProperties":false}}]`
	sdkArgument = "/etc/never-shown" // what the refused call would have acted on
)

// sdkClean is a turn that passes.
func sdkClean() *mock.Stream {
	return new(mock.Stream).Created().InProgress().Text("let me ", "look").
		Call(1, mock.FC("read_file", `{"path":"a.txt"}`)).Completed()
}

// sdkRefused is a turn whose second item is a call that nobody declared.
func sdkRefused() *mock.Stream {
	return new(mock.Stream).Created().Text("let me look").
		Call(1, mock.FC("rm_all", `{"path":"`+sdkArgument+`"}`)).Completed()
}

// sdkRefusedAmid is a turn in which such a call comes while a message is open.
func sdkRefusedAmid() *mock.Stream {
	return new(mock.Stream).Created().Added(0, mock.Message("let me look")).
		Event("response.content_part.added", `"item_id":"msg_1","output_index":0,"content_index":0,`+
			`"part":{"type":"output_text","annotations":[],"logprobs":[],"text":""}`).
		TextDelta(0, "let me").Call(1, mock.FC("rm_all", `{"path":"`+sdkArgument+`"}`)).Completed()
}

// sdkRefusedFirst is a turn that begins with such a call.
func sdkRefusedFirst() *mock.Stream {
	return new(mock.Stream).Call(0, mock.FC("rm_all", `{"path":"`+sdkArgument+`"}`)).Completed()
}

// wantRefusal checks a response that was refused for its call of rm_all.
func wantRefusal(t *testing.T, response gjson.Result) {
	t.Helper()
	if got := response.Get("status").String(); got != "failed" {
		t.Errorf("status is %q, want failed", got)
	}
	wantRefusalError(t, response.Get("error"))
}

// wantRefusalError checks the error of such a refusal, for a client that is not
// Codex.
func wantRefusalError(t *testing.T, e gjson.Result) {
	t.Helper()
	for path, want := range map[string]string{
		"code":             "undeclared_tool_call",
		"type":             "undeclared_tool_call",
		"refusal.reason":   "undeclared_tool_call",
		"refusal.name":     "rm_all",
		"refusal.declared": `["read_file"]`,
	} {
		if got := e.Get(path).String(); got != want {
			t.Errorf("error.%s is %q, want %q", path, got, want)
		}
	}
	mustContain(t, "the message", e.Get("message").String(), `"rm_all"`, "does not declare", "read_file")
}
