package guard

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// needsPath declares read_file with a schema that asks for a path.
const needsPath = `[{"type":"function","name":"read_file","parameters":{"type":"object","properties":{"path":{"type":"string"}},"required":["path"],"additionalProperties":false}}]`

// judging returns a guard that judges arguments and approvals, and what it tells.
// The body declares tools; further members come behind them.
func judging(t testing.TB, opt Options, tools string, members ...string) (*Guard, *judged) {
	t.Helper()
	store := NewTools(0)
	text := strings.TrimSuffix(body(tools), "}")
	for _, m := range members {
		if strings.HasPrefix(m, `"input":`) {
			text = strings.Replace(text, `"input":"hi"`, m, 1)
			continue
		}
		text += "," + m
	}
	h := &judged{}
	opt.Tools = store
	opt.OnRefusal = func(r *Refusal, m Mode) {
		h.findings = append(h.findings, fmt.Sprint(m, " ", r.Reason, " ", deref(r.Name), " ", deref(r.CallID)))
		h.all = append(h.all, r)
	}
	opt.OnUnjudged = func(reason string) { h.unjudged = append(h.unjudged, reason) }
	return New(requestWith(t, store, text+"}").Catalog, opt), h
}

// judged is what a guard told of calls.
type judged struct {
	findings, unjudged []string
	all                []*Refusal
}

// fc makes a function_call item with these arguments.
func fc(name, arguments string) string { return fcAs("1", name, arguments) }

// fcAs is fc with an id of its own.
func fcAs(id, name, arguments string) string {
	b, err := json.Marshal(map[string]string{"type": "function_call", "id": "fc_" + id, "call_id": "call_" + id,
		"name": name, "arguments": arguments, "status": "completed"})
	if err != nil {
		panic(err) // strings always encode
	}
	return string(b)
}

// announcement is the event that begins a call.
func announcement(index int, item string) string {
	return typed("response.output_item.added", fmt.Sprintf(`"output_index":%d,"item":%s`, index, item))
}

// ended is the event that ends a call's arguments.
func ended(index int, arguments string) string {
	b, err := json.Marshal(arguments)
	if err != nil {
		panic(err)
	}
	return typed("response.function_call_arguments.done", fmt.Sprintf(`"item_id":"fc_1","output_index":%d,"arguments":%s`, index, b))
}

// show shows events to g until one is refused.
func show(g *Guard, events ...string) *Refusal {
	for _, data := range events {
		if _, r := g.Inspect(event(data)); r != nil {
			return r
		}
	}
	return nil
}

func snapshotOf(status, item string) string {
	return typed("response."+status, `"response":{"id":"resp_1","object":"response","status":"`+status+`","output":[{"type":"message"},`+item+`]}`)
}

// completeCarriers are the places where arguments are whole, and judged (A1).
func completeCarriers() map[string]func(g *Guard, arguments string) *Refusal {
	item := func(arguments string) string { return fc("read_file", arguments) }
	events := func(make func(arguments string) []string) func(*Guard, string) *Refusal {
		return func(g *Guard, arguments string) *Refusal { return show(g, make(arguments)...) }
	}
	return map[string]func(*Guard, string) *Refusal{
		"item of done": events(func(a string) []string { return []string{done(item(a))} }),
		"arguments.done of an announced call": events(func(a string) []string {
			return []string{announcement(3, fc("read_file", "")), ended(3, a)}
		}),
		"arguments.done with a name": events(func(a string) []string {
			return []string{strings.TrimSuffix(ended(0, a), "}") + `,"name":"read_file"}`}
		}),
		"snapshot of completed": events(func(a string) []string { return []string{snapshotOf("completed", item(a))} }),
		"snapshot of done":      events(func(a string) []string { return []string{snapshotOf("done", item(a))} }),
		"response not nested": events(func(a string) []string {
			return []string{typed("response.completed", `"object":"response","output":[`+item(a)+`]`)}
		}),
		"event line only": func(g *Guard, a string) *Refusal {
			f := event(`{"output_index":0,"item":` + item(a) + `}`)
			f.Event = []byte("response.output_item.done")
			_, r := g.Inspect(f)
			return r
		},
		"two types, one of them done": events(func(a string) []string {
			return []string{`{"type":"response.output_item.added","type":"response.output_item.done","item":` + item(a) + `}`}
		}),
		"JSON answer": func(g *Guard, a string) *Refusal {
			_, r, _ := g.InspectAnswer([]byte(`{"object":"response","status":"completed","output":[` + item(a) + `]}`))
			return r
		},
		"JSON answer without a status": func(g *Guard, a string) *Refusal {
			_, r, _ := g.InspectAnswer([]byte(`{"output":[` + item(a) + `]}`))
			return r
		},
	}
}

func TestA1CarriersThatAreJudged(t *testing.T) {
	for name, carry := range completeCarriers() {
		t.Run(name, func(t *testing.T) {
			for arguments, want := range map[string]string{
				`{"path":"a"}`:          "passed",
				`{}`:                    MissingRequiredArguments,
				`{"path":7}`:            InvalidToolArguments,
				`{"path":"a"`:           InvalidToolArguments,
				`{"path":"a","more":1}`: InvalidToolArguments,
			} {
				g, _ := judging(t, Options{}, needsPath)
				r := carry(g, arguments)
				if reasonOf(r) != want || g.Refused() != r {
					t.Errorf("%s: %s, want %s", arguments, reasonOf(r), want)
				}
			}
		})
	}
}

// Arguments that are not whole yet, or that no client executes, are nobody's
// fault.
func TestA1CarriersThatAreNot(t *testing.T) {
	bad := fc("read_file", `{"pa`)
	for name, events := range map[string][]string{
		"announcement":              {announcement(0, bad)},
		"empty arguments.done":      {announcement(0, fc("read_file", "")), ended(0, "")},
		"arguments.done of nobody":  {ended(0, `{"pa`)},
		"arguments.done of another": {announcement(0, fc("read_file", "")), ended(1, `{"pa`)},
		"null arguments.done": {announcement(0, fc("read_file", "")),
			typed("response.function_call_arguments.done", `"output_index":0,"arguments":null`)},
		"arguments delta": {announcement(0, fc("read_file", "")),
			typed("response.function_call_arguments.delta", `"output_index":0,"delta":"{\"pa"`)},
		"snapshot of incomplete":   {snapshotOf("incomplete", bad)},
		"snapshot of failed":       {snapshotOf("failed", bad)},
		"snapshot of created":      {snapshotOf("created", bad)},
		"item of an unknown event": {typed("response.vendor_thing", `"item":`+bad)},
	} {
		t.Run(name, func(t *testing.T) {
			g, h := judging(t, Options{}, needsPath)
			if r := show(g, events...); r != nil || h.findings != nil || h.unjudged != nil {
				t.Errorf("%s, told %v %v", reasonOf(r), h.findings, h.unjudged)
			}
		})
	}
	for _, status := range []string{"incomplete", "failed"} {
		g, _ := judging(t, Options{}, needsPath)
		if _, r, _ := g.InspectAnswer([]byte(`{"object":"response","status":"` + status + `","output":[` + bad + `]}`)); r != nil {
			t.Errorf("JSON %s: %s", status, reasonOf(r))
		}
	}
}

// Some providers use an output index again, or give it to all items: the
// arguments that end at it are then nobody's, and a right turn was refused.
func TestA1AnIndexUsedAgain(t *testing.T) {
	// Calls that are open at the same time: whose arguments end is not known until
	// all are done.
	const two = `[{"type":"function","name":"f","parameters":{"required":["a"]}},{"type":"function","name":"g","parameters":{"required":["b"]}}]`
	for name, events := range map[string][]string{
		"two tools": {announcement(0, fcAs("1", "f", "")), announcement(0, fcAs("2", "g", "")), done(fcAs("1", "f", `{"a":1}`)),
			announcement(0, fcAs("3", "f", "")), ended(0, `{"b":1}`), done(fcAs("2", "g", `{"b":1}`)), done(fcAs("3", "f", `{"a":1}`))},
		"one tool twice": {announcement(0, fcAs("1", "f", "")), announcement(0, fcAs("2", "f", "")), done(fcAs("1", "f", `{"a":1}`)),
			announcement(0, fcAs("3", "g", "")), ended(0, `{"a":1}`), done(fcAs("2", "f", `{"a":1}`)), done(fcAs("3", "g", `{"b":1}`))},
	} {
		g, h := judging(t, Options{}, two)
		if r := show(g, events...); r != nil || h.findings != nil {
			t.Errorf("%s: %s, told %v", name, reasonOf(r), h.findings)
		}
	}

	first := []string{announcement(0, fc("read_file", "")), ended(0, `{"path":"a"}`)}
	const patch = `{"type":"custom_tool_call","name":"patch","call_id":"call_2","input":""}`
	for name, tt := range map[string]struct {
		undeclared Mode
		then       []string
	}{
		"by a call that is not announced":     {Refuse, []string{done(fc("read_file", `{"path":"a"}`)), ended(0, `{"q":1}`)}},
		"by an undeclared call that may pass": {Report, []string{announcement(0, fcAs("2", "other", "")), ended(0, `{"q":1}`)}},
		"by a call of another kind":           {Refuse, []string{announcement(0, patch), ended(0, `{"q":1}`)}},
	} {
		g, h := judging(t, Options{Undeclared: tt.undeclared}, strings.TrimSuffix(needsPath, "]")+`,{"type":"custom","name":"patch"}]`)
		if r := show(g, append(slices.Clone(first), tt.then...)...); r != nil || tt.undeclared == Refuse && h.findings != nil {
			t.Errorf("%s: %s, told %v", name, reasonOf(r), h.findings)
		}
	}
}

func TestA1Modes(t *testing.T) {
	turn := []string{announcement(0, fc("read_file", "")), ended(0, `{}`), done(fc("read_file", `{}`)), snapshotOf("completed", fc("read_file", `{}`))}
	for mode, want := range map[Mode][]string{
		Off:    nil,
		Report: {"report missing_required_arguments read_file call_1"},
		Refuse: {"refuse missing_required_arguments read_file call_1"},
	} {
		// G9: that the undeclared rule is off, or only reports, changes nothing.
		for _, undeclared := range []Mode{Off, Report, Refuse} {
			g, h := judging(t, Options{Arguments: mode, Undeclared: undeclared}, needsPath)
			r := show(g, turn...)
			if (r != nil) != (mode == Refuse) || g.Refused() != r {
				t.Errorf("arguments %v, undeclared %v: %s", mode, undeclared, reasonOf(r))
			}
			if diff := cmp.Diff(want, h.findings); diff != "" {
				t.Errorf("arguments %v, undeclared %v: told (-want +got):\n%s", mode, undeclared, diff)
			}
		}
	}
	// Without a place to keep schemas nothing can be judged.
	if r := show(New(catalogOf(t, body(needsPath)), Options{}), turn...); r != nil {
		t.Errorf("without Tools: %s", reasonOf(r))
	}
}

func TestA1ParallelCalls(t *testing.T) {
	const two = `[{"type":"function","name":"f","parameters":{"required":["a"]}},{"type":"function","name":"g","parameters":{"required":["b"]}}]`
	const a, b = `{"a":1}`, `{"b":1}`
	begin := []string{announcement(0, fcAs("1", "f", "")), announcement(1, fcAs("2", "g", ""))}
	oneIndex := []string{announcement(0, fcAs("1", "f", "")), announcement(0, fcAs("2", "g", ""))}
	for name, tt := range map[string]struct {
		events []string
		want   string // what is refused
	}{
		"both right, ends crossed": {append(begin, ended(1, b), ended(0, a), done(fcAs("2", "g", b)), done(fcAs("1", "f", a))), ""},
		"the second is bad":        {append(begin, ended(0, a), ended(1, a)), "g call_2"},
		"the first is bad":         {append(begin, ended(1, b), ended(0, b)), "f call_1"},
		"only the item is bad":     {append(begin, ended(1, b), ended(0, a), done(fcAs("2", "g", b)), done(fcAs("1", "f", b))), "f call_1"},
		"only the end is bad":      {append(begin, ended(1, a), done(fcAs("2", "g", b))), "g call_2"},
		"only the last carrier has them, and is bad": {append(begin, ended(0, ""), ended(1, ""),
			typed("response.completed", `"response":{"output":[`+fcAs("1", "f", a)+`,`+fcAs("2", "g", a)+`]}`)), "g call_2"},
		// Some servers number no items: an end of arguments could be either's.
		"one index for both, right":       {append(oneIndex, ended(0, a), ended(0, b), done(fcAs("1", "f", a)), done(fcAs("2", "g", b))), ""},
		"one index for both, item bad":    {append(oneIndex, ended(0, a), done(fcAs("1", "f", b))), "f call_1"},
		"one index, third time the first": {append(oneIndex, announcement(0, fcAs("3", "f", "")), ended(0, b)), ""},
		"one index, one tool":             {[]string{announcement(0, fcAs("1", "f", "")), announcement(0, fcAs("2", "f", "")), ended(0, b)}, "f call_2"},
		// GitHub Copilot makes up new ids in each event.
		"ids that change": {[]string{announcement(0, fcAs("x1", "f", "")), announcement(1, fcAs("x2", "g", "")), ended(1, a)}, "g call_x2"},
	} {
		t.Run(name, func(t *testing.T) {
			g, _ := judging(t, Options{}, two)
			r, got := show(g, tt.events...), ""
			if r != nil {
				got = deref(r.Name) + " " + deref(r.CallID)
			}
			if got != tt.want {
				t.Errorf("refused %q, want %q", got, tt.want)
			}
		})
	}
}

// A key that comes twice has a reading for each reader; all must satisfy.
func TestA3CallsOfTwoReadings(t *testing.T) {
	item := func(members string) string { return done(`{"type":"function_call","call_id":"c",` + members + `}`) }
	for data, want := range map[string]string{
		item(`"name":"read_file","arguments":"{\"path\":\"a\"}","arguments":"{\"path\":\"b\"}"`): "passed",
		item(`"name":"read_file","arguments":"{\"path\":\"a\"}","arguments":"{}"`):               MissingRequiredArguments,
		item(`"name":"read_file","arguments":"{}","arguments":"{\"path\":\"a\"}"`):               MissingRequiredArguments,
		item(`"name":"read_file","Arguments":"{}","arguments":"{\"path\":\"a\"}"`):               MissingRequiredArguments,
		item(`"name":"read_file","Arguments":"{\"path\":\"a\"}"`):                                MissingRequiredArguments, // absent to most
		item(`"name":"read_file","\u0061rguments":"{\"path\":7}"`):                               InvalidToolArguments,
		item(`"name":"read_file","arguments":{"path":"a"}`):                                      InvalidToolArguments, // no string
		item(`"name":"read_file","arguments":null`):                                              MissingRequiredArguments,
		item(`"name":"read_file"`):                                                               MissingRequiredArguments,
	} {
		g, _ := judging(t, Options{}, needsPath)
		if r := show(g, data); reasonOf(r) != want {
			t.Errorf("%s: %s, want %s", data, reasonOf(r), want)
		}
	}
}

// Nothing that is kept from event to event may lie in a frame: the announced
// call's type did, and a refusal showed bytes of another event.
func TestNothingIsKeptInFrames(t *testing.T) {
	const tools = `[{"type":"function","name":"f","parameters":{"required":["b"]}},{"type":"tool_search"},{"type":"mcp","server_label":"shop"}]`
	loaded := `{"type":"tool_search_output","execution":"client","tools":[{"type":"function","name":"g","parameters":{"required":["c"]}}]}`
	for name, events := range map[string][]string{
		"announced": {typed("response.output_item.added", `"output_index":0,"item":`+fc("f", ``)), textDelta,
			typed("response.function_call_arguments.done", `"output_index":0,"arguments":"{\"a\":1}"`)},
		"loaded": {done(loaded), textDelta, done(fc("g", `{"a":1}`))},
		"listed": {done(`{"type":"mcp_list_tools","server_label":"shop","tools":[{"name":"buy","input_schema":{"required":["item"]}}]}`), textDelta,
			done(`{"type":"mcp_approval_request","server_label":"shop","name":"buy","arguments":"{}","id":"i"}`)},
		"failed": {typed("response.created", `"response":{"id":"resp_1","x":"\u00e9"}`), done(fc("f", `{"b":1}`)), textDelta,
			typed("response.failed", `"response":{"id":"resp_1","error":{"code":"c","message":"m \u00e9"}}`)},
		"undeclared": {typed("response.created", `"response":{"id":"resp_1"}`), textDelta, done(rmAll)},
	} {
		t.Run(name, func(t *testing.T) {
			kept, _ := judging(t, Options{}, tools)
			overwritten, _ := judging(t, Options{}, tools)
			for _, data := range events {
				kept.Inspect(framed(data))
				f := framed(data)
				overwritten.Inspect(f)
				for i := range f.Raw {
					f.Raw[i] = 'X'
				}
			}
			for what, diff := range map[string]string{
				"refusal": cmp.Diff(kept.Refused(), overwritten.Refused(), cmp.AllowUnexported(Refusal{})),
				"turn":    cmp.Diff(kept.Turn(), overwritten.Turn(), cmp.AllowUnexported(Turn{})),
			} {
				if diff != "" {
					t.Errorf("%s (-frames kept +overwritten):\n%s", what, diff)
				}
			}
			if name != "failed" && kept.Refused() == nil {
				t.Error("not refused")
			}
		})
	}
}

// What a refusal says must be its own: frames lie in buffers that are used again.
func TestArgumentRefusalOutlivesItsFrame(t *testing.T) {
	g, _ := judging(t, Options{}, `[{"type":"function","name":"f","parameters":{"properties":{"a":{"type":"object","additionalProperties":false}},"required":["b"]}}]`)
	f := event(done(fc("f", `{"a":{"surprising":1}}`)))
	_, r := g.Inspect(f)
	before, err := json.Marshal(r)
	if err != nil || r == nil {
		t.Fatal(r, err)
	}
	message := strings.Clone(r.Message())
	for i := range f.Data {
		f.Data[i] = 'X'
	}
	if after, _ := json.Marshal(r); string(after) != string(before) || r.Message() != message {
		t.Errorf("the refusal changed from\n%s\nto\n%s", before, after)
	}
}
