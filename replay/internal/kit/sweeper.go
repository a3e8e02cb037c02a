package kit

import (
	"context"
	"sync"
	"time"
)

// Sweeper calls a function every so often until it is stopped.
type Sweeper struct {
	cancel context.CancelFunc
	done   sync.WaitGroup
}

// StartSweeper calls sweep every interval, by the real clock, in a goroutine of
// its own; 0 means once a minute, less than 0 never. The context that sweep gets
// ends with Stop.
func StartSweeper(interval time.Duration, sweep func(context.Context) error) *Sweeper {
	ctx, cancel := context.WithCancel(context.Background())
	s := &Sweeper{cancel: cancel}
	if interval < 0 {
		return s // stopped already, in effect
	}
	if interval == 0 {
		interval = time.Minute
	}
	s.done.Go(func() {
		t := time.NewTicker(interval)
		defer t.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-t.C:
				_ = sweep(ctx) // what failed is tried again the next time
			}
		}
	})
	return s
}

// Stop ends the sweeping and waits for it.
func (s *Sweeper) Stop() {
	s.cancel()
	s.done.Wait()
}
