package proxy

import (
	"log/slog"
	"net/url"
	"strings"
	"time"

	"turngate/guard"
	"turngate/proxy/tracing"
	"turngate/replay"
)

// Config says what a [Proxy] does. New copies it once; later changes to the
// value have no effect. Durations and sizes must already carry their defaults
// (cmd/turngate fills them in); a zero duration or limit means "none" where its
// comment says so.
type Config struct {
	// Upstreams are tried in order by model; there is at least one.
	Upstreams []Upstream

	HeaderTimeout   time.Duration // until the upstream's response head; 0: none
	Heartbeat       time.Duration // silence towards a client before a sign of life; 0: none
	DrainTimeout    time.Duration // reading on after a refusal or a terminal event
	MaxRequestBytes int64         // decoded request body; 0: no limit
	MaxEventBytes   int64         // one SSE event, or one JSON answer; 0: no limit
	MaxStreams      int           // turns at once; 0: no limit

	// ClientKeys are the keys that let clients in; without any, everyone is.
	// With them, what clients send as credentials is for the proxy: no upstream
	// gets it, also not one without a key of its own.
	ClientKeys []ClientKey

	// Record is the folder where each turn is kept as files, without
	// credentials; "": none is. RecordMaxBytes bounds the files together; 0: no
	// limit.
	Record         string
	RecordMaxBytes int64

	// Store keeps the finished turns of upstreams with Replay; nil: none does,
	// and Replay has no effect. It stays the caller's to close, after Shutdown.
	Store replay.Store

	// Traces takes a span of each turn; nil: nothing is traced. It stays the
	// caller's to shut down, after Shutdown.
	Traces *tracing.Exporter

	// Logger gets one line a turn and the causes of faults; nil discards.
	Logger *slog.Logger
	// Version is shown in turngate_build_info.
	Version string
}

// Upstream is one server behind the proxy.
type Upstream struct {
	Name    string   // label in metrics and refusals; unique
	BaseURL *url.URL // "https://host/v1"; user info becomes Basic authentication
	Key     string   // sent as Bearer token in place of the client's credentials; "": the client's are forwarded, or nothing is if there are ClientKeys
	Models  []string // globs, see guard.MatchesAny; empty: takes every model

	Undeclared guard.Mode // the guard, rules G
	Arguments  guard.Mode // argument validation, rules A1-A6
	Approvals  guard.Mode // approval validation, rule A7
	Replay     bool       // true: turngate resolves previous_response_id; false: the upstream does

	DropHeaders     []string      // client headers that are not forwarded
	HostedCalls     []string      // globs of custom_tool_call names that the upstream runs itself, G6a
	PassMissingEnd  bool          // true: a stream may end without a terminal event, S7
	ReplayReasoning bool          // true: with Replay, ask for reasoning that can be sent again, R4
	IdleTimeout     time.Duration // upstream silent mid-stream; 0: none
}

// InjectsKey reports whether turngate authenticates to the upstream with a
// credential of its own, so that the client's must not pass.
func (u *Upstream) InjectsKey() bool { return u.Key != "" || u.BaseURL.User != nil }

// OwnProtocol reports whether host is one of those that speak their own
// protocol and keep their own state (rule G9): OpenAI's. They are not routed
// providers, so "auto" neither guards nor replays them.
func OwnProtocol(host string) bool {
	host = strings.ToLower(host)
	return host == "api.openai.com" || host == "chatgpt.com"
}
