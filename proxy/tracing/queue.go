package tracing

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	sdk "go.opentelemetry.io/otel/sdk/trace"
)

// queue lets spans into the SDK's batches as long as not too many wait there.
// The SDK has a limit too, but does not tell how many spans it dropped.
type queue struct {
	sdk.SpanProcessor
	log *slog.Logger

	waiting                   atomic.Int64 // let in, and not yet sent
	exported, dropped, failed atomic.Int64

	mu   sync.Mutex
	told time.Time // when the log was last told of a loss
}

// OnEnd implements [sdk.SpanProcessor].
func (q *queue) OnEnd(s sdk.ReadOnlySpan) {
	if !s.SpanContext().IsSampled() {
		return
	}
	if q.waiting.Add(1) > maxWaiting {
		q.waiting.Add(-1)
		q.dropped.Add(1)
		q.tell(errQueueFull)
		return
	}
	q.SpanProcessor.OnEnd(s)
}

// errQueueFull is why a span is dropped.
var errQueueFull = errors.New("too many spans wait for the collector")

// tell logs that spans are lost, at most once a minute.
func (q *queue) tell(err error) {
	q.mu.Lock()
	now := time.Now()
	due := now.Sub(q.told) >= time.Minute
	if due {
		q.told = now
	}
	q.mu.Unlock()
	if due {
		q.log.Warn("spans are lost", "error", err, "dropped", q.dropped.Load(), "failed", q.failed.Load())
	}
}

// sender sends batches. Its errors end here: the SDK would hand them to a
// handler of the whole process.
type sender struct {
	sdk.SpanExporter
	queue   *queue
	sending context.Context // done when nothing is to be sent any more
}

// ExportSpans implements [sdk.SpanExporter].
func (s *sender) ExportSpans(ctx context.Context, spans []sdk.ReadOnlySpan) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.sending, cancel)()
	n := int64(len(spans))
	err := s.SpanExporter.ExportSpans(ctx, spans)
	s.queue.waiting.Add(-n)
	if err != nil {
		s.queue.failed.Add(n)
		s.queue.tell(err)
		return nil
	}
	s.queue.exported.Add(n)
	return nil
}
