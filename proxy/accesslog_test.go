package proxy

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"turngate/proxy/mock"
)

// TestLogAndTurnsAgree: the access log's line has every field of /turns, with the
// same value.
func TestLogAndTurnsAgree(t *testing.T) {
	call := new(mock.Stream).Created().Call(0, mock.FC("rm_all", `{}`)).Completed()
	r := newTraced(t, withClients, call.JSONTurn(), mock.Turn{Status: 500, Body: []byte(`{}`)}, textTurn())
	for _, stream := range []bool{false, true, true} {
		r.post(requestBody(t, "one-tool", stream), map[string]string{"Authorization": "Bearer " + aliceKey})
	}
	r.stop()
	lines := map[string]map[string]any{}
	for line := range strings.Lines(r.log.String()) {
		var m map[string]any
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatal(err)
		}
		if m["msg"] == "turn" {
			lines[fmt.Sprint(m["request_id"])] = m
		}
	}
	list := r.turns("")
	if len(list) != 3 {
		t.Fatalf("%d turns", len(list))
	}
	for _, turn := range list {
		line := lines[turn.Get("request_id").String()]
		var want map[string]any
		if err := json.Unmarshal([]byte(turn.Raw), &want); err != nil {
			t.Fatal(err)
		}
		for k, v := range want["tokens"].(map[string]any) {
			want[k+"_tokens"] = v
		}
		delete(want, "tokens")
		if refusal, ok := want["refusal"].(map[string]any); ok {
			want["refusal"] = refusal["reason"]
			if line["message"] == "" {
				t.Errorf("nothing about the refusal in %v", line)
			}
		}
		for k, v := range want {
			if v != nil && line[k] != v {
				t.Errorf("%s: %s is %v in the log, %v in /turns", turn.Get("outcome"), k, line[k], v)
			}
		}
	}
}
