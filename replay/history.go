package replay

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"

	"github.com/tidwall/gjson"
)

// InputItems returns what the last record of chain had as its input, oldest
// first: everything of the records before it, outputs normalised, and its own
// input. This is what the API lists as the response's input_items. An item
// without an id is given one, the same every time, that starts as ids of its
// kind do; it serves for paging and is no reference. The error is an InputError,
// if the chain is too long to be an input.
func InputItems(chain []Record) ([]Item, error) {
	if len(chain) == 0 {
		return nil, nil
	}
	own := chain[len(chain)-1]
	items, err := run(chain[:len(chain)-1])
	if err != nil {
		return nil, err
	}
	items = append(items, readItems(own.Input)...)
	history := make([]Item, 0, len(items))
	for i, it := range items {
		if !it.object {
			continue
		}
		h := Item{ID: it.id, Raw: []byte(it.raw)}
		if it.id == "" {
			h.ID = madeID(chain[0].ID, i, it.kind())
			rest := without(it.raw, func(k string, _ gjson.Result) bool { return k == "id" })
			h.Raw = withID(rest, h.ID)
		}
		history = append(history, h)
	}
	return history, nil
}

// madeID returns an id for the i-th item of the chain that starts at root.
func madeID(root string, i int, kind string) string {
	prefix := "item_"
	switch kind {
	case "message":
		prefix = "msg_"
	case "function_call":
		prefix = "fc_"
	case "function_call_output":
		prefix = "fco_"
	case "reasoning":
		prefix = "rs_"
	}
	sum := sha256.Sum256([]byte(root + "\x00" + strconv.Itoa(i)))
	return prefix + hex.EncodeToString(sum[:16])
}

// withID puts an id at the head of a JSON object that has none.
func withID(object, id string) []byte {
	b := []byte(`{"id":"` + id + `"`)
	rest := object[1:]
	if !emptyObject(object) {
		b = append(b, ',')
	}
	return append(b, rest...)
}
