package proxy

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"turngate/proxy/mock"
)

// K-G3, R4: snapshots show what the client asked for, and nothing else changes.
func TestKG3Snapshots(t *testing.T) {
	restored := func(b []byte) string {
		s := strings.ReplaceAll(string(b), `"previous_response_id":null`, `"previous_response_id":"resp_1"`)
		return strings.ReplaceAll(s, `"store":true`, `"store":false`)
	}
	second := (&mock.Stream{ID: "resp_2"}).Created().InProgress().Text("dos").Completed().Marker()
	refusedThird := (&mock.Stream{ID: "resp_3"}).Created().Call(0, mock.FC("rm_all", "{}")).Completed()
	bare := mock.Turn{Body: []byte("data: {\"type\":\"response.completed\",\"response\":{\"id\":\"resp_4\",\"output\":[]}}\n\n")}
	rig := newReplayRig(t, nil, reply("resp_1", "uno"), second.Turn(), second.JSONTurn(), refusedThird.Turn(), bare)
	rig.ask(`{"model":"m","stream":true,"input":"one"}`)
	const ask = `{"model":"m","stream":true,"store":false,"input":"two","previous_response_id":"resp_1",` + fileTool + `}`
	if diff := cmp.Diff(restored(second.Bytes()), string(rig.ask(ask).body)); diff != "" {
		t.Errorf("stream (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(restored(second.JSON()), string(rig.ask(ask).body)); diff != "" {
		t.Errorf("JSON (-want +got):\n%s", diff)
	}
	refused := string(rig.ask(ask).body)
	if n := strings.Count(refused, `"previous_response_id":"resp_1"`); n != 2 || strings.Contains(refused, `"previous_response_id":null`) {
		t.Errorf("refused: %s", refused)
	}
	if diff := cmp.Diff(string(bare.Body), string(rig.ask(ask).body)); diff != "" {
		t.Errorf("neither key there (-want +got):\n%s", diff)
	}
}

// What is stored is the response that the client saw.
func TestKG3StoredSnapshot(t *testing.T) {
	rig := newReplayRig(t, nil, reply("resp_1", "uno"), reply("resp_2", "dos"))
	rig.ask(`{"model":"m","stream":true,"input":"one"}`)
	rig.ask(`{"model":"m","stream":true,"store":true,"input":"two","previous_response_id":"resp_1"}`)
	a := rig.do(http.MethodGet, "/responses/resp_2", nil, nil)
	if got := gjson.GetBytes(a.body, "previous_response_id").Str; got != "resp_1" {
		t.Errorf("previous_response_id %q: %s", got, a.body)
	}
	if got := gjson.GetBytes(a.body, "output.0.content.0.text").Str; got != "dos" {
		t.Errorf("output %q: %s", got, a.body)
	}
}
