package main

import (
	"io"
	"strings"
	"syscall"
	"testing"

	"turngate/proxy/tracing/tracingtest"
)

// TestTracesAreFlushed: the span of the last turn is with the collector when
// serve has ended, and the variables that programs with OpenTelemetry have in
// common are enough to turn it on.
func TestTracesAreFlushed(t *testing.T) {
	c := tracingtest.New(t)
	base, resume := stalled(t)
	close(resume)
	in := startServe(t, map[string]string{
		"OTEL_EXPORTER_OTLP_ENDPOINT": strings.TrimSuffix(c.URL, "/v1/traces"),
		"OTEL_EXPORTER_OTLP_HEADERS":  "x-team=a",
	}, "--upstream", base)
	if _, err := io.ReadAll(in.turn(t)); err != nil {
		t.Fatal(err)
	}
	in.signals <- syscall.SIGTERM
	if code := <-in.exit; code != exitOK {
		t.Errorf("exit code %d", code)
	}
	spans := c.Spans()
	if len(spans) != 1 || spans[0].Attributes["turngate.outcome"] != "completed" || spans[0].Resource["service.version"] == "" {
		t.Errorf("%d spans: %v", len(spans), spans)
	}
	if got := c.Header().Get("X-Team"); got != "a" {
		t.Errorf("header %q", got)
	}
	if !strings.Contains(in.log.String(), "turns are traced") {
		t.Error("the log does not say where spans go")
	}
}
