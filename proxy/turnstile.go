package proxy

import "sync"

// turnstile counts what is inside and, once closed, lets nothing more in. A
// WaitGroup alone does not do: what enters while someone waits for the last to
// leave would be a race.
type turnstile struct {
	mu     sync.Mutex
	closed bool
	inside sync.WaitGroup
}

// enter counts one more, who must leave. false: the turnstile is closed.
func (t *turnstile) enter() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return false
	}
	t.inside.Add(1)
	return true
}

// leave undoes one enter.
func (t *turnstile) leave() { t.inside.Done() }

// follow runs f in a goroutine of its own, as one more inside, whether or not
// the turnstile is closed. Only who is inside may call it.
func (t *turnstile) follow(f func()) { t.inside.Go(f) }

// close lets nobody in any more and returns when the last has left.
func (t *turnstile) close() {
	t.mu.Lock()
	t.closed = true
	t.mu.Unlock()
	t.inside.Wait()
}
