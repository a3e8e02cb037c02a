package transcript

import (
	"bytes"
	"net/http"
	"sync/atomic"
	"time"
)

// nameTime begins a folder's name; the request id follows.
const nameTime = "20060102T150405.000Z"

// Turn is a turn that is being recorded. Its methods copy what they are given
// and never wait; each may be called by one goroutine at a time, [Turn.Client]
// beside the others. They are in the order in which they are to be called.
type Turn struct {
	r       *Recorder
	name    string
	started time.Time
	lost    atomic.Bool // something was dropped
	out     output      // the writer's alone
}

// Begin starts the recording of a turn; [Turn.End] must follow. It returns nil
// if the recorder was closed. Header and query are those of the client, and
// secrets what else must not be written.
func (r *Recorder) Begin(requestID string, started time.Time, h http.Header, query string, known [][]byte) *Turn {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil
	}
	r.open++
	t := &Turn{r: r, name: started.UTC().Format(nameTime) + "-" + requestID, started: started}
	t.out.secrets = t.out.secrets.add(headSecrets(h, query)...)
	for _, s := range known {
		t.out.secrets = t.out.secrets.add(string(s))
	}
	return t
}

// Request keeps the client's body.
func (t *Turn) Request(body []byte) { t.push(opRequest, body) }

// Sent keeps the body that goes upstream.
func (t *Turn) Sent(body []byte) { t.push(opSent, body) }

// Response keeps what a read of the upstream's answer returned.
func (t *Turn) Response(b []byte) { t.push(opResponse, b) }

// Client keeps what was written to the client.
func (t *Turn) Client(b []byte) { t.push(opClient, b) }

// End ends the recording. m must not be changed afterwards.
func (t *Turn) End(m *Meta) {
	m.Version, m.Started = version, t.started
	t.r.push(op{turn: t, kind: opEnd, meta: m})
}

func (t *Turn) push(kind opKind, b []byte) {
	if t.lost.Load() {
		return
	}
	if !t.r.push(op{turn: t, kind: kind, data: bytes.Clone(b), at: time.Since(t.started)}) {
		t.lost.Store(true)
	}
}
