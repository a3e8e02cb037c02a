package replay_test

import (
	"testing"

	"turngate/replay"
)

// The stored run, sent again by the client in one spelling or another, and what
// comes near it (R5).
func TestResent(t *testing.T) {
	plain := []replay.Record{
		rec("p1", "", `[`+user("yes")+`]`, `[{"type":"message","role":"assistant","content":"no"}]`),
		rec("p2", "p1", `[`+user("yes")+`]`, `[{"type":"message","role":"assistant","content":"no"}]`),
	}
	const no = `{"type":"message","role":"assistant","content":"no"}`
	all := user("yes") + "," + no + "," + user("yes") + "," + no
	history := weather1 + "," + weather2
	tests := []struct {
		name     string
		recs     []replay.Record
		previous string
		input    string
		want     string
		fresh    string
	}{
		{"all of it", weather, "r2", `[` + history + `,1]`, history + `,1`, `[1]`},
		{"all of it and nothing new", weather, "r2", `[` + history + `]`, history, `[]`},
		{"in other bytes", weather, "r2",
			`[{"content":"Wetter? \ud83d","role":"user"},{"summary":[ ],"id":"rs_1","type":"reasoning","encrypted_content":"abc"},` +
				`{"type":"function_call","id":"fc_1","call_id":"c1","name":"weather","arguments":"{}","parsed_arguments":{}},` + weather2 + `,1]`,
			history + `,1`, `[1]`},
		{"the last turn only", weather, "r2", `[` + weather2 + `,1]`, history + `,1`, `[1]`},
		{"the last call and its output", weather, "r1",
			`[{"type":"function_call","id":"fc_1","call_id":"c1","name":"weather","arguments":"{}"},{"type":"function_call_output","call_id":"c1","output":"sun"}]`,
			weather1 + `,{"type":"function_call_output","call_id":"c1","output":"sun"}`,
			`[{"type":"function_call_output","call_id":"c1","output":"sun"}]`},
		{"not at the head", weather, "r2", `[1,` + weather2 + `]`, history + `,1,` + weather2, `[1,` + weather2 + `]`},
		{"not the end of it", weather, "r2",
			`[{"role" : "user","content":"Wetter\u003f \ud83d"},1]`,
			history + `,{"role" : "user","content":"Wetter\u003f \ud83d"},1`,
			`[{"role" : "user","content":"Wetter\u003f \ud83d"},1]`},
		{"one item differs", weather, "r2",
			`[{"type":"function_call_output","call_id":"c1","output":"RAIN"},1]`,
			history + `,{"type":"function_call_output","call_id":"c1","output":"RAIN"},1`,
			`[{"type":"function_call_output","call_id":"c1","output":"RAIN"},1]`},
		{"no ids, all of it", plain, "p2", `[` + all + `,1]`, all + `,1`, `[1]`},
		{"no ids, a part: no proof", plain, "p2", `[` + no + `,1]`, all + `,` + no + `,1`, `[` + no + `,1]`},
		{"the same question again", []replay.Record{rec("a", "", `[`+user("yes")+`]`, ``)}, "a", `"yes"`,
			user("yes") + `,` + user("yes"), `[` + user("yes") + `]`},
		{"short form of the messages", []replay.Record{rec("a", "", `[`+user("hi")+`]`, `[{"type":"message","id":"m1","role":"assistant","content":[]}]`)}, "a",
			`[{"role":"user","content":"hi"},{"type":"message","id":"m1","role":"assistant","content":[]},1]`,
			user("hi") + `,{"type":"message","id":"m1","role":"assistant","content":[]},1`, `[1]`},
		{"self-overlapping", []replay.Record{rec("a", "", `[1,1]`, `[{"type":"message","id":"m","role":"assistant"}]`)}, "a",
			`[1,1,{"type":"message","id":"m","role":"assistant"},1,1]`, `1,1,{"type":"message","id":"m","role":"assistant"},1,1`, `[1,1]`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			x, err := replay.Expand(t.Context(), newStore(t, tt.recs...), scope,
				replay.Request{PreviousID: tt.previous, Input: []byte(tt.input)})
			if err != nil {
				t.Fatal(err)
			}
			if got := string(x.Input); got != `[`+tt.want+`]` {
				t.Errorf("input = %s\nwant   [%s]", got, tt.want)
			}
			if got := string(x.New); got != tt.fresh {
				t.Errorf("new = %s\nwant %s", got, tt.fresh)
			}
		})
	}
}
