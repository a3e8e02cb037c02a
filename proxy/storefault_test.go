package proxy

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"turngate/proxy/mock"
	"turngate/replay"
	"turngate/replay/memory"
)

// storeStub is a store of which single methods are replaced.
type storeStub struct {
	replay.Store
	put      func(context.Context, replay.Scope, replay.Record) error
	chain    func(context.Context) error
	scopeKey func(context.Context) error
}

func (s *storeStub) Put(ctx context.Context, scope replay.Scope, rec replay.Record) error {
	if s.put != nil {
		return s.put(ctx, scope, rec)
	}
	return s.Store.Put(ctx, scope, rec)
}

func (s *storeStub) Chain(ctx context.Context, scope replay.Scope, id string) ([]replay.Record, error) {
	if s.chain != nil {
		if err := s.chain(ctx); err != nil {
			return nil, err
		}
	}
	return s.Store.Chain(ctx, scope, id)
}

func (s *storeStub) ScopeKey(ctx context.Context) ([]byte, error) {
	if s.scopeKey != nil {
		if err := s.scopeKey(ctx); err != nil {
			return nil, err
		}
	}
	return s.Store.ScopeKey(ctx)
}

func newMemory(t *testing.T) replay.Store {
	t.Helper()
	store := memory.New(memory.Options{SweepEvery: -1})
	t.Cleanup(func() { store.Close() })
	return store
}

var errStoreDown = errors.New("store is down")

// R3: the record is made before the client can see the end, and what came before
// the end does not wait for it.
func TestR3RecordedBeforeTheEnd(t *testing.T) {
	store := &storeStub{Store: newMemory(t)}
	putting, goOn := make(chan struct{}), make(chan struct{})
	store.put = func(ctx context.Context, scope replay.Scope, rec replay.Record) error {
		close(putting)
		<-goOn
		return store.Store.Put(ctx, scope, rec)
	}
	s := new(mock.Stream).Created().Text("uno")
	before := s.Len()
	whole := s.Completed().Marker().Turn()
	whole.Chunk = len(whole.Body) // one write: all of it is one read of the proxy's
	rig := newReplayRig(t, withStore(store), whole)
	resp, err := rig.begin(t.Context(), []byte(`{"model":"m","stream":true,"input":"one"}`))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	got := make([]byte, before)
	if _, err := io.ReadFull(resp.Body, got); err != nil {
		t.Fatal(err)
	}
	<-putting
	ends := make(chan []byte, 1)
	go func() {
		rest, _ := io.ReadAll(resp.Body)
		ends <- rest
	}()
	select {
	case rest := <-ends:
		t.Errorf("the end came before the record: %s", rest)
	default:
	}
	close(goOn)
	if rest := <-ends; string(got)+string(rest) != string(whole.Body) {
		t.Errorf("got %s%s", got, rest)
	}
}

// R3: a store that fails loses the record and not the turn.
func TestR3StoreFails(t *testing.T) {
	for name, status := range map[string]bool{"stream": true, "JSON": false} {
		t.Run(name, func(t *testing.T) {
			store := &storeStub{Store: newMemory(t)}
			store.put = func(context.Context, replay.Scope, replay.Record) error { return errStoreDown }
			turn := reply("resp_1", "uno")
			if !status {
				turn = new(mock.Stream).Text("uno").Completed().JSONTurn()
			}
			rig := newReplayRig(t, withStore(store), turn)
			if a := rig.ask(`{"model":"m","stream":true,"input":"one"}`); string(a.body) != string(turn.Body) {
				t.Errorf("got %s", a.body)
			}
			if n := rig.metric("turngate_replay_operations_total", "operation", "put", "result", "error"); n != 1 {
				t.Errorf("%v failed puts", n)
			}
			rig.wantUnknown("resp_1", nil)
			rig.stop()
			if log := rig.log.String(); !strings.Contains(log, "turn not recorded") || !strings.Contains(log, errStoreDown.Error()) {
				t.Errorf("log: %s", log)
			}
		})
	}
}

// R3: a store that hangs gets two seconds, then the end is released.
func TestR3StoreHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &storeStub{Store: memory.New(memory.Options{SweepEvery: -1})}
		store.put = func(ctx context.Context, _ replay.Scope, _ replay.Record) error {
			<-ctx.Done()
			return ctx.Err()
		}
		store.chain = func(ctx context.Context) error {
			<-ctx.Done()
			return ctx.Err()
		}
		turn := reply("resp_1", "uno")
		rig := newBubble(t, func(c *Config) { c.Upstreams[0].Replay, c.Store = true, store }, mock.New(turn))
		defer store.Close()
		start := time.Now()
		if a := rig.ask(`{"model":"m","stream":true,"input":"one"}`); string(a.body) != string(turn.Body) {
			t.Errorf("got %s", a.body)
		}
		if d := time.Since(start); d != storeTimeout {
			t.Errorf("the turn took %v", d)
		}
		start = time.Now()
		a := rig.post([]byte(`{"model":"m","input":"two","previous_response_id":"resp_1"}`), nil)
		rig.wantErrorText(a, 503, "store_unavailable", "", "turngate: the store of responses could not be asked; try again in 5 s.")
		if d := time.Since(start); d != storeTimeout {
			t.Errorf("the error took %v", d)
		}
		rig.stop()
	})
}

// R3: a store that cannot be asked is never "not found", and says when to come
// back; what needs no history flows.
func TestR3StoreUnavailable(t *testing.T) {
	store := &storeStub{Store: newMemory(t)}
	rig := newReplayRig(t, withStore(store), reply("resp_1", "uno"))
	rig.ask(`{"model":"m","stream":true,"input":"one"}`)
	store.scopeKey = func(context.Context) error { return errStoreDown }
	for _, body := range []string{
		`{"model":"m","stream":true,"input":"two","previous_response_id":"resp_1"}`,
		`{"model":"m","stream":true,"input":[{"type":"item_reference","id":"msg_0"}]}`,
	} {
		a := rig.post([]byte(body), nil)
		rig.wantErrorText(a, 503, "store_unavailable", "", "turngate: the store of responses could not be asked; try again in 5 s.")
		rig.wantHeader(a, "Retry-After", "5")
		rig.wantHeader(a, "X-Should-Retry", "")
		a = rig.post([]byte(body), map[string]string{"Originator": "codex_cli_rs"})
		rig.wantCodexFailed(a, "rate_limit_exceeded", "turngate: the store of responses could not be asked; try again in 5 s.")
	}
	rig.wantRequests(1)
	if a := rig.ask(`{"model":"m","stream":true,"input":"new"}`); !bytes.Contains(a.body, []byte("response.completed")) {
		t.Errorf("a new turn: %s", a.body)
	}
	store.scopeKey = nil
	rig.ask(`{"model":"m","stream":true,"input":"two","previous_response_id":"resp_1"}`)
}
