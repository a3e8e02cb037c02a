package proxy

import (
	"context"
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"turngate/replay"
)

// storeTimeout is what the store gets for one call (R3).
const storeTimeout = 2 * time.Second

// Operations on the store, as metrics name them.
const (
	storePut    = "put"
	storeExpand = "expand"
	storeGet    = "get"
	storeDelete = "delete"
)

// askStore runs a call of the store within the time that it gets, and counts it.
// With the client's context it ends when the client goes away.
func (p *Proxy) askStore(ctx context.Context, operation string, call func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	start := time.Now()
	err := call(ctx)
	p.metrics.replay.operations.WithLabelValues(operation, storeResult(err)).Inc()
	p.metrics.replay.seconds.WithLabelValues(operation).Observe(time.Since(start).Seconds())
	return err
}

// storeResult is how a call of the store ended. What is wrong with a request is
// no fault of the store.
func storeResult(err error) string {
	input, ok := errors.AsType[*replay.InputError](err)
	switch {
	case errors.Is(err, replay.ErrNotFound), ok && input.Code == replay.CodeItemNotFound:
		return "miss"
	case err == nil, ok:
		return "ok"
	}
	return "error"
}

// replayMetrics count what the store does.
type replayMetrics struct {
	operations *prometheus.CounterVec
	seconds    *prometheus.HistogramVec
	stats      *storeStats
}

// storeBuckets reach from memory to the limit of a call.
var storeBuckets = []float64{.00005, .0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2}

func newReplayMetrics(registry *prometheus.Registry) *replayMetrics {
	m := &replayMetrics{
		operations: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "turngate_replay_operations_total", Help: "Calls of the store of responses by how they ended.",
		}, []string{"operation", "result"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "turngate_replay_operation_seconds", Help: "Time that calls of the store took.", Buckets: storeBuckets,
		}, []string{"operation"}),
		stats: newStoreStats(),
	}
	registry.MustRegister(m.operations, m.seconds, m.stats)
	return m
}

// storeStats shows the store's own numbers. A store that cannot be asked has
// none; that it cannot is seen in the operations.
type storeStats struct {
	store                     func() replay.Store // returns nil if there is none; set before the first scrape
	records, bytes, evictions *prometheus.Desc
}

func newStoreStats() *storeStats {
	return &storeStats{
		records:   prometheus.NewDesc("turngate_replay_records", "Responses in the store.", nil, nil),
		bytes:     prometheus.NewDesc("turngate_replay_bytes", "Bytes in the store, as it keeps them.", nil, nil),
		evictions: prometheus.NewDesc("turngate_replay_evictions_total", "Responses that this process removed for their age or the store's size.", []string{"cause"}, nil),
	}
}

// Describe implements [prometheus.Collector].
func (c *storeStats) Describe(out chan<- *prometheus.Desc) {
	out <- c.records
	out <- c.bytes
	out <- c.evictions
}

// Collect implements [prometheus.Collector].
func (c *storeStats) Collect(out chan<- prometheus.Metric) {
	store := c.store()
	if store == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), storeTimeout)
	defer cancel()
	stats, err := store.Stats(ctx)
	if err == nil {
		out <- prometheus.MustNewConstMetric(c.records, prometheus.GaugeValue, float64(stats.Records))
		out <- prometheus.MustNewConstMetric(c.bytes, prometheus.GaugeValue, float64(stats.Bytes))
	}
	out <- prometheus.MustNewConstMetric(c.evictions, prometheus.CounterValue, float64(stats.EvictedTTL), "ttl")
	out <- prometheus.MustNewConstMetric(c.evictions, prometheus.CounterValue, float64(stats.EvictedSize), "size")
}

// storeState is the store's state in words, for operators.
func (p *Proxy) storeState(ctx context.Context) string {
	store := p.settings.Load().Store
	if store == nil {
		return "none"
	}
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	if _, err := store.Stats(ctx); err != nil {
		return "unavailable"
	}
	return "ok"
}
