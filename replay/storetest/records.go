package storetest

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"turngate/replay"
)

func testRoundTrip(t *testing.T, h Harness) {
	s, clock := open(t, h, replay.Limits{})
	created := time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	want := replay.Record{
		ID: "resp_1", Alias: "resp_0", Declares: true, Created: created,
		Input:    []byte("[ {\"content\":\"\\ud83d \xff\",\"role\":\"user\"} , 1]"),
		Output:   []byte(`[]`),
		Snapshot: []byte(`{"id":"resp_1","created_at":1796.0,"truncation":""}`),
	}
	put(t, s, want)
	got, err := s.Get(t.Context(), scope, "resp_1")
	if err != nil {
		t.Fatal(err)
	}
	same(t, got, want)
	if !got.Created.Equal(created) {
		t.Errorf("Created = %v, want %v", got.Created, created)
	}

	put(t, s, replay.Record{ID: "resp_2", Snapshot: []byte("{}")})
	got, err = s.Get(t.Context(), scope, "resp_2")
	if err != nil {
		t.Fatal(err)
	}
	same(t, got, replay.Record{ID: "resp_2", Snapshot: []byte("{}")})
	if !got.Created.Equal(clock.Now()) {
		t.Errorf("Created = %v, want the store's time %v", got.Created, clock.Now())
	}

	_, err = s.Get(t.Context(), scope, "resp_3")
	wantErr(t, "Get of an unknown id", err, replay.ErrNotFound)
	if st := stats(t, s); st.Records != 2 || st.Bytes <= 0 {
		t.Errorf("stats = %+v, want 2 records and some bytes", st)
	}
}

func testChain(t *testing.T, h Harness) {
	s, _ := open(t, h, replay.Limits{})
	put(t, s, Record("a", ""), Record("b", "a"), Record("c", "b"))
	wantChain(t, s, "c", "a b c")
	wantChain(t, s, "b", "a b")
	wantChain(t, s, "a", "a")
	wantChain(t, s, "x", "not found")
	chain, err := s.Chain(t.Context(), scope, "c")
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []replay.Record{Record("a", ""), Record("b", "a"), Record("c", "b")} {
		same(t, chain[i], want)
	}
	wantErr(t, "Put after an unknown id", s.Put(t.Context(), scope, Record("d", "x")), replay.ErrNotFound)
	wantChain(t, s, "d", "not found")
}

func testFork(t *testing.T, h Harness) {
	s, _ := open(t, h, replay.Limits{})
	put(t, s, Record("a", ""), Record("b", "a"), Record("c", "a"), Record("d", "b"), Record("e", "b"), Record("f", "c"))
	wantChain(t, s, "d", "a b d")
	wantChain(t, s, "e", "a b e")
	wantChain(t, s, "f", "a c f")
}

func testAlias(t *testing.T, h Harness) {
	s, _ := open(t, h, replay.Limits{})
	a := Record("a", "")
	a.Alias = "a0"
	put(t, s, a, Record("b", "a0"), Record("c", "a"))
	wantChain(t, s, "b", "a b")
	wantChain(t, s, "c", "a c")
	wantChain(t, s, "a0", "a")
	if err := s.Delete(t.Context(), scope, "a0"); err != nil {
		t.Fatal(err)
	}
	wantChain(t, s, "a", "not found")
	wantChain(t, s, "a0", "not found")
}

func testInChain(t *testing.T, h Harness) {
	s, _ := open(t, h, replay.Limits{})
	put(t, s, Record("a", ""), Record("b", "a"))
	wantErr(t, "Put of its own parent's id", s.Put(t.Context(), scope, Record("b", "b")), replay.ErrInChain)
	wantErr(t, "Put of its root's id", s.Put(t.Context(), scope, Record("a", "b")), replay.ErrInChain)
	wantChain(t, s, "b", "a b")
	if st := stats(t, s); st.Records != 2 {
		t.Errorf("records = %d, want 2", st.Records)
	}

	// One of its ids is taken: it is known by the other.
	c := Record("a", "b")
	c.Alias = "c"
	put(t, s, c)
	chain, err := s.Chain(t.Context(), scope, "c")
	if err != nil || len(chain) != 3 {
		t.Fatalf("chain of the other id: %d records, %v; want 3", len(chain), err)
	}
	wantChain(t, s, "a", "a")

	// A sibling is no ancestor.
	put(t, s, Record("d", "a"), Record("b", "d"))
	wantChain(t, s, "b", "a d b")
}

func testIDTakenOver(t *testing.T, h Harness) {
	s, _ := open(t, h, replay.Limits{})
	put(t, s, Record("a", ""), Record("b", "a"))
	again := Record("a", "")
	again.Input = []byte(`["again"]`)
	put(t, s, again)
	wantChain(t, s, "b", "a b")
	chain, err := s.Chain(t.Context(), scope, "b")
	if err != nil {
		t.Fatal(err)
	}
	same(t, chain[0], Record("a", ""))
	got, err := s.Get(t.Context(), scope, "a")
	if err != nil {
		t.Fatal(err)
	}
	same(t, got, again)
}

func testScopes(t *testing.T, h Harness) {
	const other = replay.Scope("scope-b")
	s, _ := open(t, h, replay.Limits{})
	put(t, s, Record("a", ""))
	if got := ids(t, s, other, "a"); got != "not found" {
		t.Errorf("another scope sees chain %q", got)
	}
	_, err := s.Get(t.Context(), other, "a")
	wantErr(t, "Get by another scope", err, replay.ErrNotFound)
	wantErr(t, "Delete by another scope", s.Delete(t.Context(), other, "a"), replay.ErrNotFound)
	wantErr(t, "Put after another scope's id", s.Put(t.Context(), other, Record("b", "a")), replay.ErrNotFound)
	items, err := s.Items(t.Context(), other, []string{"msg_a"})
	if err != nil || items[0] != nil {
		t.Errorf("another scope sees item %s, %v", items, err)
	}
	wantErr(t, "Put without a scope", s.Put(t.Context(), "", Record("b", "")), replay.ErrInvalid)

	// The same id in two scopes is two records.
	theirs := Record("a", "")
	theirs.Input = []byte(`["theirs"]`)
	if err := s.Put(t.Context(), other, theirs); err != nil {
		t.Fatal(err)
	}
	if err := s.Delete(t.Context(), other, "a"); err != nil {
		t.Fatal(err)
	}
	wantChain(t, s, "a", "a")
}

func testScopeKey(t *testing.T, h Harness) {
	s, _ := open(t, h, replay.Limits{})
	a, err := s.ScopeKey(t.Context())
	if err != nil || len(a) != 32 || bytes.Equal(a, make([]byte, 32)) {
		t.Fatalf("ScopeKey = %x, %v; want 32 random bytes", a, err)
	}
	b, err := s.ScopeKey(t.Context())
	if err != nil || !bytes.Equal(a, b) {
		t.Errorf("ScopeKey = %x, %v; want %x again", b, err, a)
	}
	s2, _ := open(t, h, replay.Limits{})
	c, err := s2.ScopeKey(t.Context())
	if err != nil || bytes.Equal(a, c) {
		t.Errorf("another store's ScopeKey = %x, %v; want another", c, err)
	}
}

func testStrangeIDs(t *testing.T, h Harness) {
	s, _ := open(t, h, replay.Limits{})
	long := strings.Repeat("x", 10<<10)
	previous := ""
	for _, id := range []string{long, long + "y", "a b", "a\x00b", "\xff", "ü", "{a}", "a:b", "*", "../a", " "} {
		rec := replay.Record{ID: id, PreviousID: previous, Snapshot: []byte("{}")}
		put(t, s, rec)
		got, err := s.Get(t.Context(), scope, id)
		if err != nil {
			t.Fatalf("Get(%.20q): %v", id, err)
		}
		same(t, got, rec)
		previous = id
	}
	chain, err := s.Chain(t.Context(), scope, previous)
	if err != nil || len(chain) != 11 {
		t.Errorf("chain = %d records, %v; want 11", len(chain), err)
	}
}

func testDelete(t *testing.T, h Harness) {
	s, _ := open(t, h, replay.Limits{})
	put(t, s, Record("a", ""), Record("b", "a"))
	if err := s.Delete(t.Context(), scope, "b"); err != nil {
		t.Fatal(err)
	}
	wantErr(t, "Delete again", s.Delete(t.Context(), scope, "b"), replay.ErrNotFound)
	wantChain(t, s, "b", "not found")
	wantChain(t, s, "a", "a")
	items, err := s.Items(t.Context(), scope, []string{"msg_a", "msg_b"})
	if err != nil || items[0] == nil || items[1] != nil {
		t.Errorf("items = %s, %v; want the first only", items, err)
	}
	if err := s.Delete(t.Context(), scope, "a"); err != nil {
		t.Fatal(err)
	}
	if st := stats(t, s); st.Records != 0 || st.Bytes != 0 || st.EvictedSize+st.EvictedTTL != 0 {
		t.Errorf("stats = %+v, want nothing", st)
	}
	put(t, s, Record("a", ""), Record("b", "a"))
	wantChain(t, s, "b", "a b")
}

func testDeleteBreaks(t *testing.T, h Harness) {
	s, _ := open(t, h, replay.Limits{})
	put(t, s, Record("a", ""), Record("b", "a"), Record("c", "b"))
	if err := s.Delete(t.Context(), scope, "a"); err != nil {
		t.Fatal(err)
	}
	wantChain(t, s, "c", "not found")
	if _, err := s.Get(t.Context(), scope, "c"); err != nil {
		t.Errorf("Get of what came after: %v", err)
	}
	// The id used anew does not mend a chain that was about something else.
	put(t, s, Record("a", ""))
	wantChain(t, s, "c", "not found")
	for _, id := range []string{"a", "b", "c"} {
		if err := s.Delete(t.Context(), scope, id); err != nil {
			t.Fatal(err)
		}
	}
	if st := stats(t, s); st.Records != 0 || st.Bytes != 0 {
		t.Errorf("stats = %+v, want nothing", st)
	}
}

func testInvalid(t *testing.T, h Harness) {
	s, _ := open(t, h, replay.Limits{})
	deep := strings.Repeat("[", 1<<20)
	for name, change := range map[string]func(*replay.Record){
		"no id":                func(r *replay.Record) { r.ID = "" },
		"no snapshot":          func(r *replay.Record) { r.Snapshot = nil },
		"snapshot not object":  func(r *replay.Record) { r.Snapshot = []byte("[]") },
		"input not array":      func(r *replay.Record) { r.Input = []byte(`"hi"`) },
		"output not array":     func(r *replay.Record) { r.Output = []byte("{}") },
		"input cut":            func(r *replay.Record) { r.Input = []byte(`[{"a":1}`) },
		"trailing garbage":     func(r *replay.Record) { r.Output = []byte(`[] x`) },
		"deeper than any":      func(r *replay.Record) { r.Input = []byte(deep) },
		"deeper than any, end": func(r *replay.Record) { r.Output = []byte(deep + strings.Repeat("]", len(deep))) },
	} {
		rec := Record("a", "")
		change(&rec)
		wantErr(t, name, s.Put(t.Context(), scope, rec), replay.ErrInvalid)
	}
	wantChain(t, s, "a", "not found")
}
