package proxy

import (
	"context"
	"crypto/sha256"
	"net/http"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"turngate/proxy/mock"
	"turngate/replay"
	"turngate/replay/memory"
)

// R4a, R6, R7: what is wrong with a request that names what came before it is
// said in the API's own words, and no upstream is asked.
func TestR6WrongRequests(t *testing.T) {
	long := strings.Repeat("x", 10<<10)
	const exclusive = "Mutually exclusive parameters: ''. Ensure you are only providing one of: 'previous_response_id' or 'conversation'."
	for name, tt := range map[string]struct {
		body, code, param, message string
	}{
		"unknown":         {`{"previous_response_id":"resp_x","input":"two"}`, "previous_response_not_found", "previous_response_id", "Previous response with id 'resp_x' not found."},
		"empty":           {`{"previous_response_id":"","input":"two"}`, "previous_response_not_found", "previous_response_id", "Previous response with id '' not found."},
		"10 KB":           {`{"previous_response_id":"` + long + `","input":"two"}`, "previous_response_not_found", "previous_response_id", "Previous response with id '" + long[:maxLogged] + "' not found."},
		"a number":        {`{"previous_response_id":7,"input":"two"}`, "invalid_type", "previous_response_id", "Invalid type for 'previous_response_id': expected a string, but got a number instead."},
		"a list":          {`{"previous_response_id":["resp_1"],"input":"two"}`, "invalid_type", "previous_response_id", "Invalid type for 'previous_response_id': expected a string, but got an array instead."},
		"an object":       {`{"previous_response_id":{},"input":"two"}`, "invalid_type", "previous_response_id", "Invalid type for 'previous_response_id': expected a string, but got an object instead."},
		"false":           {`{"previous_response_id":false,"input":"two"}`, "invalid_type", "previous_response_id", "Invalid type for 'previous_response_id': expected a string, but got a boolean instead."},
		"twice":           {`{"previous_response_id":"resp_1","previous_response_id":"resp_1"}`, "invalid_json", "previous_response_id", `Duplicate key "previous_response_id": readers differ about which one counts.`},
		"a conversation":  {`{"previous_response_id":"resp_1","conversation":"conv_1","input":"two"}`, "mutually_exclusive_parameters", "", exclusive},
		"another form":    {`{"conversation":{"id":"conv_1"},"previous_response_id":"resp_1"}`, "mutually_exclusive_parameters", "", exclusive},
		"in background":   {`{"background":true,"input":"two"}`, "unsupported_parameter", "background", "Unsupported parameter: 'background'. turngate keeps the state of this upstream, and runs nothing in the background."},
		"input of a kind": {`{"previous_response_id":"resp_1","input":7}`, "invalid_type", "input", "Invalid type for 'input': expected a string or an array of input items."},
		"an output alone": {`{"previous_response_id":"resp_1","input":[{"type":"function_call_output","call_id":"call_x","output":"A"}]}`,
			"tool_output_without_call", "input", "No tool call found for function call output with call_id call_x."},
		"a call alone": {`{"previous_response_id":"resp_call","input":"two"}`,
			"tool_call_without_output", "input", "No tool output found for function call call_read_file."},
		"an item that is not there": {`{"input":[{"type":"item_reference","id":"msg_x"}]}`, "item_not_found", "input",
			"Item with id 'msg_x' not found. Items are not persisted when `store` is set to false. Try again with `store` set to true, or remove this item from your input."},
	} {
		t.Run(name, func(t *testing.T) {
			rig := newReplayRig(t, nil, reply("resp_1", "uno"),
				(&mock.Stream{ID: "resp_call"}).Created().Call(0, mock.FC("read_file", "{}")).Completed().Turn())
			rig.ask(`{"model":"m","stream":true,"input":"one"}`)
			rig.ask(`{"model":"m","stream":true,"input":"one",` + fileTool + `}`)
			body := []byte(`{"model":"m",` + tt.body[1:])
			a := rig.post(body, nil)
			rig.wantErrorText(a, 400, tt.code, tt.param, tt.message)
			rig.wantHeader(a, "X-Should-Retry", "false")
			rig.wantCodexError(rig.post(body, map[string]string{"Originator": "codex_cli_rs"}), tt.code)
			rig.wantRequests(2)
		})
	}
}

// A chain that the store takes no more of still ends well for the client; what
// would continue it is told so.
func TestR6ChainLimit(t *testing.T) {
	store := memory.New(memory.Options{SweepEvery: -1, Limits: replay.Limits{MaxChain: 2}})
	t.Cleanup(func() { store.Close() })
	rig := newReplayRig(t, withStore(store), reply("resp_1", "1"), reply("resp_2", "2"), reply("resp_3", "3"))
	rig.ask(`{"model":"m","stream":true,"input":"a"}`)
	rig.ask(`{"model":"m","stream":true,"input":"b","previous_response_id":"resp_1"}`)
	if a := rig.ask(`{"model":"m","stream":true,"input":"c","previous_response_id":"resp_2"}`); string(a.body) == "" {
		t.Error("no answer")
	}
	rig.wantUnknown("resp_3", nil)
	if n := rig.metric("turngate_replay_operations_total", "operation", "put", "result", "error"); n != 1 {
		t.Errorf("%v failed puts", n)
	}
	limited := &storeStub{Store: store, chain: func(context.Context) error { return replay.ErrChainTooLong }}
	rig2 := newReplayRig(t, withStore(limited), reply("resp_1", "1"))
	a := rig2.post([]byte(`{"model":"m","input":"c","previous_response_id":"resp_2"}`), nil)
	rig2.wantErrorText(a, 400, "request_too_large", "previous_response_id", "turngate: the previous response ends a chain that is too long to be continued.")
}

// R8, K-G8: what another client, or another upstream, was told is unknown, and
// the answer does not differ from that about an id that never was.
func TestKG8Scopes(t *testing.T) {
	own := map[string]string{"Authorization": "Bearer sk-one"}
	for name, other := range map[string]map[string]string{
		"another key":              {"Authorization": "Bearer sk-two"},
		"another kind of key":      {"Api-Key": "Bearer sk-one"},
		"none":                     {},
		"the key in another place": {"X-Api-Key": "sk-one"},
	} {
		t.Run(name, func(t *testing.T) {
			rig := newReplayRig(t, nil, reply("resp_1", "uno"), reply("resp_2", "dos"))
			rig.post([]byte(`{"model":"m","stream":true,"input":"one"}`), own)

			rig.wantUnknown("resp_1", other)
			a := rig.post([]byte(`{"model":"m","input":[{"type":"item_reference","id":"msg_0"}]}`), other)
			rig.wantError(a, 400, "item_not_found")
			for _, r := range []struct{ method, path string }{
				{http.MethodGet, ""}, {http.MethodDelete, ""}, {http.MethodGet, "/input_items"}, {http.MethodPost, "/cancel"},
			} {
				for _, id := range []string{"resp_1", "resp_never"} {
					a := rig.do(r.method, "/responses/"+id+r.path, nil, other)
					rig.wantErrorText(a, 404, "not_found", "", "Response with id '"+id+"' not found.")
				}
			}

			if a := rig.do(http.MethodGet, "/responses/resp_1", nil, own); a.status != 200 {
				t.Errorf("its own client gets %d: %s", a.status, a.body)
			}
			if a := rig.post([]byte(`{"model":"m","input":"two","previous_response_id":"resp_1"}`), own); a.status != 200 {
				t.Errorf("its own client cannot go on: %s", a.body)
			}
		})
	}
}

// With keys of turngate's own, a client is its key's name, whatever else it
// sends, and stays the same when the key is replaced.
func TestR8ClientKeys(t *testing.T) {
	rig := newReplayRig(t, func(c *Config) {
		for key, name := range map[string]string{"sk-one": "one", "sk-three": "one", "sk-two": "two"} {
			c.ClientKeys = append(c.ClientKeys, ClientKey{Name: name, Hash: sha256.Sum256([]byte(key))})
		}
	}, reply("resp_1", "uno"), reply("resp_2", "dos"))
	rig.post([]byte(`{"model":"m","stream":true,"input":"one"}`), map[string]string{"Authorization": "Bearer sk-one"})
	rig.wantUnknown("resp_1", map[string]string{"Authorization": "Bearer sk-two"})
	for _, header := range []map[string]string{{"Api-Key": "sk-one"}, {"Authorization": "Bearer sk-three"}} {
		if a := rig.do(http.MethodGet, "/responses/resp_1", nil, header); a.status != 200 {
			t.Errorf("%v: %d: %s", header, a.status, a.body)
		}
	}
}

// What one upstream said is not told to another.
func TestR8Upstreams(t *testing.T) {
	rig := newReplayRig(t, func(c *Config) {
		second := c.Upstreams[0]
		second.Name, second.Models = "second", []string{"other"}
		c.Upstreams = append(c.Upstreams, second)
	}, reply("resp_1", "uno"), reply("resp_2", "dos"))
	rig.ask(`{"model":"m","stream":true,"input":"one"}`)
	a := rig.post([]byte(`{"model":"other","input":"two","previous_response_id":"resp_1"}`), nil)
	rig.wantError(a, 400, "previous_response_not_found")
	if a := rig.do(http.MethodGet, "/responses/resp_1", nil, nil); a.status != 200 || gjson.GetBytes(a.body, "id").Str != "resp_1" {
		t.Errorf("%d: %s", a.status, a.body)
	}
}
