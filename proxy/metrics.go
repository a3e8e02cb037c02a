package proxy

import (
	"runtime"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"turngate/guard"
)

// metrics are the counters of a proxy. No label takes a value that a client or
// an upstream can invent (O7).
type metrics struct {
	registry *prometheus.Registry
	turns    *prometheus.CounterVec
	refusals *prometheus.CounterVec
	guards   *prometheus.CounterVec
	outcomes *prometheus.CounterVec
	unusual  *prometheus.CounterVec
	unjudged *prometheus.CounterVec
	drift    *prometheus.CounterVec
	duration *prometheus.HistogramVec
	first    *prometheus.HistogramVec
	events   *prometheus.CounterVec
	bytes    *prometheus.CounterVec
	active   *prometheus.GaugeVec
	tokens   *prometheus.CounterVec
	upErrors *prometheus.CounterVec
	recorded *prometheus.CounterVec
	replay   *replayMetrics
	spans    *spanCounts
}

// durationBuckets reach from a local error to the longest turns of agents.
var durationBuckets = []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800}

func newMetrics(version string) *metrics {
	m := &metrics{registry: prometheus.NewRegistry()}
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		c := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
		m.registry.MustRegister(c)
		return c
	}
	histogram := func(name, help string) *prometheus.HistogramVec {
		h := prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: durationBuckets}, []string{"upstream"})
		m.registry.MustRegister(h)
		return h
	}
	m.turns = counter("turngate_turns_total", "Turns by what the client was told.", "upstream", "transport", "outcome")
	m.refusals = counter("turngate_refusals_total", "Findings of the guard, refused or only reported.", "upstream", "reason", "item_type", "mode")
	m.guards = counter("turngate_guard_total", "Turns by whether the undeclared rule was in force.", "upstream", "state")
	m.outcomes = counter("turngate_upstream_outcomes_total", "Turns by what the upstream did, whatever the client was told.", "upstream", "outcome")
	m.unjudged = counter("turngate_unjudged_calls_total", "Calls whose arguments could not be judged.", "upstream", "reason")
	m.drift = counter("turngate_tool_schema_drift_total", "Tools whose schema hash changed between turns of one client.", "upstream")
	m.unusual = counter("turngate_unusual_total", "Odd things that were let pass, or late events that were dropped.", "upstream", "kind")
	m.duration = histogram("turngate_turn_duration_seconds", "Time from the request to the end of the answer.")
	m.first = histogram("turngate_first_event_seconds", "Time from the request to the first event or JSON answer.")
	m.events = counter("turngate_events_total", "Stream events relayed to clients.", "upstream")
	m.bytes = counter("turngate_stream_bytes_total", "Bytes of event streams relayed to clients.", "upstream")
	m.tokens = counter("turngate_tokens_total", "Tokens that upstreams reported, refused turns included.", "upstream", "kind")
	m.upErrors = counter("turngate_upstream_errors_total", "Faults between turngate and the upstream.", "upstream", "kind")
	m.recorded = counter("turngate_recordings_total", "Turns that --record was to keep: written, dropped because the disk did not keep up, or failed.", "result")
	m.active = prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "turngate_active_streams", Help: "Turns being answered now."}, []string{"upstream"})
	m.replay = newReplayMetrics(m.registry)
	m.spans = newSpanCounts()
	info := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "turngate_build_info", Help: "Version of the running binary; always 1."}, []string{"version", "goversion"})
	info.WithLabelValues(version, runtime.Version()).Set(1)
	m.registry.MustRegister(m.active, m.spans, info, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// noUpstream is the label of turns that ended before one was chosen.
const noUpstream = "none"

// upstreamMetrics are the counters of one upstream, those of the stream loop
// looked up beforehand.
type upstreamMetrics struct {
	*metrics
	name          string
	events, bytes prometheus.Counter
	active        prometheus.Gauge
	duration      prometheus.Observer
	first         prometheus.Observer
}

func (m *metrics) forUpstream(name string) *upstreamMetrics {
	return &upstreamMetrics{
		metrics: m, name: name,
		events:   m.events.WithLabelValues(name),
		bytes:    m.bytes.WithLabelValues(name),
		active:   m.active.WithLabelValues(name),
		duration: m.duration.WithLabelValues(name),
		first:    m.first.WithLabelValues(name),
	}
}

func (m *upstreamMetrics) refusal(r *guard.Refusal, mode guard.Mode) {
	m.refusals.WithLabelValues(m.name, r.Reason, itemTypeLabel(r.ItemType), mode.String()).Inc()
}

// fault counts what went wrong with the upstream, unless kind is "".
func (m *upstreamMetrics) fault(kind string) {
	if kind != "" {
		m.upErrors.WithLabelValues(m.name, kind).Inc()
	}
}

func (m *upstreamMetrics) spent(u guard.Usage) {
	for _, k := range [...]struct {
		kind string
		n    int64
	}{{"input", u.Input}, {"cached_input", u.CachedInput}, {"output", u.Output}, {"reasoning", u.Reasoning}} {
		if k.n > 0 {
			m.tokens.WithLabelValues(m.name, k.kind).Add(float64(k.n))
		}
	}
}

// itemTypeLabel keeps the label to known item types.
func itemTypeLabel(t string) string {
	switch t {
	case "function_call", "custom_tool_call", "local_shell_call", "shell_call", "apply_patch_call",
		"computer_call", "tool_search_call", "mcp_approval_request", "event":
		return t
	}
	return "other"
}
