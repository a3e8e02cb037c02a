package proxy

import (
	"encoding/json"
	"net/http"
	"strconv"
	"sync"
	"time"

	"turngate/guard"
)

// turnRecord is what operators see of a turn that has ended for its client.
type turnRecord struct {
	RequestID       string         `json:"request_id"`
	ResponseID      string         `json:"response_id"`
	Client          string         `json:"client,omitempty"` // name of the client's key
	Upstream        string         `json:"upstream"`
	Model           string         `json:"model"`
	Transport       string         `json:"transport"`
	Outcome         string         `json:"outcome"`
	UpstreamOutcome string         `json:"upstream_outcome"` // "pending" while a refused stream is read on
	Guard           string         `json:"guard"`
	Error           string         `json:"error,omitempty"`
	Refusal         *guard.Refusal `json:"refusal"`
	Reported        int            `json:"reported"` // findings that were let pass
	Events          int            `json:"events"`   // of the upstream
	TraceID         string         `json:"trace_id,omitempty"`
	Tokens          tokens         `json:"tokens"`
	Started         time.Time      `json:"started"`
	FirstEventMS    *int64         `json:"first_event_ms"`
	DurationMS      int64          `json:"duration_ms"`
}

type tokens struct {
	Input       int64 `json:"input"`
	CachedInput int64 `json:"cached_input"`
	Output      int64 `json:"output"`
	Reasoning   int64 `json:"reasoning"`
}

// recentTurns keeps the last turns in memory.
type recentTurns struct {
	mu   sync.Mutex
	ring []turnRecord
	next int // where the next one goes, once the ring is full
}

// maxTurns is how many are kept.
const maxTurns = 1000

// add keeps a record, the oldest making room.
func (t *recentTurns) add(r turnRecord) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.ring) < maxTurns {
		t.ring = append(t.ring, r)
		return
	}
	t.ring[t.next] = r
	t.next = (t.next + 1) % maxTurns
}

// update changes the record of a request, if it is still kept.
func (t *recentTurns) update(requestID string, change func(*turnRecord)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := range t.ring {
		if t.ring[i].RequestID == requestID {
			change(&t.ring[i])
			return
		}
	}
}

// list returns the newest records that match, newest first.
func (t *recentTurns) list(limit int, match func(*turnRecord) bool) []turnRecord {
	t.mu.Lock()
	defer t.mu.Unlock()
	found := []turnRecord{}
	for i := len(t.ring) - 1; i >= 0 && len(found) < limit; i-- {
		if r := &t.ring[(t.next+i)%len(t.ring)]; match(r) {
			found = append(found, *r)
		}
	}
	return found
}

// serveTurns answers GET /turns?limit=&outcome=&since=; since is how long ago.
func (p *Proxy) serveTurns(w http.ResponseWriter, r *http.Request) {
	limit, ok := limitOf(w, r.URL.Query().Get("limit"), maxTurns)
	if !ok {
		return
	}
	after, ok := sinceOf(w, r.URL.Query().Get("since"))
	if !ok {
		return
	}
	outcome := r.URL.Query().Get("outcome")
	writeAdmin(w, http.StatusOK, map[string]any{"turns": p.recent.list(limit, func(t *turnRecord) bool {
		return (outcome == "" || t.Outcome == outcome) && !t.Started.Before(after)
	})})
}

// sinceOf reads a "since", a duration until now, as a time. One that is none is
// answered here.
func sinceOf(w http.ResponseWriter, s string) (after time.Time, ok bool) {
	if s == "" {
		return time.Time{}, true
	}
	d, err := time.ParseDuration(s)
	if err != nil || d <= 0 {
		writeAdmin(w, http.StatusBadRequest, map[string]string{"error": "since must be a duration such as 15m"})
		return time.Time{}, false
	}
	return time.Now().Add(-d), true
}

// limitOf reads a "limit", otherwise being the value where there is none. One
// that is no positive number is answered here.
func limitOf(w http.ResponseWriter, s string, otherwise int) (limit int, ok bool) {
	if s == "" {
		return otherwise, true
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 {
		writeAdmin(w, http.StatusBadRequest, map[string]string{"error": "limit must be a positive number"})
		return 0, false
	}
	return n, true
}

// serveTurnRecord answers GET /turns/{request_id}.
func (p *Proxy) serveTurnRecord(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("request_id")
	found := p.recent.list(1, func(t *turnRecord) bool { return t.RequestID == id })
	if len(found) == 0 {
		writeAdmin(w, http.StatusNotFound, map[string]string{"error": "no such turn among the last " + strconv.Itoa(maxTurns)})
		return
	}
	writeAdmin(w, http.StatusOK, found[0])
}

func writeAdmin(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false) // input summaries are bounded as they are: "array<string>"
	e.Encode(v)            // an operator who left needs no error
}

// record is the turn as operators see it.
func (t *turn) record(upstream string, now time.Time) turnRecord {
	r := turnRecord{
		RequestID: t.id, Client: t.client, Upstream: upstream, Model: guard.Shown(t.model, maxLogged), Transport: t.transport,
		Outcome: string(t.outcome), UpstreamOutcome: string(t.upstream), Reported: t.reported,
		TraceID: t.span.id(), Started: t.start, DurationMS: now.Sub(t.start).Milliseconds(),
	}
	if !t.firstAt.IsZero() {
		ms := t.firstAt.Sub(t.start).Milliseconds()
		r.FirstEventMS = &ms
	}
	if t.failure != nil && t.failure.refusal == nil {
		r.Error = t.failure.code
	}
	if t.guard != nil {
		r.Guard, r.Refusal = t.guard.State(), t.guard.Refused()
		r.ResponseID = guard.Shown(t.guard.Turn().ID, maxLogged)
		r.Events, r.Tokens = t.guard.Turn().Events, tokens(t.guard.Turn().Usage)
	}
	return r
}
