package proxy

import (
	"crypto/rand"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"turngate/guard"
)

// exchange is one request of a client and its answer, whatever the path.
type exchange struct {
	p     *Proxy
	w     http.ResponseWriter
	r     *http.Request
	id    string // request id: on every response, in every log line
	codex bool   // the client speaks Codex's dialect of errors
	turn  bool   // POST /v1/responses
	plain bool   // the turn is known not to ask for a stream
	model string // "" until the body is read
	start time.Time
	log   *slog.Logger
	cfg   *settings

	// asked is what snapshots show of the request in place of what the upstream
	// says (R4).
	asked guard.Asked

	// client is the name of the client's key, "" if no keys are asked for. It,
	// and never the key, says who the client is.
	client string
}

// Headers that every response, or every error of ours, carries.
const (
	headerRequestID = "X-Turngate-Request-Id"
	headerError     = "X-Turngate-Error"
)

func (p *Proxy) newExchange(w http.ResponseWriter, r *http.Request) *exchange {
	ex := &exchange{p: p, w: w, r: r, id: "req_" + strings.ToLower(rand.Text()), codex: isCodex(r.Header), start: time.Now(), cfg: p.settings.Load()}
	ex.log = ex.cfg.Logger
	w.Header().Set(headerRequestID, ex.id)
	return ex
}

// isCodex reports whether a client is a Codex, under its own name or embedded
// in an editor under the editor's.
func isCodex(h http.Header) bool {
	if len(h["X-Codex-Window-Id"]) > 0 || len(h["X-Codex-Turn-Metadata"]) > 0 {
		return true
	}
	return strings.Contains(strings.ToLower(h.Get("Originator")), "codex") ||
		strings.Contains(strings.ToLower(h.Get("User-Agent")), "codex")
}
