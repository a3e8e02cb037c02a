package mock

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"
)

// Item is one output item as compact JSON. The constructors make finished items
// with ids that come from the name: "fc_NAME" and "call_NAME" for a function.
type Item string

// FC is a function_call of name with these arguments.
func FC(name, arguments string) Item {
	return Item(`{"id":` + quote("fc_"+name) + `,"type":"function_call","status":"completed","arguments":` +
		quote(arguments) + `,"call_id":` + quote("call_"+name) + `,"name":` + quote(name) + `}`)
}

// CTC is a custom_tool_call of name with this input.
func CTC(name, input string) Item {
	return Item(`{"id":` + quote("ctc_"+name) + `,"type":"custom_tool_call","status":"completed","call_id":` +
		quote("call_"+name) + `,"input":` + quote(input) + `,"name":` + quote(name) + `}`)
}

// Message is an assistant's message with one text.
func Message(text string) Item {
	return Item(`{"id":"msg_1","type":"message","status":"completed","content":[` + textPart(text) + `],"role":"assistant"}`)
}

// Reasoning is a reasoning item with a summary and, if it is not empty,
// encrypted content.
func Reasoning(summary, encrypted string) Item {
	it := Item(`{"id":"rs_1","type":"reasoning","summary":[{"type":"summary_text","text":` + quote(summary) + `}]}`)
	if encrypted != "" {
		it = it.With("encrypted_content", encrypted)
	}
	return it
}

// With returns a copy of the item in which path (sjson's syntax) is value.
func (it Item) With(path string, value any) Item {
	out, err := sjson.Set(string(it), path, value)
	if err != nil {
		panic("mock: item cannot hold " + path + ": " + err.Error()) // a mistake in the test's own text
	}
	return Item(out)
}

// Get returns the string at path (gjson's syntax), or "".
func (it Item) Get(path string) string { return gjson.Get(string(it), path).String() }

// start returns the item as output_item.added shows it: in progress, and with
// what is streamed later still empty. Arguments that are an object, such as a
// tool_search_call's, are never streamed and stay.
func (it Item) start() Item {
	it = it.blank("status", gjson.String, `"in_progress"`)
	it = it.blank("arguments", gjson.String, `""`)
	it = it.blank("input", gjson.String, `""`)
	return it.blank("content", gjson.JSON, `[]`)
}

// blank returns the item with empty for the value of key, if it has one of kind.
func (it Item) blank(key string, kind gjson.Type, empty string) Item {
	if gjson.Get(string(it), key).Type != kind {
		return it
	}
	out, err := sjson.SetRaw(string(it), key, empty)
	if err != nil {
		panic("mock: item cannot hold " + key + ": " + err.Error())
	}
	return Item(out)
}

// textPart is a content part of a message.
func textPart(text string) string {
	return `{"type":"output_text","annotations":[],"logprobs":[],"text":` + quote(text) + `}`
}

// quote returns s as a JSON string, with no more escapes than JSON asks for.
func quote(s string) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s) // a string always encodes
	return strings.TrimSuffix(b.String(), "\n")
}
