package proxy

import (
	"net/http"

	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// AdminHandler serves operators: /metrics, /healthz, /readyz, /turns
// and /tools.
func (p *Proxy) AdminHandler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(p.metrics.registry, promhttp.HandlerOpts{}))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		writeAdmin(w, http.StatusOK, map[string]string{"status": "ok"})
	})
	mux.HandleFunc("GET /readyz", p.serveReady)
	mux.HandleFunc("GET /turns", p.serveTurns)
	mux.HandleFunc("GET /turns/{request_id}", p.serveTurnRecord)
	mux.HandleFunc("GET /tools", p.serveTools)
	return mux
}

// serveReady answers GET /readyz. The store's state is shown and decides
// nothing: turns flow without it.
func (p *Proxy) serveReady(w http.ResponseWriter, r *http.Request) {
	status, word := http.StatusOK, "ready"
	if !p.ready.Load() {
		status, word = http.StatusServiceUnavailable, "not ready"
	}
	writeAdmin(w, status, map[string]string{"status": word, "store": p.storeState(r.Context())})
}
