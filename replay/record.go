package replay

import (
	"bytes"
	"fmt"

	"github.com/tidwall/gjson"
)

// Size returns what Limits.MaxRecordBytes counts.
func (r *Record) Size() int64 {
	return int64(len(r.Input)) + int64(len(r.Output)) + int64(len(r.Snapshot))
}

// Check returns ErrInvalid, wrapped, unless the record has an id and its parts
// are JSON of the right kind, and ErrTooLarge if one has more than 131,072 items.
// Stores call it before they keep a record.
func (r *Record) Check() error {
	switch {
	case r.ID == "":
		return fmt.Errorf("%w: no id", ErrInvalid)
	case len(r.Input) > 0 && !valid(r.Input, '['):
		return fmt.Errorf("%w: input is not a JSON array", ErrInvalid)
	case len(r.Output) > 0 && !valid(r.Output, '['):
		return fmt.Errorf("%w: output is not a JSON array", ErrInvalid)
	case !valid(r.Snapshot, '{'):
		return fmt.Errorf("%w: snapshot is not a JSON object", ErrInvalid)
	case tooMany(r.Input), tooMany(r.Output):
		return fmt.Errorf("%w: more than %d items", ErrTooLarge, maxItems)
	}
	return nil
}

// Replayable returns the output items that may be input again, normalised, in
// order. Left out are items that no API takes as input (results that failed,
// with their calls; calls that an incomplete turn left half written) and, unless
// Declares, items that declare tools. The record must have passed Check.
func (r *Record) Replayable() [][]byte {
	return rawItems(r.replayItems())
}

func (r *Record) replayItems() []item {
	run := r.replayOutput()
	return dropVoided(run.items, run.voided)
}

// Item is one item and its id.
type Item struct {
	ID  string
	Raw []byte // a JSON object
}

// Items returns the record's items that have an id, so that an item_reference
// can name them: first the replayable output items, then the input items; of two
// with one id the first. The record must have passed Check.
func (r *Record) Items() []Item {
	var items []Item
	seen := make(map[string]bool)
	for _, list := range [][]item{r.replayItems(), readItems(r.Input)} {
		for _, it := range list {
			if it.id != "" && !it.doubtful && it.typ != "item_reference" && !seen[it.id] {
				seen[it.id] = true
				items = append(items, Item{ID: it.id, Raw: []byte(it.raw)})
			}
		}
	}
	return items
}

// Response returns the response object as the client saw it: the snapshot with
// the output put back, as its last member. The record must have passed Check.
func (r *Record) Response() []byte {
	output := r.Output
	if len(output) == 0 {
		output = []byte("[]")
	}
	end := bytes.LastIndexByte(r.Snapshot, '}')
	b := make([]byte, 0, len(r.Snapshot)+len(output)+len(`,"output":`))
	b = append(b, r.Snapshot[:end]...)
	if !emptyObject(string(r.Snapshot)) {
		b = append(b, ',')
	}
	b = append(b, `"output":`...)
	b = append(b, output...)
	return append(b, '}')
}

// SplitResponse takes a response object apart into [Record.Snapshot] and its
// output, nil if it has none that is an array. All other members keep their
// bytes and their order. It returns ErrInvalid, wrapped, if response is not a
// JSON object. Of several output members the last counts, as most readers do.
func SplitResponse(response []byte) (snapshot, output []byte, err error) {
	if !valid(response, '{') {
		return nil, nil, fmt.Errorf("%w: response is not a JSON object", ErrInvalid)
	}
	rest := without(string(response), func(k string, v gjson.Result) bool {
		if k != "output" {
			return false
		}
		output = nil
		if v.IsArray() {
			output = []byte(v.Raw)
		}
		return true
	})
	return []byte(rest), output, nil
}

func rawItems(items []item) [][]byte {
	raw := make([][]byte, len(items))
	for i, it := range items {
		raw[i] = []byte(it.raw)
	}
	return raw
}
