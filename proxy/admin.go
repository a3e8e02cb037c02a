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
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		if !p.ready.Load() {
			writeAdmin(w, http.StatusServiceUnavailable, map[string]string{"status": "not ready"})
			return
		}
		writeAdmin(w, http.StatusOK, map[string]string{"status": "ready"})
	})
	mux.HandleFunc("GET /turns", p.serveTurns)
	mux.HandleFunc("GET /turns/{request_id}", p.serveTurnRecord)
	mux.HandleFunc("GET /tools", p.serveTools)
	return mux
}
