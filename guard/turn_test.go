package guard

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestS7Kinds(t *testing.T) {
	for data, want := range map[string]Kind{
		typed("response.created", `"response":{}`):       KindLifecycle,
		typed("response.queued", `"response":{}`):        KindLifecycle,
		typed("response.in_progress", `"response":{}`):   KindLifecycle,
		typed("response.output_item.added", `"item":{}`): KindItem,
		done(`{}`): KindItemDone,
		typed("response.completed", `"response":{}`):                        KindCompleted,
		typed("response.done", `"response":{}`):                             KindCompleted,
		typed("response.incomplete", `"response":{}`):                       KindIncomplete,
		typed("response.failed", `"response":{}`):                           KindFailed,
		typed("error", `"message":"x"`):                                     KindError,
		`{"error":{"message":"x"}}`:                                         KindError,
		typed("response.error", `"error":{"message":"x"}`):                  KindError,
		typed("response.output_text.delta", `"delta":"\"error\""`):          KindOther,
		typed("response.output_text.delta", `"delta":"x","error":null`):     KindOther,
		typed("codex.rate_limits", `"limit_reached":true`):                  KindOther, // K-A11
		typed("keepalive", `"sequence_number":3`):                           KindOther,
		`{"type":"response.completed","type":"response.output_text.delta"}`: KindCompleted,
		`[DONE]`: KindDone,
		`{"sequence_number":1,"response":{},"type":"response.completed"}`: KindCompleted,
		`{"type":"\u0072esponse.completed","response":{}}`:                KindCompleted,
		`{"type":"response.completed`:                                     KindOther, // broken: not an end
	} {
		if k, r := guardOf(t, readFile).Inspect(event(data)); k != want || r != nil {
			t.Errorf("%s: kind %v, %s; want %v", data, k, reasonOf(r), want)
		}
	}
	f := event(`{"response":{"id":"resp_1"}}`)
	f.Event = []byte("response.completed")
	g := guardOf(t, readFile)
	if k, _ := g.Inspect(f); k != KindCompleted || g.Turn().ID != "resp_1" {
		t.Errorf("type in the event line only: kind %v, id %q", k, g.Turn().ID)
	}
	f = event(done(rmAll)[:50])
	f.Cut = true
	if k, r := guardOf(t, readFile).Inspect(f); k != KindBroken || r != nil {
		t.Errorf("half a call at the end: kind %v, %s; want broken", k, reasonOf(r))
	}
	if k, _ := guardOf(t, readFile).Inspect(event("")); k != KindOther {
		t.Errorf("empty data: kind %v", k)
	}
	f.Data = nil
	if k, _ := guardOf(t, readFile).Inspect(f); k != KindNone {
		t.Errorf("no data: kind %v", k)
	}
}

// The first terminal event wins (S7a), and what comes after it is not judged:
// it is not relayed.
func TestS7aLate(t *testing.T) {
	g := guardOf(t, readFile)
	g.Inspect(event(typed("response.incomplete", `"response":{"id":"resp_1"}`)))
	for _, data := range []string{typed("response.completed", `"response":{"id":"resp_2"}`), done(rmAll), `x`} {
		if k, r := g.Inspect(event(data)); k != KindLate || r != nil {
			t.Errorf("%s: kind %v, %s; want late", data, k, reasonOf(r))
		}
	}
	if k, _ := g.Inspect(event("[DONE]")); k != KindDone {
		t.Errorf("[DONE]: kind %v", k)
	}
	if g.Turn().Terminal != KindIncomplete || g.Turn().ID != "resp_1" {
		t.Errorf("turn %+v", g.Turn())
	}
}

func TestTurnNotes(t *testing.T) {
	g := guardOf(t, readFile)
	if n := g.Turn().LastSequence; n != -1 {
		t.Errorf("LastSequence = %d before any event, want -1", n)
	}
	for _, data := range []string{
		typed("response.created", `"sequence_number":0,"response":{"id":"resp_1","object":"response","a":1}`),
		typed("response.in_progress", `"sequence_number":1,"response":{"id":"resp_2","object":"response","a":2}`),
		typed("response.output_text.delta", `"delta":"\"sequence_number\":99","sequence_number": 2`),
		done(`{"type":"message","id":"msg_1"}`),
		typed("response.completed", `"sequence_number":7,"response":{"id":"resp_3","usage":{"input_tokens":9,"output_tokens":4,"input_tokens_details":{"cached_tokens":3},"output_tokens_details":{"reasoning_tokens":2}}}`),
	} {
		g.Inspect(event(data))
	}
	turn := g.Turn()
	got := Turn{ID: turn.ID, FirstID: turn.FirstID, Terminal: turn.Terminal, Usage: turn.Usage, Events: turn.Events, LastSequence: turn.LastSequence}
	want := Turn{ID: "resp_3", FirstID: "resp_1", Terminal: KindCompleted, Usage: Usage{9, 3, 4, 2}, Events: 5, LastSequence: 7}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(Turn{})); diff != "" {
		t.Errorf("turn (-want +got):\n%s", diff)
	}
	if string(turn.Snapshot) != `{"id":"resp_1","object":"response","a":1}` || len(turn.Items) != 1 || turn.NextSequence() != 8 {
		t.Errorf("snapshot %s, %d items, next %d", turn.Snapshot, len(turn.Items), turn.NextSequence())
	}

	g = guardOf(t, readFile)
	g.Inspect(event(`{"type":"x"}`))
	if n := g.Turn().NextSequence(); n != 1 {
		t.Errorf("next number without numbers = %d, want the count of events", n)
	}
}

// S10: the tokens of a refused terminal event were spent; its response must not
// be shown.
func TestS10RefusedTerminalIsAccounted(t *testing.T) {
	g := guardOf(t, readFile)
	g.Inspect(event(typed("response.output_text.delta", `"delta":"x"`)))
	g.Inspect(event(typed("response.completed", `"response":{"id":"resp_1","output":[`+rmAll+`],"usage":{"input_tokens":5}}`)))
	turn := g.Turn()
	if g.Refused() == nil || turn.Terminal != KindCompleted || turn.Usage.Input != 5 || turn.Snapshot != nil || turn.Items != nil {
		t.Errorf("refused %v, turn %+v", g.Refused() != nil, turn)
	}
	// Some providers change the id from event to event.
	g = guardOf(t, readFile)
	g.Inspect(event(typed("response.created", `"response":{"id":"resp_1"}`)))
	g.Inspect(event(typed("response.completed", `"response":{"id":"resp_2","output":[`+rmAll+`]}`)))
	if g.Turn().ID != "resp_1" {
		t.Errorf("id %s is not the one that the client has seen", g.Turn().ID)
	}
	g = guardOf(t, readFile)
	g.Inspect(event(typed("response.created", `"response":{"id":"resp_1","object":"response","output":[`+rmAll+`]}`)))
	if g.Refused() == nil || g.Turn().ID != "resp_1" || g.Turn().Snapshot != nil {
		t.Errorf("refused at created: turn %+v", g.Turn())
	}
}

func TestS7ErrorCause(t *testing.T) {
	for data, want := range map[string][2]string{
		`{"type":"error","code":"slow_down","message":"too fast"}`:                                {"slow_down", "too fast"},
		`{"type":"error","error":{"code":"slow_down","message":"too fast"}}`:                      {"slow_down", "too fast"},
		`{"type":"error","error":{"type":"server_error","code":null,"message":"x"}}`:              {"server_error", "x"},
		`{"error":{"code":429,"message":"x"}}`:                                                    {"429", "x"},
		`{"type":"error","error":"plain"}`:                                                        {"", "plain"},
		typed("response.failed", `"response":{"error":{"code":"server_error","message":"gone"}}`): {"server_error", "gone"},
	} {
		g := guardOf(t, readFile)
		g.Inspect(event(data))
		e := g.Turn().Error
		if !e.Seen || e.Code != want[0] || e.Message != want[1] {
			t.Errorf("%s: %+v, want %v", data, e, want)
		}
	}
}
