package proxy

import (
	"context"
	"net/http"
	"net/textproto"
	"slices"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"turngate/guard"
	"turngate/proxy/tracing"
)

// span is a turn's part of a trace. Without tracing it is nil, and its methods
// do nothing.
type span struct{ otel trace.Span }

// traceHeader is how a trace is passed on.
const traceHeader = "Traceparent"

// startSpan starts the turn's span, within the client's trace if it has one.
func (t *turn) startSpan() {
	if t.cfg.Traces == nil {
		return
	}
	parent := propagation.TraceContext{}.Extract(context.Background(), propagation.HeaderCarrier(t.r.Header))
	_, s := t.cfg.Traces.Tracer().Start(parent, "chat", trace.WithSpanKind(trace.SpanKindServer), trace.WithTimestamp(t.start))
	t.span = &span{s}
}

// id returns the id of the trace, "" without one.
func (s *span) id() string {
	if s == nil {
		return ""
	}
	return s.otel.SpanContext().TraceID().String()
}

// pass puts the span in the place of the client's in a request to the upstream,
// unless the upstream gets none.
func (s *span) pass(h http.Header, r *route) {
	if s == nil || slices.ContainsFunc(r.DropHeaders, func(k string) bool { return textproto.CanonicalMIMEHeaderKey(k) == traceHeader }) {
		return
	}
	delete(h, "Tracestate") // that of another trace, if the client's was no good
	propagation.TraceContext{}.Inject(trace.ContextWithSpan(context.Background(), s.otel), propagation.HeaderCarrier(h))
}

// finding notes what the guard found: what was called, never with what.
func (s *span) finding(r *guard.Refusal, mode guard.Mode) {
	if s == nil || !s.otel.IsRecording() {
		return
	}
	attrs := []attribute.KeyValue{
		attribute.String("turngate.refusal.reason", r.Reason),
		attribute.String("turngate.refusal.item_type", guard.Shown(r.ItemType, maxLogged)),
		attribute.String("turngate.refusal.mode", mode.String()),
	}
	if r.Name != nil {
		attrs = append(attrs, attribute.String("turngate.refusal.name", guard.Shown(*r.Name, maxLogged)))
	}
	s.otel.AddEvent("turngate.refusal", trace.WithAttributes(attrs...))
}

// end ends the span at the time when the client had its answer. It comes when
// the turn is accounted to its end, which after a refusal is later.
func (s *span) end(t *turn) {
	if s == nil {
		return
	}
	if s.otel.IsRecording() {
		s.describe(t)
	}
	s.otel.End(trace.WithTimestamp(t.ended))
}

// describe says of the turn what the access log does, in the words of the
// semantic conventions where they have one.
func (s *span) describe(t *turn) {
	attrs := []attribute.KeyValue{
		attribute.String("gen_ai.operation.name", "chat"),
		attribute.String("gen_ai.provider.name", "openai"), // whose API it is
		attribute.String("turngate.request_id", t.id),
		attribute.String("turngate.upstream", t.upstreamName()),
		attribute.String("turngate.transport", t.transport),
		attribute.String("turngate.outcome", string(t.outcome)),
		attribute.String("turngate.upstream_outcome", string(t.upstream)),
	}
	if t.model != "" {
		model := guard.Shown(t.model, maxLogged)
		s.otel.SetName("chat " + model)
		attrs = append(attrs, attribute.String("gen_ai.request.model", model))
	}
	if t.client != "" {
		attrs = append(attrs, attribute.String("turngate.client", t.client))
	}
	if t.guard != nil {
		g := t.guard.Turn()
		attrs = append(attrs,
			attribute.String("turngate.guard", t.guard.State()),
			attribute.String("gen_ai.response.id", guard.Shown(g.ID, maxLogged)),
			attribute.Int64("gen_ai.usage.input_tokens", g.Usage.Input),
			attribute.Int64("gen_ai.usage.output_tokens", g.Usage.Output))
	}
	if code := t.errorCode(); code != "" {
		attrs = append(attrs, attribute.String("error.type", code))
		if t.outcome != outcomeClientGone && t.outcome != outcomeLocalError {
			s.otel.SetStatus(codes.Error, code)
		}
	}
	s.otel.SetAttributes(attrs...)
}

// spanCounts shows what became of spans.
type spanCounts struct {
	exporter func() *tracing.Exporter // returns nil if there is none; set before the first scrape
	spans    *prometheus.Desc
}

func newSpanCounts() *spanCounts {
	return &spanCounts{spans: prometheus.NewDesc("turngate_spans_total", "Spans of turns: taken by the collector, dropped because too many waited, or failed.", []string{"result"}, nil)}
}

// Describe implements [prometheus.Collector].
func (c *spanCounts) Describe(out chan<- *prometheus.Desc) { out <- c.spans }

// Collect implements [prometheus.Collector].
func (c *spanCounts) Collect(out chan<- prometheus.Metric) {
	e := c.exporter()
	if e == nil {
		return
	}
	n := e.Counts()
	out <- prometheus.MustNewConstMetric(c.spans, prometheus.CounterValue, float64(n.Exported), "exported")
	out <- prometheus.MustNewConstMetric(c.spans, prometheus.CounterValue, float64(n.Dropped), "dropped")
	out <- prometheus.MustNewConstMetric(c.spans, prometheus.CounterValue, float64(n.Failed), "failed")
}
