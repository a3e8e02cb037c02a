package mock

import (
	"context"
	"net/http"
	"slices"
)

// Request is what an [Upstream] received. Its fields are not to be changed.
type Request struct {
	Method string
	Path   string // escaped, without the query
	Query  string // as it came, without the question mark
	Host   string
	Header http.Header
	Body   []byte // as it came; a content coding is not removed
	Model  string // from the body; "" if it names none
	Turn   string // name of the turn that answers
}

// Counts says how many requests an [Upstream] has seen, and how they ended.
type Counts struct {
	Received int // body read to its end, or to where the client left
	Ended    int // all of them that are over; Gone and Broken are part of it
	Gone     int // the client left before its answer was out
	Broken   int // ended by a Reset or Abort, as the turn says
}

// outcome is how one answer ended.
type outcome uint8

const (
	outcomeWhole  outcome = iota // everything that the turn has was written
	outcomeGone                  // the client left first
	outcomeReset                 // the connection was reset
	outcomeBroken                // the connection is to be closed without the end of the body
)

// Requests returns what was received so far, oldest first.
func (u *Upstream) Requests() []Request {
	u.mu.Lock()
	defer u.mu.Unlock()
	return slices.Clone(u.requests)
}

// Counts returns the counts as they are now.
func (u *Upstream) Counts() Counts {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.counts
}

// Wait returns nil as soon as done says yes to the counts. It asks once at the
// start and again after every change. If ctx ends first, Wait returns the cause.
func (u *Upstream) Wait(ctx context.Context, done func(Counts) bool) error {
	for {
		u.mu.Lock()
		counts, changed := u.counts, u.changed
		u.mu.Unlock()
		if done(counts) {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// receive remembers req.
func (u *Upstream) receive(req Request) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.requests = append(u.requests, req)
	u.counts.Received++
	u.wake()
}

// end counts an answer that is over.
func (u *Upstream) end(out outcome) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.counts.Ended++
	switch out {
	case outcomeGone:
		u.counts.Gone++
	case outcomeReset, outcomeBroken:
		u.counts.Broken++
	}
	u.wake()
}

// wake lets everyone in Wait look at the counts again. u.mu is held.
func (u *Upstream) wake() {
	close(u.changed)
	u.changed = make(chan struct{})
}
