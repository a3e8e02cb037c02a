package main_test

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"turngate/proxy/mock"
)

// soakKind is a kind of turn: what the upstream does, what the client does, and
// how it must end.
type soakKind struct {
	name    string
	weight  int // how often it is chosen
	turn    mock.Turn
	slow    bool // the client takes its time to read
	leaves  bool // the client leaves after it has read something
	broken  bool // the request is no JSON
	chained bool // the client goes on from the response
	outcome string
}

// soakID is the response id in the turns' bytes; each answer gets its own in its
// place.
const soakID = "resp_000000000000"

// soakKinds returns the kinds: turns that go well for the most part, and each
// fault.
func soakKinds() []soakKind {
	stream := func() *mock.Stream { return (&mock.Stream{ID: soakID}).Created() }
	text := stream().Text(strings.Split("a few words that come one by one", " ")...).Completed()
	paced := mock.Turn{Body: text.Bytes(), Interval: 20 * time.Millisecond}
	long := stream().Text(strings.Repeat("x", 256<<10), strings.Repeat("y", 256<<10)).Completed()
	call := stream().Call(0, mock.FC("undeclared", `{"a":1}`)).Completed()
	cut := func(f mock.Fault) mock.Turn {
		return mock.Turn{Body: text.Bytes(), Interval: 5 * time.Millisecond, Fault: f, At: text.Len() / 2}
	}
	return []soakKind{
		{name: "text", weight: 30, turn: paced, outcome: "completed"},
		{name: "chain", weight: 15, turn: paced, chained: true, outcome: "completed"},
		{name: "json", weight: 5, turn: text.JSONTurn(), outcome: "completed"},
		{name: "chunks", weight: 5, turn: mock.Turn{Body: text.Bytes(), Chunk: 7}, outcome: "completed"},
		{name: "slow", weight: 5, turn: long.Turn(), slow: true, outcome: "completed"},
		{name: "refused", weight: 10, turn: call.Turn(), outcome: "refused"},
		{name: "refused-json", weight: 2, turn: call.JSONTurn(), outcome: "refused"},
		{name: "leave", weight: 5, turn: cut(mock.Stall), leaves: true, outcome: "client_gone"},
		{name: "cut", weight: 3, turn: cut(mock.Cut), outcome: "truncated"},
		{name: "reset", weight: 3, turn: cut(mock.Reset), outcome: "truncated"},
		{name: "abort", weight: 3, turn: cut(mock.Abort), outcome: "truncated"},
		{name: "stall", weight: 3, turn: cut(mock.Stall), outcome: "timeout"},
		{name: "unanswered", weight: 2, turn: mock.Turn{Fault: mock.Reset, At: -1}, outcome: "upstream_error"},
		{name: "http-500", weight: 2, turn: mock.Turn{Status: 500, Body: []byte(`{"error":{}}`)}, outcome: "upstream_error"},
		{name: "page", weight: 2, turn: mock.Turn{Body: []byte("<html>"), ContentType: "text/html"}, outcome: "upstream_error"},
		{name: "broken", weight: 2, broken: true, outcome: "local_error"},
	}
}

// soakUpstream plays the kind that the client names in a header.
func soakUpstream(kinds []soakKind) http.Handler {
	turns := map[string]mock.Turn{}
	for _, k := range kinds {
		turns[k.name] = k.turn
	}
	var served atomic.Int64
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		turn := turns[r.Header.Get("X-Soak")]
		turn.Body = bytes.ReplaceAll(turn.Body, []byte(soakID), fmt.Appendf(nil, "resp_%012d", served.Add(1)))
		mock.New(turn).ServeHTTP(w, r) // a new one each time: it remembers requests
	})
}
