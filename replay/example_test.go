package replay_test

import (
	"context"
	"fmt"

	"turngate/replay"
	"turngate/replay/memory"
)

// A turn is recorded, and the next one continues it.
func ExampleExpand() {
	ctx := context.Background()
	store := memory.New(memory.Options{})
	defer store.Close()
	key, err := store.ScopeKey(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	scope := replay.NewScope(key, "authorization", "Bearer secret", "upstream")

	// The first turn: nothing to expand. Once its stream ended well it is recorded.
	first, err := replay.Expand(ctx, store, scope, replay.Request{Input: []byte(`[{"role":"user","content":"2+2?"}]`)})
	if err != nil {
		fmt.Println(err)
		return
	}
	response := []byte(`{"id":"resp_1","status":"completed","output":[{"type":"message","role":"assistant","content":"4"}]}`)
	snapshot, output, err := replay.SplitResponse(response)
	if err != nil {
		fmt.Println(err)
		return
	}
	err = store.Put(ctx, scope, replay.Record{ID: "resp_1", Input: first.New, Output: output, Snapshot: snapshot})
	if err != nil {
		fmt.Println(err)
		return
	}

	// The second names it.
	second, err := replay.Expand(ctx, store, scope, replay.Request{
		PreviousID: "resp_1",
		Input:      []byte(`[{"role":"user","content":"Sure?"}]`),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(string(second.Input))
	// Output:
	// [{"role":"user","content":"2+2?"},{"type":"message","role":"assistant","content":"4"},{"role":"user","content":"Sure?"}]
}
