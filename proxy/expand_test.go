package proxy

import (
	"testing"

	"turngate/guard"
	"turngate/proxy/mock"
)

// exchanged is one turn of a conversation: what the client asks, what the upstream
// must get, whole ("": the same bytes), and what it answers.
type exchanged struct {
	ask, sent string
	answer    mock.Turn
}

func reply(id, text string) mock.Turn {
	return (&mock.Stream{ID: id}).Created().Text(text).Completed().Turn()
}

const fileTool = `"tools":[{"type":"function","name":"read_file","parameters":{"type":"object"}}]`

// conversations are played turn by turn against an upstream that keeps no state.
// R4: instructions, tools and every other parameter are those of the request.
var conversations = map[string][]exchanged{
	"three turns, white space and all": {
		{ask: `{"model":"m","stream":true,"instructions":"be brief","input":"one"}`, answer: reply("resp_1", "uno")},
		{
			ask:    `{ "model":"m","previous_response_id" : "resp_1" , "stream":true, "input": "two", "x":1.0 }`,
			sent:   `{ "model":"m" , "stream":true, "input": [` + userText("one") + `,` + said("uno") + `,` + userText("two") + `], "x":1.0 }`,
			answer: reply("resp_2", "dos"),
		},
		{
			ask: `{"stream":true,"input":[ {"role":"user", "content":"three"} ],"model":"m","previous_response_id":"resp_2"}`,
			sent: `{"stream":true,"input":[` + userText("one") + `,` + said("uno") + `,` + userText("two") + `,` + said("dos") +
				`,{"role":"user", "content":"three"}],"model":"m"}`,
			answer: reply("resp_3", "tres"),
		},
	},
	"a fork": {
		{ask: `{"model":"m","stream":true,"input":"one"}`, answer: reply("resp_1", "uno")},
		{
			ask:    `{"model":"m","stream":true,"input":"a","previous_response_id":"resp_1"}`,
			sent:   `{"model":"m","stream":true,"input":[` + userText("one") + `,` + said("uno") + `,` + userText("a") + `]}`,
			answer: reply("resp_a", "A"),
		},
		{
			ask:    `{"model":"m","stream":true,"input":"b","previous_response_id":"resp_1"}`,
			sent:   `{"model":"m","stream":true,"input":[` + userText("one") + `,` + said("uno") + `,` + userText("b") + `]}`,
			answer: reply("resp_b", "B"),
		},
		{
			ask:    `{"model":"m","stream":true,"previous_response_id":"resp_a"}`,
			sent:   `{"model":"m","stream":true,"input":[` + userText("one") + `,` + said("uno") + `,` + userText("a") + `,` + said("A") + `]}`,
			answer: reply("resp_c", "C"),
		},
	},
	"no output, and then an end that came too soon": {
		{ask: `{"model":"m","stream":true,"input":"one"}`, answer: (&mock.Stream{}).Created().Completed().Turn()},
		{
			ask:    `{"model":"m","stream":true,"input":"two","previous_response_id":"resp_1"}`,
			sent:   `{"model":"m","stream":true,"input":[` + userText("one") + `,` + userText("two") + `]}`,
			answer: (&mock.Stream{ID: "resp_2"}).Created().Text("du").Incomplete("max_output_tokens").Turn(),
		},
		{
			ask:    `{"model":"m","stream":true,"input":"three","previous_response_id":"resp_2"}`,
			sent:   `{"model":"m","stream":true,"input":[` + userText("one") + `,` + userText("two") + `,` + said("du") + `,` + userText("three") + `]}`,
			answer: reply("resp_3", "tres"),
		},
	},
	"reasoning and a call (K-G5)": {
		{
			ask: `{"model":"m","stream":true,"input":"look",` + fileTool + `}`,
			answer: (&mock.Stream{}).Created().Done(0, mock.Reasoning("hm", "c2VjcmV0")).
				Call(1, mock.FC("read_file", `{"path":"a"}`)).Completed().Turn(),
		},
		{
			ask: `{"model":"m","stream":true,"input":[{"type":"function_call_output","call_id":"call_read_file","output":"A"}],"previous_response_id":"resp_1"}`,
			sent: `{"model":"m","stream":true,"input":[` + userText("look") + `,` + string(mock.Reasoning("hm", "c2VjcmV0")) + `,` +
				string(mock.FC("read_file", `{"path":"a"}`)) + `,{"type":"function_call_output","call_id":"call_read_file","output":"A"}]}`,
			answer: reply("resp_2", "done"),
		},
	},
	"tools that were loaded earlier still authorise (R14)": {
		{
			ask:    `{"model":"m","stream":true,"input":[{"type":"additional_tools","role":"developer",` + fileTool + `},{"role":"user","content":"hi"}]}`,
			answer: reply("resp_1", "hi"),
		},
		{
			ask: `{"model":"m","stream":true,"input":"look","previous_response_id":"resp_1","tools":[{"type":"function","name":"other"}]}`,
			sent: `{"model":"m","stream":true,"input":[{"type":"additional_tools","role":"developer",` + fileTool + `},{"role":"user","content":"hi"},` +
				said("hi") + `,` + userText("look") + `],"tools":[{"type":"function","name":"other"}]}`,
			answer: (&mock.Stream{ID: "resp_2"}).Created().Call(0, mock.FC("read_file", `{}`)).Completed().Turn(),
		},
	},
	"and so do those that a search found": {
		{
			ask: `{"model":"m","stream":true,"input":"find","tools":[{"type":"tool_search"},{"type":"function","name":"other"}]}`,
			answer: (&mock.Stream{}).Created().Done(0, searchCall).Done(1, searchOutput).
				Call(2, mock.FC("read_file", `{}`)).Completed().Turn(),
		},
		{
			ask: `{"model":"m","stream":true,"input":[{"type":"function_call_output","call_id":"call_read_file","output":"A"}],"previous_response_id":"resp_1","tools":[{"type":"function","name":"other"}]}`,
			sent: `{"model":"m","stream":true,"input":[` + userText("find") + `,` + string(searchCall) + `,` + string(searchOutput) + `,` + string(mock.FC("read_file", `{}`)) +
				`,{"type":"function_call_output","call_id":"call_read_file","output":"A"}],"tools":[{"type":"function","name":"other"}]}`,
			answer: (&mock.Stream{ID: "resp_2"}).Created().Call(0, mock.FC("read_file", `{}`)).Completed().Turn(),
		},
	},
	"an item reference (K-X11)": {
		{ask: `{"model":"m","stream":true,"input":"one"}`, answer: reply("resp_1", "uno")},
		{
			ask:    `{"model":"m","stream":true,"input":[ {"role":"user","content":"one"}, {"type":"item_reference","id":"msg_0"} ]}`,
			sent:   `{"model":"m","stream":true,"input":[{"role":"user","content":"one"},` + said("uno") + `]}`,
			answer: reply("resp_2", "dos"),
		},
	},
	"what the client sends again is not input twice (R5)": {
		{ask: `{"model":"m","stream":true,"input":"one"}`, answer: reply("resp_1", "uno")},
		{
			ask:    `{"model":"m","stream":true,"input":[{"role":"user","content":"one"},` + said("uno") + `,{"role":"user","content":"two"}],"previous_response_id":"resp_1"}`,
			sent:   `{"model":"m","stream":true,"input":[` + userText("one") + `,` + said("uno") + `,{"role":"user","content":"two"}]}`,
			answer: reply("resp_2", "dos"),
		},
	},
	"JSON answers": {
		{ask: `{"model":"m","input":"one"}`, answer: (&mock.Stream{}).Text("uno").Completed().JSONTurn()},
		{
			ask:    `{"model":"m","input":"two","previous_response_id":"resp_1"}`,
			sent:   `{"model":"m","input":[` + userText("one") + `,` + said("uno") + `,` + userText("two") + `]}`,
			answer: (&mock.Stream{ID: "resp_2"}).Text("dos").Completed().JSONTurn(),
		},
	},
	"a store that says true, and the parameters that are null": {
		{
			ask:    `{"model":"m","stream":true,"store" : true,"previous_response_id":null,"conversation":null,"background":false,"input":"one"}`,
			sent:   `{"model":"m","stream":true,"store" : false,"previous_response_id":null,"conversation":null,"background":false,"input":"one"}`,
			answer: reply("resp_1", "uno"),
		},
		{
			ask:    `{"model":"m","stream":true,"store":false,"previous_response_id":"resp_1","input":[]}`,
			sent:   `{"model":"m","stream":true,"store":false,"input":[` + userText("one") + `,` + said("uno") + `]}`,
			answer: reply("resp_2", "dos"),
		},
	},
	"an id that the upstream changes on the way is one response": {
		{ask: `{"model":"m","stream":true,"input":"one"}`, answer: twoIDs("resp_first", "resp_last")},
		{
			ask:    `{"model":"m","stream":true,"input":"a","previous_response_id":"resp_first"}`,
			sent:   `{"model":"m","stream":true,"input":[` + userText("one") + `,` + said("uno") + `,` + userText("a") + `]}`,
			answer: reply("resp_a", "A"),
		},
		{
			ask:    `{"model":"m","stream":true,"input":"b","previous_response_id":"resp_last"}`,
			sent:   `{"model":"m","stream":true,"input":[` + userText("one") + `,` + said("uno") + `,` + userText("b") + `]}`,
			answer: reply("resp_b", "B"),
		},
	},
	"a call that the upstream ran itself needs no output (G6a)": {
		{
			ask:    `{"model":"m","stream":true,"input":"search","tools":[{"type":"x_search"},{"type":"function","name":"f"}]}`,
			answer: (&mock.Stream{}).Created().Call(0, mock.CTC("x_keyword_search", "q")).Completed().Turn(),
		},
		{
			ask:    `{"model":"m","stream":true,"input":"go on","previous_response_id":"resp_1"}`,
			sent:   `{"model":"m","stream":true,"input":[` + userText("search") + `,` + string(mock.CTC("x_keyword_search", "q")) + `,` + userText("go on") + `]}`,
			answer: reply("resp_2", "dos"),
		},
	},
}

const (
	searchCall   mock.Item = `{"type":"tool_search_call","id":"ts_1","call_id":"call_ts","execution":"server","status":"completed","arguments":{"q":"file"}}`
	searchOutput mock.Item = `{"type":"tool_search_output","id":"tso_1","call_id":"call_ts","execution":"server","status":"completed","tools":[{"type":"function","name":"read_file","parameters":{"type":"object"}}]}`
)

// twoIDs is a turn whose response changes its id.
func twoIDs(first, last string) mock.Turn {
	s := (&mock.Stream{ID: first}).Created().Text("uno")
	s.ID = last
	return s.Completed().Turn()
}

func TestR4Conversations(t *testing.T) {
	for name, steps := range conversations {
		t.Run(name, func(t *testing.T) {
			var turns []mock.Turn
			for _, s := range steps {
				turns = append(turns, s.answer)
			}
			rig := newReplayRig(t, nil, turns...)
			for i, s := range steps {
				a := rig.ask(s.ask)
				if record := rig.proxy.recent.list(1, func(*turnRecord) bool { return true }); len(record) > 0 && record[0].Outcome == "refused" {
					t.Fatalf("turn %d was refused: %s", i, a.body)
				}
				if s.sent == "" {
					s.sent = s.ask
				}
				rig.wantSent(i, s.sent)
			}
		})
	}
}

// replay_reasoning is the one thing that is ever added, and only where it is not
// there.
func TestR4ReplayReasoning(t *testing.T) {
	const encrypted = `"reasoning.encrypted_content"`
	for in, want := range map[string]string{
		`{"model":"m","input":[]}`:                                                `{"model":"m","input":[],"include":[` + encrypted + `]}`,
		`{"include":null,"model":"m","input":[]}`:                                 `{"include":[` + encrypted + `],"model":"m","input":[]}`,
		`{"include":[ ],"model":"m","input":[]}`:                                  `{"include":[` + encrypted + `],"model":"m","input":[]}`,
		`{"include":[ "file_search_call.results" ],"model":"m","input":[]}`:       `{"include":[ "file_search_call.results" ,` + encrypted + `],"model":"m","input":[]}`,
		`{"include":[ "x",` + encrypted + ` ],"model":"m","input":[]}`:            `{"include":[ "x",` + encrypted + ` ],"model":"m","input":[]}`,
		`{"include":["reasoning.encrypted\u005fcontent"],"model":"m","input":[]}`: `{"include":["reasoning.encrypted\u005fcontent"],"model":"m","input":[]}`,
		`{"include":"x","model":"m","input":[]}`:                                  `{"include":"x","model":"m","input":[]}`,
	} {
		rig := newReplayRig(t, func(c *Config) { c.Upstreams[0].ReplayReasoning = true }, reply("resp_1", "uno"))
		rig.ask(in)
		rig.wantSent(0, want)
	}
}

// Where the upstream keeps its own state, nothing of this happens.
func TestR1Native(t *testing.T) {
	body := `{"model":"m","store":true,"background":true,"previous_response_id":"resp_9","conversation":"c","input":"one"}`
	rig := newReplayRig(t, func(c *Config) { c.Upstreams[0].Replay = false }, reply("resp_1", "uno"))
	rig.ask(body)
	rig.wantSent(0, body)
	if n := rig.metric("turngate_replay_operations_total"); n != 0 {
		t.Errorf("the store was asked %v times", n)
	}
}

// K-X10: an upstream cannot authorise a tool in one turn and call it in the
// next.
func TestKX10Laundering(t *testing.T) {
	loaded := mock.Item(`{"type":"additional_tools","id":"at_1","role":"developer",` + fileTool + `}`)
	call := (&mock.Stream{ID: "resp_2"}).Created().Call(0, mock.FC("read_file", `{}`)).Completed().Turn()
	for name, tools := range map[string]string{
		"refused":           `"tools":[{"type":"function","name":"other"}]`,
		"positive: allowed": `"tools":[{"type":"function","name":"other"},{"type":"tool_search"}]`,
	} {
		t.Run(name, func(t *testing.T) {
			first := (&mock.Stream{}).Created().Done(0, loaded).Completed().Turn()
			rig := newReplayRig(t, nil, first, call)
			rig.ask(`{"model":"m","stream":true,"input":"one",` + tools + `}`)
			rig.ask(`{"model":"m","stream":true,"input":"two",` + tools + `,"previous_response_id":"resp_1"}`)
			items := userText("one")
			want := "refused"
			if name != "refused" {
				items, want = items+`,`+string(loaded), "completed"
			}
			rig.wantSent(1, `{"model":"m","stream":true,"input":[`+items+`,`+userText("two")+`],`+tools+`}`)
			if got := rig.lastTurn(); got.Outcome != want {
				t.Errorf("outcome %s, want %s", got.Outcome, want)
			}
		})
	}
}

// Expanded or not, a request may name more than two readers could agree on.
func TestExpandAmbiguousHistory(t *testing.T) {
	odd := mock.Item(`{"type":"message","id":"msg_a","id":"msg_b","role":"assistant","content":[]}`)
	rig := newReplayRig(t, func(c *Config) { c.Upstreams[0].Undeclared = guard.Off },
		(&mock.Stream{}).Created().Done(0, odd).Completed().Turn())
	rig.ask(`{"model":"m","stream":true,"input":"one"}`)
	a := rig.post([]byte(`{"model":"m","stream":true,"input":"two","previous_response_id":"resp_1"}`), nil)
	rig.wantErrorText(a, 400, "invalid_json", "input[1].id",
		`turngate: with the history of the previous response: Duplicate key "input[1].id": readers differ about which one counts.`)
	rig.wantRequests(1)
}
