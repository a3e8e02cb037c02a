package proxy

import (
	"context"
	"errors"
	"slices"

	"github.com/tidwall/gjson"

	"turngate/guard"
	"turngate/replay"
)

// commit makes a record of the turn, whose last event or whole answer was just
// inspected and is about to be released: what a client sees can be continued at
// once (R3). Only a turn that ended well and was not refused gets here. If it
// cannot be recorded, it is delivered all the same.
func (t *turn) commit() {
	if !t.recordable() {
		return
	}
	// Once begun it is done: a client that leaves meanwhile changes nothing.
	err := t.p.askStore(context.WithoutCancel(t.r.Context()), storePut, func(ctx context.Context) error {
		rec, err := t.finished()
		if err != nil {
			return err
		}
		scope, err := t.scope(ctx, t.route)
		if err != nil {
			return err
		}
		return t.cfg.Store.Put(ctx, scope, rec)
	})
	if err != nil {
		t.log.Warn("turn not recorded", "request_id", t.id, "upstream", t.route.Name,
			"response_id", guard.Shown(t.guard.Turn().ID, maxLogged), "error", err)
	}
}

// recordable reports whether the turn's end is one to go on from, and there is
// someone to go on: a client that is gone has not seen it.
func (t *turn) recordable() bool {
	if t.history == nil || t.r.Context().Err() != nil {
		return false
	}
	switch gjson.GetBytes(t.guard.Snapshot(), "status").Str {
	case "failed", "cancelled":
		return false
	case "queued", "in_progress":
		return t.transport != "json" // where an event has said that it is the end
	}
	return true
}

// finished returns the record of the turn.
func (t *turn) finished() (replay.Record, error) {
	turn := t.guard.Turn()
	if turn.ID == "" {
		return replay.Record{}, errors.New("the response has no id")
	}
	snapshot, last, err := replay.SplitResponse(t.guard.Snapshot())
	if err != nil {
		return replay.Record{}, err
	}
	output, err := outputOf(turn, elements(last))
	if err != nil {
		return replay.Record{}, err
	}
	rec := replay.Record{
		ID: turn.ID, PreviousID: t.history.previous,
		Input: t.history.input, Output: joinItems(output),
		Snapshot: guard.Restore(snapshot, t.asked),
		Declares: t.guard.LoadsTools(),
	}
	if turn.FirstID != turn.ID {
		rec.Alias = turn.FirstID
	}
	return rec, nil
}

// outputOf returns a turn's output: the items that were finished in the stream,
// which is what clients act on, at the places and in the company that the last
// snapshot shows. Either may lack what the other has: some upstreams end with an
// empty snapshot, others never finish an item (K-A9).
func outputOf(turn *guard.Turn, last [][]byte) ([][]byte, error) {
	if turn.Dropped > 0 && len(last) < len(turn.Items)+turn.Dropped {
		return nil, errors.New("the output is too large to be kept, and the snapshot does not have it")
	}
	out := last
	paired, taken := pair(turn.Items, last)
	if turn.Terminal == guard.KindIncomplete {
		for j := range out {
			if !taken[j] {
				out[j] = markUnfinished(out[j])
			}
		}
	}
	for i, item := range turn.Items {
		if paired[i] >= 0 {
			out[paired[i]] = item
		}
	}
	for i, item := range turn.Items {
		if paired[i] < 0 {
			out = slices.Insert(out, min(i, len(out)), item)
		}
	}
	return out, nil
}

// pair returns for each of done which of last is the same item, -1 if none is,
// and which of last are taken so: by id, else by call id, else by place and type.
// Some upstreams make new ids for every event.
func pair(done, last [][]byte) (paired []int, taken []bool) {
	paired = make([]int, len(done))
	for i := range paired {
		paired[i] = -1
	}
	taken = make([]bool, len(last))
	for _, key := range [...]string{"id", "call_id"} {
		places := make(map[string]int)
		for j := range last {
			if s := gjson.GetBytes(last[j], key).Str; s != "" && !taken[j] {
				places[s] = j
			}
		}
		for i := range done {
			if paired[i] >= 0 {
				continue
			}
			s := gjson.GetBytes(done[i], key).Str
			if j, ok := places[s]; ok {
				paired[i], taken[j] = j, true
				delete(places, s)
			}
		}
	}
	for i := range min(len(done), len(last)) {
		if paired[i] < 0 && !taken[i] && gjson.GetBytes(done[i], "type").Str == gjson.GetBytes(last[i], "type").Str {
			paired[i], taken[i] = i, true
		}
	}
	return paired, taken
}

// markUnfinished marks an item that an incomplete turn shows only in its last
// snapshot as incomplete, if it is a call that nothing shows to be whole: then it
// is never input again (K-A6).
func markUnfinished(item []byte) []byte {
	v := gjson.ParseBytes(item)
	if !v.Get("call_id").Exists() {
		return item
	}
	arguments := v.Get("arguments")
	if v.Get("status").Str == "completed" && (arguments.Type != gjson.String || guard.Valid([]byte(arguments.Str))) {
		return item
	}
	return guard.AppendEdited(nil, item, guard.Edit{Key: "status", Value: []byte(`"incomplete"`)})
}

// elements returns the objects of a JSON array that SplitResponse has checked.
func elements(array []byte) [][]byte {
	var items [][]byte
	gjson.ParseBytes(array).ForEach(func(_, v gjson.Result) bool {
		if v.IsObject() {
			items = append(items, []byte(v.Raw))
		}
		return true
	})
	return items
}
