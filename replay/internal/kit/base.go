package kit

import (
	"context"
	"fmt"
	"sync"
	"time"

	"turngate/replay"
)

// Base is what a store has beside its storage: the codec, the sweeper, and the
// count of the calls that Close waits for. The zero value is to be started.
type Base struct {
	Codec   *Codec
	sweeper *Sweeper

	mu     sync.RWMutex
	closed bool           // guarded by mu
	calls  sync.WaitGroup // added to only under mu, while not closed
}

// Start makes the codec and sweeps every interval, see [StartSweeper]. The store
// must be able to sweep by then.
func (b *Base) Start(interval time.Duration, sweep func(context.Context) error) (err error) {
	if b.Codec, err = NewCodec(); err != nil {
		return err
	}
	b.sweeper = StartSweeper(interval, sweep)
	return nil
}

// Enter begins a call, which lasts until Leave. It fails if the store is closed
// or ctx is done.
func (b *Base) Enter(ctx context.Context) error {
	b.mu.RLock()
	defer b.mu.RUnlock()
	if b.closed {
		return replay.ErrClosed
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("store: %w", err)
	}
	b.calls.Add(1)
	return nil
}

// Leave ends a call.
func (b *Base) Leave() { b.calls.Done() }

// Close lets no call in any more, waits for those that are, and then closes the
// storage. A second Close does nothing.
func (b *Base) Close(storage interface{ Close() error }) error {
	b.mu.Lock()
	again := b.closed
	b.closed = true
	b.mu.Unlock()
	if again {
		return nil
	}
	b.sweeper.Stop()
	b.calls.Wait()
	b.Codec.Close()
	if err := storage.Close(); err != nil {
		return fmt.Errorf("close store: %w", err)
	}
	return nil
}
