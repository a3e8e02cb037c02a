package proxy

import (
	"bytes"
	"net/http"
	"testing"

	"github.com/tidwall/gjson"

	"turngate/guard"
	"turngate/proxy/mock"
	"turngate/replay/memory"
)

// TestA7SchemaInTheChain has the server's tools listed in the first turn, and a
// doomed approval requested in the second, which continues it: the list comes
// back with the expanded input, and the request never reaches the client.
func TestA7SchemaInTheChain(t *testing.T) {
	const tools = `"tools":[{"type":"mcp","server_label":"shop"}]`
	list := mock.Item(`{"id":"l_1","type":"mcp_list_tools","server_label":"shop","tools":[{"name":"buy","input_schema":{"type":"object","required":["item"]}}]}`)
	for _, stream := range []bool{true, false} {
		for arguments, want := range map[string]string{`{"item":"` + argumentMarker + `"}`: "", `{"thing":"` + argumentMarker + `"}`: guard.MissingRequiredArguments} {
			approval := mock.Item(`{"id":"mcpr_1","type":"mcp_approval_request","server_label":"shop","name":"buy"}`).With("arguments", arguments)
			first := (&mock.Stream{ID: "resp_a"}).Created().Done(0, list).Text("hello").Completed()
			second := (&mock.Stream{ID: "resp_b"}).Created().Done(0, approval).Completed()
			turns := []mock.Turn{first.Turn(), second.Turn()}
			if !stream {
				turns = []mock.Turn{first.JSONTurn(), second.JSONTurn()}
			}
			store := memory.New(memory.Options{})
			t.Cleanup(func() { store.Close() })
			rig := newRig(t, func(c *Config) {
				c.Store = store
				c.Upstreams[0].Replay = true
			}, turns...)
			flag := map[bool]string{true: "true", false: "false"}[stream]
			rig.post([]byte(`{"model":"m","input":"hi","stream":`+flag+`,`+tools+`}`), nil)
			got := rig.post([]byte(`{"model":"m","input":"more","previous_response_id":"resp_a","stream":`+flag+`,`+tools+`}`), nil)
			record := rig.lastTurn()
			if want == "" {
				if got.status != http.StatusOK || record.Refusal != nil || !bytes.Contains(got.body, []byte(argumentMarker)) {
					t.Errorf("stream %t: a sound request did not reach the client: %d %s", stream, got.status, got.body)
				}
				continue
			}
			if record.Refusal == nil || record.Refusal.Reason != want || bytes.Contains(got.body, []byte("mcpr_1\",\"type")) ||
				bytes.Contains(got.body, []byte(argumentMarker)) {
				t.Errorf("stream %t: refusal %v; the client got %d %s", stream, record.Refusal, got.status, got.body)
			}
			sent := rig.upstream.Requests()[1].Body
			if gjson.GetBytes(sent, `input.#(type=="mcp_list_tools").server_label`).String() != "shop" {
				t.Errorf("stream %t: the chain's list did not go upstream: %s", stream, sent)
			}
			rig.mustNotSay(argumentMarker)
		}
	}
}
