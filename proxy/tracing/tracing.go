// Package tracing takes the spans of turns to a collector, over OTLP/HTTP.
//
// A turn never waits for the collector. Ended spans wait in a queue of bounded
// length; those that find it full are dropped, and counted.
package tracing

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// maxWaiting is how many spans may wait for the collector, those on their way
// included. One has some 2 kB.
const maxWaiting = 2048

// Options say where the spans go. The variables OTEL_TRACES_SAMPLER,
// OTEL_RESOURCE_ATTRIBUTES and OTEL_SERVICE_NAME say the rest.
type Options struct {
	URL     string       // of the collector, with its path
	Header  http.Header  // goes with each request to it
	Version string       // of turngate
	Logger  *slog.Logger // is told of spans that are lost; nil discards
}

// Exporter is the way of the spans. Make one with New; its methods are safe for
// concurrent use.
type Exporter struct {
	provider *sdk.TracerProvider
	tracer   trace.Tracer
	queue    *queue
	giveUp   context.CancelFunc // ends what is being sent
}

// New returns an exporter. It does not wait for the collector to be there. The
// caller ends it with Shutdown.
func New(ctx context.Context, o Options) (*Exporter, error) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	otlp, err := otlptrace.New(ctx, newClient(o.URL, o.Header))
	if err != nil {
		return nil, fmt.Errorf("make the trace exporter: %w", err)
	}
	about, err := resource.New(ctx,
		resource.WithAttributes(attribute.String("service.name", "turngate"), attribute.String("service.version", o.Version)),
		resource.WithTelemetrySDK(), resource.WithFromEnv())
	if err != nil {
		return nil, fmt.Errorf("describe this process to the collector: %w", err)
	}
	sending, giveUp := context.WithCancel(context.Background())
	q := &queue{log: o.Logger}
	q.SpanProcessor = sdk.NewBatchSpanProcessor(&sender{otlp, q, sending}, sdk.WithMaxQueueSize(maxWaiting))
	e := &Exporter{queue: q, giveUp: giveUp}
	e.provider = sdk.NewTracerProvider(sdk.WithSpanProcessor(q), sdk.WithResource(about))
	e.tracer = e.provider.Tracer("turngate")
	return e, nil
}

// Tracer returns what spans are started with.
func (e *Exporter) Tracer() trace.Tracer { return e.tracer }

// Counts returns what became of the spans that have ended.
func (e *Exporter) Counts() Counts {
	return Counts{
		Exported: e.queue.exported.Load(),
		Dropped:  e.queue.dropped.Load(),
		Failed:   e.queue.failed.Load(),
	}
}

// Counts say what became of spans.
type Counts struct {
	Exported int64 // the collector has them
	Dropped  int64 // too many waited
	Failed   int64 // the collector could not be reached, or did not take them
}

// Shutdown sends what waits, for as long as ctx lets it; then the rest is given
// up, and counts as failed.
func (e *Exporter) Shutdown(ctx context.Context) error {
	cut := context.AfterFunc(ctx, e.giveUp)
	defer cut()
	defer e.giveUp()
	// Without ctx, or the SDK would leave its work running.
	return errors.Join(e.provider.Shutdown(context.WithoutCancel(ctx)), ctx.Err())
}
