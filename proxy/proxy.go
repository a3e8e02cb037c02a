package proxy

import (
	"context"
	"errors"
	"hash/maphash"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"

	"turngate/guard"
	"turngate/proxy/tracing"
	"turngate/proxy/transcript"
	"turngate/replay"
	"turngate/sse"
)

// Causes with which a turn's upstream request is cancelled.
var (
	errClientGone    = errors.New("client went away")
	errHeaderTimeout = errors.New("no response head within the header timeout")
	errIdle          = errors.New("upstream silent for longer than the idle timeout")
	errDrained       = errors.New("drain timeout")
	errShutdown      = errors.New("proxy is shutting down")
)

// Proxy serves turns. Make one with New; its methods are safe for concurrent
// use.
type Proxy struct {
	settings  atomic.Pointer[settings]
	metrics   *metrics
	buffers   sse.Buffers
	transport *http.Transport
	recent    recentTurns
	tools     *guard.Tools
	seen      seenTools
	seed      maphash.Seed // of scopes

	ready   atomic.Bool
	active  atomic.Int64   // turns being served
	running turnstile      // turns, and what is read on after they ended
	writers sync.WaitGroup // of recorded turns

	stopping context.Context // done when running turns are to be cut
	stop     context.CancelFunc
}

// settings is a configuration at work. A turn keeps the one it began with.
type settings struct {
	Config
	routes   []*route
	recorder *transcript.Recorder // nil: turns are not recorded
}

// New returns a proxy for cfg, not yet ready (see SetReady). The error says
// what in cfg cannot work.
func New(cfg Config) (*Proxy, error) {
	p := &Proxy{metrics: newMetrics(cfg.Version), tools: guard.NewTools(0), seed: maphash.MakeSeed()}
	p.transport = newTransport(&p.buffers)
	p.stopping, p.stop = context.WithCancel(context.Background())
	if err := p.Reload(cfg); err != nil {
		return nil, err
	}
	p.metrics.replay.stats.store = func() replay.Store { return p.settings.Load().Store }
	p.metrics.spans.exporter = func() *tracing.Exporter { return p.settings.Load().Traces }
	return p, nil
}

// Reload makes turns from now on use cfg. Running ones end as they began. On an
// error nothing has changed. Calls must not overlap.
func (p *Proxy) Reload(cfg Config) error {
	if len(cfg.Upstreams) == 0 {
		return errors.New("no upstream")
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	next := &settings{Config: cfg}
	next.Upstreams = slices.Clone(cfg.Upstreams)
	next.ClientKeys = slices.Clone(cfg.ClientKeys)
	for i := range next.Upstreams {
		r, err := newRoute(&next.Upstreams[i], p.metrics, p.transport)
		if err != nil {
			return err
		}
		r.replays = r.Replay && cfg.Store != nil
		r.withholds = r.injects || len(cfg.ClientKeys) > 0
		next.routes = append(next.routes, r)
	}
	if err := p.startRecorder(next); err != nil {
		return err
	}
	if old := p.settings.Swap(next); old != nil {
		old.stopRecorder(next)
	}
	return nil
}

// SetReady says what /readyz answers.
func (p *Proxy) SetReady(ready bool) { p.ready.Store(ready) }

// Shutdown makes /readyz say 503 and waits for running turns to end. When ctx
// ends first, the rest are cut: their clients get a response.failed with code
// proxy_shutdown. It returns when every turn is gone. A turn that comes later,
// on a connection that was open already, is told to come back.
func (p *Proxy) Shutdown(ctx context.Context) error {
	p.SetReady(false)
	cut := context.AfterFunc(ctx, p.stop)
	defer cut()
	p.running.close()
	p.stop()
	p.transport.CloseIdleConnections()
	return p.flushRecordings()
}

// Handler serves clients.
func (p *Proxy) Handler() http.Handler { return http.HandlerFunc(p.serve) }

// serve routes by the cleaned path.
func (p *Proxy) serve(w http.ResponseWriter, r *http.Request) {
	ex := p.newExchange(w, r)
	to := targetOf(r.URL)
	if to.isTurns() && isWebSocket(r) {
		// With or without a key: a Codex must find its way to HTTP first.
		ex.fail(websocketUnsupported())
		return
	}
	ex.turn = to.isTurns() && r.Method == http.MethodPost
	if f := ex.authenticate(); f != nil {
		ex.reject(f)
		return
	}
	switch {
	case to.segments == nil, to.resemblesTurns():
		ex.fail(notFound(to.clean))
	case ex.turn:
		p.serveTurn(ex)
	default:
		p.servePassed(ex, to)
	}
}

// isWebSocket reports whether the client asks for a WebSocket. Codex tries that
// first and falls back to HTTP at once only on 426. Other upgrades are offers
// (Java's client makes one for HTTP/2 on each request), and are not taken.
func isWebSocket(r *http.Request) bool {
	return r.Method == http.MethodGet && hasToken(r.Header["Upgrade"], "websocket")
}
