package storetest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"turngate/replay"
)

// testConcurrent extends, forks and reads chains from many goroutines at once:
// what a Put acknowledged, every Chain after it finds whole.
func testConcurrent(t *testing.T, h Harness) {
	const writers, turns = 8, 12
	s, _ := open(t, h, replay.Limits{})
	put(t, s, Record("root", ""))
	ctx := t.Context()
	var wg sync.WaitGroup
	var newest [writers]atomic.Pointer[string]
	stop := make(chan struct{})
	for w := range writers {
		wg.Go(func() {
			last, want := "root", []string{"root"}
			for i := range turns {
				id := fmt.Sprintf("w%d-%d", w, i)
				if err := s.Put(ctx, scope, Record(id, last)); err != nil {
					t.Errorf("Put(%s): %v", id, err)
					return
				}
				last, want = id, append(want, id)
				newest[w].Store(&id)
				chain, err := s.Chain(ctx, scope, id)
				if err != nil {
					t.Errorf("Chain(%s) right after its Put: %v", id, err)
					return
				}
				var got []string
				for _, r := range chain {
					got = append(got, r.ID)
				}
				if strings.Join(got, " ") != strings.Join(want, " ") {
					t.Errorf("Chain(%s) = %v, want %v", id, got, want)
				}
			}
		})
	}
	var readers sync.WaitGroup
	for r := range 4 {
		readers.Go(func() {
			for i := r; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				id := newest[i%writers].Load()
				if id == nil {
					continue
				}
				chain, err := s.Chain(ctx, scope, *id)
				if err != nil || chain[0].ID != "root" || chain[len(chain)-1].ID != *id {
					t.Errorf("Chain(%s) while others write: %d records, %v", *id, len(chain), err)
					return
				}
			}
		})
	}
	wg.Wait()
	close(stop)
	readers.Wait()
	if st := stats(t, s); st.Records != writers*turns+1 {
		t.Errorf("records = %d, want %d", st.Records, writers*turns+1)
	}
}

func testContext(t *testing.T, h Harness) {
	s, _ := open(t, h, replay.Limits{})
	put(t, s, Record("a", ""))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, chainErr := s.Chain(ctx, scope, "a")
	_, getErr := s.Get(ctx, scope, "a")
	_, itemsErr := s.Items(ctx, scope, []string{"msg_a"})
	for what, err := range map[string]error{
		"Put": s.Put(ctx, scope, Record("b", "a")), "Chain": chainErr, "Get": getErr,
		"Delete": s.Delete(ctx, scope, "a"), "Items": itemsErr,
	} {
		wantErr(t, what, err, context.Canceled)
		if errors.Is(err, replay.ErrNotFound) {
			t.Errorf("%s: a store that was not asked says not found: %v", what, err)
		}
	}
	wantChain(t, s, "a", "a")
}

// testOwnership changes the caller's bytes after Put.
func testOwnership(t *testing.T, h Harness) {
	s, _ := open(t, h, replay.Limits{})
	rec := Record("a", "")
	put(t, s, rec)
	clear(rec.Input)
	clear(rec.Output)
	clear(rec.Snapshot)
	got, err := s.Get(t.Context(), scope, "a")
	if err != nil {
		t.Fatal(err)
	}
	same(t, got, Record("a", ""))
}

func testClosed(t *testing.T, h Harness) {
	s, _ := open(t, h, replay.Limits{})
	closeStore(t, s)
	closeStore(t, s)
	ctx := t.Context()
	_, keyErr := s.ScopeKey(ctx)
	_, chainErr := s.Chain(ctx, scope, "a")
	_, getErr := s.Get(ctx, scope, "a")
	_, itemsErr := s.Items(ctx, scope, []string{"a"})
	_, statsErr := s.Stats(ctx)
	for what, err := range map[string]error{
		"ScopeKey": keyErr, "Put": s.Put(ctx, scope, Record("a", "")), "Chain": chainErr, "Get": getErr,
		"Delete": s.Delete(ctx, scope, "a"), "Items": itemsErr, "Sweep": s.Sweep(ctx), "Stats": statsErr,
	} {
		wantErr(t, what, err, replay.ErrClosed)
	}
}

func testReopen(t *testing.T, h Harness) {
	if h.Reopen == nil {
		t.Skip("this store keeps nothing beyond Close")
	}
	s, clock := open(t, h, replay.Limits{})
	key, err := s.ScopeKey(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	key = append([]byte(nil), key...)
	put(t, s, Record("a", ""), Record("b", "a"))
	before := stats(t, s)
	s = h.Reopen(t, s, replay.Limits{}, clock.Now)
	t.Cleanup(func() { closeStore(t, s) })
	wantChain(t, s, "b", "a b")
	put(t, s, Record("c", "b"))
	wantChain(t, s, "c", "a b c")
	if again, err := s.ScopeKey(t.Context()); err != nil || string(again) != string(key) {
		t.Errorf("ScopeKey = %x, %v; want %x again", again, err, key)
	}
	if st := stats(t, s); st.Records != before.Records+1 || st.Bytes <= before.Bytes {
		t.Errorf("stats = %+v, before %+v and one Put", st, before)
	}
}

func testShare(t *testing.T, h Harness) {
	if h.Share == nil {
		t.Skip("only one process can have this store")
	}
	s, clock := open(t, h, replay.Limits{})
	other := h.Share(t, s, replay.Limits{}, clock.Now)
	t.Cleanup(func() { closeStore(t, other) })
	put(t, s, Record("a", ""))
	put(t, other, Record("b", "a"))
	put(t, s, Record("c", "b"))
	wantChain(t, other, "c", "a b c")
	a, errA := s.ScopeKey(t.Context())
	b, errB := other.ScopeKey(t.Context())
	if errA != nil || errB != nil || string(a) != string(b) {
		t.Errorf("ScopeKey = %x, %v and %x, %v; want the same", a, errA, b, errB)
	}
	if err := other.Delete(t.Context(), scope, "c"); err != nil {
		t.Fatal(err)
	}
	wantChain(t, s, "c", "not found")
}

func testExpand(t *testing.T, h Harness) {
	s, _ := open(t, h, replay.Limits{})
	put(t, s, Record("a", ""), Record("b", "a"))
	x, err := replay.Expand(t.Context(), s, scope, replay.Request{PreviousID: "b", Input: []byte(`"more"`)})
	if err != nil {
		t.Fatal(err)
	}
	trim := func(b []byte) string { return string(b[1 : len(b)-1]) }
	a, b := Record("a", ""), Record("b", "a")
	fresh := `{"type":"message","role":"user","content":[{"type":"input_text","text":"more"}]}`
	want := "[" + strings.Join([]string{trim(a.Input), trim(a.Output), trim(b.Input), trim(b.Output), fresh}, ",") + "]"
	if string(x.Input) != want || string(x.New) != "["+fresh+"]" || len(x.Chain) != 2 {
		t.Errorf("expansion = %s\nnew %s\nwant %s", x.Input, x.New, want)
	}
	_, err = replay.Expand(t.Context(), s, scope, replay.Request{PreviousID: "c"})
	wantErr(t, "Expand of an unknown id", err, replay.ErrNotFound)
}
