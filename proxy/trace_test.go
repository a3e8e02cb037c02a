package proxy

import (
	"context"
	"encoding/hex"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"

	"turngate/guard"
	"turngate/proxy/mock"
	"turngate/proxy/tracing"
	"turngate/proxy/tracing/tracingtest"
)

// traced is a rig with a collector.
type traced struct {
	*rig
	exporter  *tracing.Exporter
	collector *tracingtest.Collector
}

func newTraced(t *testing.T, configure func(*Config), turns ...mock.Turn) *traced {
	t.Helper()
	c := tracingtest.New(t)
	e, err := tracing.New(t.Context(), tracing.Options{URL: c.URL, Version: "v7"})
	if err != nil {
		t.Fatal(err)
	}
	r := newRig(t, func(cfg *Config) {
		cfg.Traces = e
		if configure != nil {
			configure(cfg)
		}
	}, turns...)
	t.Cleanup(func() { _ = e.Shutdown(context.Background()) })
	return &traced{r, e, c}
}

// spans ends the proxy and returns what the collector has got.
func (r *traced) spans() []tracingtest.Span {
	r.Helper()
	r.stop()
	if err := r.exporter.Shutdown(r.Context()); err != nil {
		r.Fatal(err)
	}
	return r.collector.Spans()
}

const (
	clientTrace  = "0af7651916cd43dd8448eb211c80319c"
	clientSpan   = "b7ad6b7169203331"
	clientParent = "00-" + clientTrace + "-" + clientSpan + "-01"
)

// TestTraceOfTurns: each turn is one span, with what the access log says of it.
func TestTraceOfTurns(t *testing.T) {
	refused := new(mock.Stream).Created().Call(0, mock.FC("rm_all", `{"secret":1}`)).Completed()
	r := newTraced(t, nil, textTurn(), refused.Turn(), mock.Turn{Status: 500, Body: []byte(`{"error":{"message":"secret"}}`)})
	var ids []string
	for range 3 {
		ids = append(ids, r.post(requestBody(t, "one-tool", true), nil).header.Get(headerRequestID))
	}
	ids = append(ids, r.post([]byte("{"), nil).header.Get(headerRequestID))
	r.do(http.MethodGet, "/models", nil, nil) // no turn

	byID := map[string]tracingtest.Span{}
	for _, s := range r.spans() {
		byID[fmt.Sprint(s.Attributes["turngate.request_id"])] = s
	}
	if len(byID) != len(ids) {
		t.Fatalf("%d spans of %d turns", len(byID), len(ids))
	}
	common := map[string]any{"gen_ai.operation.name": "chat", "gen_ai.provider.name": "openai", "turngate.transport": "sse"}
	asked := map[string]any{"gen_ai.request.model": "m", "turngate.upstream": "default", "turngate.guard": "enforced"}
	answered := map[string]any{"gen_ai.response.id": "resp_1", "gen_ai.usage.input_tokens": int64(mock.InputTokens), "gen_ai.usage.output_tokens": int64(mock.OutputTokens)}
	unanswered := map[string]any{"gen_ai.response.id": "", "gen_ai.usage.input_tokens": int64(0), "gen_ai.usage.output_tokens": int64(0)}
	for i, want := range []struct {
		name   string
		status tracepb.Status_StatusCode
		attrs  []map[string]any
	}{
		{"chat m", tracepb.Status_STATUS_CODE_UNSET, []map[string]any{common, asked, answered,
			{"turngate.outcome": "completed", "turngate.upstream_outcome": "completed"}}},
		{"chat m", tracepb.Status_STATUS_CODE_ERROR, []map[string]any{common, asked, answered,
			{"turngate.outcome": "refused", "turngate.upstream_outcome": "completed", "error.type": "undeclared_tool_call"}}},
		{"chat m", tracepb.Status_STATUS_CODE_ERROR, []map[string]any{common, asked, unanswered,
			{"turngate.outcome": "upstream_error", "turngate.upstream_outcome": "http_error", "error.type": "upstream_error"}}},
		{"chat", tracepb.Status_STATUS_CODE_UNSET, []map[string]any{common,
			{"turngate.upstream": "none", "turngate.transport": "json", "turngate.outcome": "local_error", "turngate.upstream_outcome": "", "error.type": "invalid_json"}}},
	} {
		attrs := map[string]any{"turngate.request_id": ids[i]}
		for _, part := range want.attrs {
			for k, v := range part {
				attrs[k] = v
			}
		}
		s := byID[ids[i]]
		if diff := cmp.Diff(attrs, s.Attributes); diff != "" {
			t.Errorf("turn %d (-want +got):\n%s", i, diff)
		}
		if s.Name != want.name || s.Kind != tracepb.Span_SPAN_KIND_SERVER || s.Status.GetCode() != want.status || len(s.ParentSpanId) != 0 || s.EndTimeUnixNano < s.StartTimeUnixNano {
			t.Errorf("turn %d: %s", i, s.Span)
		}
		if strings.Contains(s.String(), "secret") {
			t.Errorf("more is told than what happened: %s", s)
		}
		if (i == 1) != (len(s.Events) == 1) {
			t.Errorf("turn %d has %d events", i, len(s.Events))
		}
	}
	event := byID[ids[1]].Events[0]
	if diff := cmp.Diff(map[string]any{
		"turngate.refusal.reason": "undeclared_tool_call", "turngate.refusal.item_type": "function_call",
		"turngate.refusal.name": "rm_all", "turngate.refusal.mode": "refuse",
	}, tracingtest.Attributes(event.Attributes)); diff != "" || event.Name != "turngate.refusal" {
		t.Errorf("event %s (-want +got):\n%s", event.Name, diff)
	}
	for name, want := range map[string]float64{"exported": 4, "dropped": 0, "failed": 0} {
		if got := r.metric("turngate_spans_total", "result", name); got != want {
			t.Errorf("%v spans %s, want %v", got, name, want)
		}
	}
}

// TestTraceIsPassedOn: a turn's span is between the client's and the upstream's.
func TestTraceIsPassedOn(t *testing.T) {
	drop := func(c *Config) { c.Upstreams[0].DropHeaders = []string{"traceparent"} }
	for name, tt := range map[string]struct {
		configure     func(*Config)
		sent          map[string]string
		parent, state string
		passed        bool
	}{
		"no trace":  {nil, nil, "", "", true},
		"a trace":   {nil, map[string]string{"traceparent": clientParent, "tracestate": "a=1"}, clientSpan, "a=1", true},
		"a bad one": {nil, map[string]string{"traceparent": "00-zz", "tracestate": "a=1"}, "", "", true},
		"dropped":   {drop, map[string]string{"traceparent": clientParent}, clientSpan, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			r := newTraced(t, tt.configure, textTurn())
			r.post(requestBody(t, "one-tool", true), tt.sent)
			s := r.spans()[0]
			trace, id := hex.EncodeToString(s.TraceId), hex.EncodeToString(s.SpanId)
			if got := hex.EncodeToString(s.ParentSpanId); got != tt.parent || (trace == clientTrace) != (tt.parent != "") {
				t.Errorf("trace %s, parent %q, want %q", trace, got, tt.parent)
			}
			want := []string(nil)
			if tt.passed {
				want = []string{"00-" + trace + "-" + id + "-01"}
			}
			sent := r.upstream.Requests()[0].Header
			if diff := cmp.Diff(want, sent["Traceparent"]); diff != "" {
				t.Errorf("traceparent (-want +got):\n%s", diff)
			}
			if got := sent.Get("Tracestate"); got != tt.state {
				t.Errorf("tracestate %q, want %q", got, tt.state)
			}
			turn := r.lastTurn()
			if turn.TraceID != trace || !strings.Contains(r.log.String(), `"trace_id":"`+trace+`"`) {
				t.Errorf("trace %q in /turns, want %q there and in the log", turn.TraceID, trace)
			}
		})
	}
}

// TestNotSampledIsPassedOn: a client that does not want its trace kept is
// obeyed, and the upstream hears of that.
func TestNotSampledIsPassedOn(t *testing.T) {
	r := newTraced(t, nil, textTurn())
	r.post(requestBody(t, "one-tool", true), map[string]string{"traceparent": "00-" + clientTrace + "-" + clientSpan + "-00"})
	if n := len(r.spans()); n != 0 {
		t.Errorf("%d spans", n)
	}
	got := r.upstream.Requests()[0].Header.Get("Traceparent")
	if !strings.HasPrefix(got, "00-"+clientTrace+"-") || !strings.HasSuffix(got, "-00") || strings.Contains(got, clientSpan) {
		t.Errorf("traceparent %q", got)
	}
}

// TestUntraced: without tracing the client's trace is none of turngate's
// business.
func TestUntraced(t *testing.T) {
	r := newRig(t, nil, textTurn())
	r.post(requestBody(t, "one-tool", true), map[string]string{"traceparent": clientParent, "tracestate": "a=1"})
	if turn := r.lastTurn(); turn.TraceID != "" {
		t.Errorf("trace %q", turn.TraceID)
	}
	h := r.upstream.Requests()[0].Header
	if h.Get("Traceparent") != clientParent || h.Get("Tracestate") != "a=1" {
		t.Errorf("headers %v", h)
	}
	if strings.Contains(r.log.String(), "trace_id") {
		t.Error("the log has a trace")
	}
}

// TestTraceOfReportedCall: a call that was let pass is told of as well.
func TestTraceOfReportedCall(t *testing.T) {
	call := new(mock.Stream).Created().Call(0, mock.FC(strings.Repeat("long", 1000), "{}")).Completed()
	r := newTraced(t, func(c *Config) { c.Upstreams[0].Undeclared = guard.Report }, call.Turn())
	r.post(requestBody(t, "one-tool", true), nil)
	s := r.spans()[0]
	if len(s.Events) != 1 || s.Status.GetCode() != tracepb.Status_STATUS_CODE_UNSET {
		t.Fatalf("%s", s)
	}
	attrs := tracingtest.Attributes(s.Events[0].Attributes)
	if name := fmt.Sprint(attrs["turngate.refusal.name"]); attrs["turngate.refusal.mode"] != "report" || len(name) > 2*maxLogged {
		t.Errorf("%v", attrs)
	}
}
