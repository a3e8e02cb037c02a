package proxy

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"turngate/proxy/mock"
)

// threeTurns is a rig with the chain resp_1, resp_2, resp_3.
func threeTurns(t *testing.T, more ...mock.Turn) *rig {
	t.Helper()
	turns := append([]mock.Turn{reply("resp_1", "uno"), reply("resp_2", "dos"), reply("resp_3", "tres")}, more...)
	rig := newReplayRig(t, nil, turns...)
	rig.ask(`{"model":"m","stream":true,"input":[{"id":"in_1","role":"user","content":"one"}]}`)
	rig.ask(`{"model":"m","stream":true,"input":[{"id":"in_2","role":"user","content":"two"}],"previous_response_id":"resp_1"}`)
	rig.ask(`{"model":"m","stream":true,"input":[{"id":"in_3","role":"user","content":"three"}],"previous_response_id":"resp_2"}`)
	return rig
}

// R12, K-G9.
func TestR12Response(t *testing.T) {
	rig := threeTurns(t)
	a := rig.do(http.MethodGet, "/responses/resp_2?include[]=reasoning.encrypted_content", nil, nil)
	rig.wantHeader(a, "Content-Type", "application/json")
	want := gjson.ParseBytes((&mock.Stream{ID: "resp_2"}).Text("dos").Completed().JSON()).Map()
	got := gjson.ParseBytes(a.body).Map()
	if len(got) != len(want) || a.status != 200 {
		t.Errorf("status %d, %d members, want %d: %s", a.status, len(got), len(want), a.body)
	}
	for key, v := range want {
		if key == "previous_response_id" {
			v = gjson.Parse(`"resp_1"`)
		}
		if got[key].Raw != v.Raw {
			t.Errorf("%s is %s, want %s", key, got[key].Raw, v.Raw)
		}
	}
	rig.wantErrorText(rig.do(http.MethodGet, "/responses/resp_2?stream=true", nil, nil), 400, "unsupported_parameter", "stream",
		"This response cannot be streamed because it was not created with background=true.")
	rig.wantErrorText(rig.do(http.MethodGet, "/responses/resp_9", nil, nil), 404, "not_found", "", "Response with id 'resp_9' not found.")
	rig.wantErrorText(rig.do(http.MethodPost, "/responses/resp_2/cancel", nil, nil), 400, "invalid_request", "", "Cannot cancel a synchronous response.")
	rig.wantRequests(3)
}

func TestR12Delete(t *testing.T) {
	rig := threeTurns(t)
	a := rig.do(http.MethodDelete, "/responses/resp_2", nil, nil)
	if want := `{"id":"resp_2","object":"response","deleted":true}`; a.status != 200 || string(a.body) != want {
		t.Errorf("status %d: %s", a.status, a.body)
	}
	for _, r := range []struct{ method, path string }{
		{http.MethodGet, ""}, {http.MethodDelete, ""}, {http.MethodGet, "/input_items"}, {http.MethodPost, "/cancel"},
	} {
		rig.wantErrorText(rig.do(r.method, "/responses/resp_2"+r.path, nil, nil), 404, "not_found", "", "Response with id 'resp_2' not found.")
	}
	rig.wantUnknown("resp_2", nil)
	rig.wantUnknown("resp_3", nil) // what was deleted is not sent again
	rig.ask(`{"model":"m","stream":true,"input":"b","previous_response_id":"resp_1"}`)
	if n := rig.metric("turngate_replay_operations_total", "operation", "delete"); n != 2 {
		t.Errorf("%v deletes", n)
	}
}

func TestR12InputItems(t *testing.T) {
	rig := threeTurns(t)
	for query, want := range map[string]string{
		"":                              "in_3 msg_0 in_2 msg_0 in_1 false",
		"?order=asc":                    "in_1 msg_0 in_2 msg_0 in_3 false",
		"?order=asc&limit=2":            "in_1 msg_0 true",
		"?order=asc&limit=2&after=in_1": "msg_0 in_2 true",
		"?order=asc&after=in_2":         "msg_0 in_3 false",
		"?order=asc&after=in_3":         " false",
		"?order=desc&limit=2":           "in_3 msg_0 true",
		"?limit=100&after=in_2":         "msg_0 in_1 false",
		"?order=asc&after=msg_0":        "in_3 false", // the last of two: whoever pages comes to an end
	} {
		a := rig.do(http.MethodGet, "/responses/resp_3/input_items"+query, nil, nil)
		list := gjson.ParseBytes(a.body)
		var ids []string
		for _, item := range list.Get("data").Array() {
			ids = append(ids, item.Get("id").Str)
		}
		if got := strings.Join(ids, " ") + " " + list.Get("has_more").Raw; got != want || a.status != 200 {
			t.Errorf("%s: status %d, got %q, want %q", query, a.status, got, want)
		}
		first, last := "", ""
		if len(ids) > 0 {
			first, last = ids[0], ids[len(ids)-1]
		}
		if list.Get("object").Str != "list" || list.Get("first_id").String() != first || list.Get("last_id").String() != last {
			t.Errorf("%s: %s", query, a.body)
		}
	}
	for query, param := range map[string]string{
		"?limit=0": "limit", "?limit=101": "limit", "?limit=x": "limit", "?order=up": "order", "?after=in_9": "after",
	} {
		a := rig.do(http.MethodGet, "/responses/resp_3/input_items"+query, nil, nil)
		rig.wantError(a, 400, "invalid_value")
		if got := gjson.GetBytes(a.body, "error.param").Str; got != param {
			t.Errorf("%s: param %q", query, got)
		}
	}
	a := rig.do(http.MethodGet, "/responses/resp_1/input_items", nil, nil)
	want := `{"object":"list","data":[{"id":"in_1","role":"user","content":"one"}],"first_id":"in_1","last_id":"in_1","has_more":false}`
	if diff := cmp.Diff(want, string(a.body)); diff != "" {
		t.Errorf("list (-want +got):\n%s", diff)
	}
}

// Of several upstreams the one that keeps its own state is asked about what the
// store does not have.
func TestR12NativeUpstream(t *testing.T) {
	other := mock.Turn{Route: "GET /v1/responses/resp_far", Body: []byte(`{"id":"resp_far","object":"response"}`)}
	rig := newReplayRig(t, func(c *Config) {
		native := c.Upstreams[0]
		native.Name, native.Models, native.Replay = "native", []string{"far-*"}, false
		c.Upstreams = append(c.Upstreams, native)
	}, reply("resp_1", "uno"), other)
	rig.ask(`{"model":"m","stream":true,"input":"one"}`)
	if a := rig.do(http.MethodGet, "/responses/resp_1", nil, nil); a.status != 200 {
		t.Errorf("status %d: %s", a.status, a.body)
	}
	rig.wantRequests(1)
	if a := rig.do(http.MethodGet, "/responses/resp_far", nil, nil); string(a.body) != string(other.Body) {
		t.Errorf("got %s", a.body)
	}
	rig.wantRequests(2)
}

// R13: what is compacted or counted is the whole input.
func TestR13Expanded(t *testing.T) {
	for _, path := range []string{"/responses/compact", "/responses/input_tokens"} {
		t.Run(path, func(t *testing.T) {
			answer := mock.Turn{Route: "POST /v1" + path, Body: []byte(`{"id":"x","object":"y"}`)}
			rig := threeTurns(t, answer)
			a := rig.do(http.MethodPost, path, []byte(`{"model":"m", "previous_response_id":"resp_1"}`), nil)
			if a.status != 200 || string(a.body) != string(answer.Body) {
				t.Errorf("status %d: %s", a.status, a.body)
			}
			rig.wantSent(3, `{"model":"m","input":[{"id":"in_1","role":"user","content":"one"},`+said("uno")+`]}`)

			same := `{ "model":"m", "input":[{"role":"user","content":"x"}], "store":true }`
			rig.do(http.MethodPost, path, []byte(same), nil)
			rig.wantSent(4, same)

			a = rig.do(http.MethodPost, path, []byte(`{"model":"m","previous_response_id":"resp_9"}`), nil)
			rig.wantErrorText(a, 400, "previous_response_not_found", "previous_response_id", "Previous response with id 'resp_9' not found.")
			a = rig.do(http.MethodPost, path, []byte(`{"model":"m","previous_response_id":["resp_1"]}`), nil)
			rig.wantError(a, 400, "invalid_type")
			a = rig.do(http.MethodPost, path, []byte(`not JSON`), nil)
			rig.wantError(a, 400, "invalid_json")
			rig.wantRequests(5)
		})
	}
}

// A store that is down says so; it is not asked where upstreams keep their own
// state.
func TestR12StoreDown(t *testing.T) {
	store := newMemory(t)
	rig := newReplayRig(t, withStore(store), reply("resp_1", "uno"))
	rig.ask(`{"model":"m","stream":true,"input":"one"}`)
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	for _, r := range []struct{ method, path string }{
		{http.MethodGet, ""}, {http.MethodDelete, ""}, {http.MethodGet, "/input_items"}, {http.MethodPost, "/cancel"},
	} {
		a := rig.do(r.method, "/responses/resp_1"+r.path, nil, nil)
		rig.wantError(a, 503, "store_unavailable")
		rig.wantHeader(a, "Retry-After", "5")
	}
	rig.proxy.SetReady(true)
	if got := rig.admin(http.MethodGet, "/readyz"); got.Code != 200 || !strings.Contains(got.Body.String(), `"store":"unavailable"`) {
		t.Errorf("/readyz: %d %s", got.Code, got.Body)
	}
}
