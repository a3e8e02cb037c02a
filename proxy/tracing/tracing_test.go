package tracing

import (
	"bytes"
	"context"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"

	"turngate/proxy/tracing/tracingtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// newExporter returns an exporter that the test shuts down.
func newExporter(t *testing.T, o Options) *Exporter {
	t.Helper()
	e, err := New(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// spans ends n spans.
func (e *Exporter) spans(n int) {
	for range n {
		_, s := e.Tracer().Start(context.Background(), "x")
		s.End()
	}
}

// TestExport: what has ended before the shutdown is with the collector after it.
func TestExport(t *testing.T) {
	t.Setenv("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment=test")
	c := tracingtest.New(t)
	e := newExporter(t, Options{URL: c.URL, Version: "v7", Header: http.Header{"X-Team": {"a"}}})
	e.spans(1000)
	if err := e.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	got := c.Spans()
	if len(got) != 1000 || e.Counts() != (Counts{Exported: 1000}) {
		t.Fatalf("%d spans, %+v", len(got), e.Counts())
	}
	r := got[0].Resource
	if r["service.name"] != "turngate" || r["service.version"] != "v7" || r["deployment.environment"] != "test" {
		t.Errorf("resource %v", r)
	}
	if c.Header().Get("X-Team") != "a" {
		t.Errorf("headers %v", c.Header())
	}
}

// TestServiceName: the operator's name for the service wins.
func TestServiceName(t *testing.T) {
	t.Setenv("OTEL_SERVICE_NAME", "gate-7")
	c := tracingtest.New(t)
	e := newExporter(t, Options{URL: c.URL})
	e.spans(1)
	if err := e.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := c.Spans()[0].Resource["service.name"]; got != "gate-7" {
		t.Errorf("service %q", got)
	}
}

// TestNotSampled: spans that the sampler leaves out take no room in the queue.
func TestNotSampled(t *testing.T) {
	t.Setenv("OTEL_TRACES_SAMPLER", "always_off")
	c := tracingtest.New(t)
	e := newExporter(t, Options{URL: c.URL})
	e.spans(2 * maxWaiting)
	if err := e.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := len(c.Spans()); n != 0 || e.Counts() != (Counts{}) {
		t.Errorf("%d spans, %+v", n, e.Counts())
	}
}

// TestStuckCollector: a collector that takes nothing holds nobody up. What does
// not fit into the queue is counted as dropped, the rest as failed when the time
// for the shutdown is over, and the log is told once.
func TestStuckCollector(t *testing.T) {
	stuck := make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-stuck }))
	defer srv.Close()
	defer close(stuck)
	var log bytes.Buffer
	e := newExporter(t, Options{URL: srv.URL, Logger: slog.New(slog.NewJSONHandler(&log, nil))})
	const ended = maxWaiting + 500
	e.spans(ended) // returns, although nothing can be sent
	if got := e.Counts(); got != (Counts{Dropped: 500}) {
		t.Errorf("%+v before the shutdown", got)
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if err := e.Shutdown(over); err == nil {
		t.Error("a shutdown without time says that all is well")
	}
	if got := e.Counts(); got != (Counts{Dropped: 500, Failed: maxWaiting}) {
		t.Errorf("%+v after the shutdown", got)
	}
	if n := strings.Count(log.String(), "spans are lost"); n != 1 {
		t.Errorf("%d lines in the log:\n%s", n, &log)
	}
}

// TestNoCollector: nobody listens where the spans should go.
func TestNoCollector(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ln.Close()
	e := newExporter(t, Options{URL: "http://" + ln.Addr().String()})
	e.spans(3)
	over, cancel := context.WithCancel(t.Context())
	cancel()
	_ = e.Shutdown(over)
	if got := e.Counts(); got != (Counts{Failed: 3}) {
		t.Errorf("%+v", got)
	}
}

// TestAnswers: which answers of a collector are final, and which are tried again.
func TestAnswers(t *testing.T) {
	for _, tt := range []struct {
		answers []int // the last one repeats
		want    Counts
		asked   int32
	}{
		{[]int{200}, Counts{Exported: 1}, 1},
		{[]int{202}, Counts{Exported: 1}, 1},
		{[]int{400}, Counts{Failed: 1}, 1},
		{[]int{401}, Counts{Failed: 1}, 1},
		{[]int{307}, Counts{Failed: 1}, 1},
		{[]int{503, 200}, Counts{Exported: 1}, 2},
	} {
		var asked atomic.Int32
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			n := int(asked.Add(1))
			w.Header().Set("Location", "/elsewhere")
			w.WriteHeader(tt.answers[min(n, len(tt.answers))-1])
		}))
		e := newExporter(t, Options{URL: srv.URL})
		e.spans(1)
		if err := e.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
		srv.Close()
		if e.Counts() != tt.want || asked.Load() != tt.asked {
			t.Errorf("%v: %+v after %d requests, want %+v after %d", tt.answers, e.Counts(), asked.Load(), tt.want, tt.asked)
		}
	}
}
