package storetest

import (
	"slices"
	"testing"
	"time"

	"turngate/replay"
)

func testItems(t *testing.T, h Harness) {
	s, _ := open(t, h, replay.Limits{})
	a := Record("a", "")
	a.Input = []byte(`[{"id":"in_1","role":"user","content":"x"},{"type":"item_reference","id":"ref_1"}]`)
	a.Output = []byte(`[{"type":"reasoning","id":"rs_1","created_by":"x"},{"type":"additional_tools","role":"developer","id":"at_1","tools":[]}]`)
	put(t, s, a, Record("b", "a"))
	items, err := s.Items(t.Context(), scope, []string{"rs_1", "nope", "in_1", "msg_b", "ref_1", "at_1", "rs_1"})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		`{"type":"reasoning","id":"rs_1"}`, "", `{"id":"in_1","role":"user","content":"x"}`,
		string(Record("b", "a").Output[1 : len(Record("b", "a").Output)-1]), "", "", `{"type":"reasoning","id":"rs_1"}`,
	}
	got := make([]string, len(items))
	for i := range items {
		got[i] = string(items[i])
	}
	if !slices.Equal(got, want) {
		t.Errorf("items = %q\nwant %q", got, want)
	}
	if items, err = s.Items(t.Context(), scope, nil); err != nil || len(items) != 0 {
		t.Errorf("items of no ids = %v, %v", items, err)
	}
}

// A client that sends references records the items they named again: they live
// on when the turn they came from is gone.
func testItemsRefreshed(t *testing.T, h Harness) {
	s, clock := open(t, h, replay.Limits{TTL: time.Hour})
	put(t, s, Record("a", ""))
	clock.Advance(50 * time.Minute)
	b := Record("b", "")
	b.Input = Record("a", "").Output
	put(t, s, b)
	clock.Advance(20 * time.Minute)
	sweep(t, s)
	wantChain(t, s, "a", "not found")
	items, err := s.Items(t.Context(), scope, []string{"msg_a"})
	if err != nil || items[0] == nil {
		t.Errorf("item = %s, %v; want it", items, err)
	}
}
