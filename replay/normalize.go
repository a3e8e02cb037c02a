package replay

import (
	"strings"

	"github.com/tidwall/gjson"
)

// outputRun is the output of one record, made fit to be input again.
type outputRun struct {
	items []item
	// voided are the call ids of results that cannot be replayed; their calls,
	// which may be in an earlier turn, go with them.
	voided map[string]bool
}

// replayOutput normalises the record's output items, rule by rule:
//
//   - what is no object, and additional_tools of another role than developer,
//     is no input item at all;
//   - declarations that the turn's guard did not count are left out, and with a
//     tool_search_output the hosted search that it answers;
//   - computer_call_output that failed and custom_tool_call_output that is not
//     completed are left out together with their calls;
//   - a call that an incomplete turn left half written is left out, and with it
//     the reasoning directly before it, which no API takes without its follower;
//   - members that exist only in outputs are removed (see normalize).
//
// The order stays, and all other bytes do.
func (r *Record) replayOutput() outputRun {
	run := outputRun{}
	all := readItems(r.Output)
	run.items = make([]item, 0, len(all))
	half := gjson.GetBytes(r.Snapshot, "status").Str == "incomplete"
	withhold := false
	for _, it := range all {
		withhold = withhold || it.declares && !r.Declares
	}
	for _, it := range all {
		switch {
		case !it.object,
			withhold && (it.declares || it.typ == "tool_search_call" && it.execution != "client"),
			it.typ == "additional_tools" && it.role != "developer":
			continue
		case it.typ == "computer_call_output" && it.status == "failed",
			it.typ == "custom_tool_call_output" && it.status != "" && it.status != "completed":
			if it.callID != "" {
				if run.voided == nil {
					run.voided = make(map[string]bool)
				}
				run.voided[it.callID] = true
			}
			continue
		case half && it.clientCall() && (it.status == "incomplete" || it.status == "in_progress"):
			for n := len(run.items); n > 0 && run.items[n-1].typ == "reasoning"; n-- {
				run.items = run.items[:n-1]
			}
			continue
		}
		it.raw = it.normalize()
		it.output = true
		run.items = append(run.items, it)
	}
	return run
}

// dropVoided removes the calls whose results were voided, among output items
// only: what a client sent stays.
func dropVoided(items []item, voided map[string]bool) []item {
	if len(voided) == 0 {
		return items
	}
	kept := items[:0]
	for _, it := range items {
		if it.output && voided[it.callID] && strings.HasSuffix(it.typ, "_call") {
			continue
		}
		kept = append(kept, it)
	}
	return kept
}

// normalize returns the item without the members that an API accepts in no
// input: created_by (also in the chunks of a shell_call_output), what SDKs put
// there for their callers (parsed, parsed_arguments), a custom_tool_call_output's
// status, and a null id or status, which some servers write and none reads. It
// looks no deeper: tool arguments and schemas may use these names for their own
// purposes.
func (it item) normalize() string {
	raw := it.raw
	if it.trim {
		raw = without(raw, it.superfluous)
	}
	switch it.typ {
	case "shell_call_output":
		return withoutInElements(raw, "output", "created_by")
	case "message":
		return withoutInElements(raw, "content", "parsed")
	}
	return raw
}

// superfluous reports whether normalize removes the member k of the item.
func (it item) superfluous(k string, v gjson.Result) bool {
	switch k {
	case "created_by":
		return true
	case "status":
		return it.typ == "custom_tool_call_output" || v.Type == gjson.Null
	case "id":
		return v.Type == gjson.Null
	case "parsed_arguments":
		return it.typ == "function_call"
	}
	return false
}

// withoutInElements removes the member name from each object in the array that
// is raw's member array.
func withoutInElements(raw, array, name string) string {
	if !strings.Contains(raw, `"`+name+`"`) {
		return raw
	}
	var b strings.Builder
	gjson.Parse(raw).ForEach(func(k, v gjson.Result) bool {
		sep := byte(',')
		if b.Len() == 0 {
			sep = '{'
		}
		b.WriteByte(sep)
		b.WriteString(k.Raw)
		b.WriteByte(':')
		if k.Str != array || !v.IsArray() {
			b.WriteString(v.Raw)
			return true
		}
		b.WriteByte('[')
		n := 0
		v.ForEach(func(_, e gjson.Result) bool {
			if n++; n > 1 {
				b.WriteByte(',')
			}
			if !e.IsObject() {
				b.WriteString(e.Raw)
				return true
			}
			b.WriteString(without(e.Raw, func(k string, _ gjson.Result) bool { return k == name }))
			return true
		})
		b.WriteByte(']')
		return true
	})
	b.WriteByte('}')
	return b.String()
}
