// Package tracingtest has a collector of spans for tests.
package tracingtest

import (
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// Collector takes spans over OTLP/HTTP and keeps them. Its methods are safe for
// concurrent use.
type Collector struct {
	URL string // for spans

	mu       sync.Mutex
	batches  []*tracepb.ResourceSpans
	requests []*http.Request
}

// New returns a collector that runs until the test ends.
func New(t *testing.T) *Collector {
	t.Helper()
	c := &Collector{}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		var data tracepb.TracesData
		if err == nil {
			err = proto.Unmarshal(body, &data)
		}
		if err != nil || r.URL.Path != "/v1/traces" || r.Header.Get("Content-Type") != "application/x-protobuf" {
			t.Errorf("the collector got %s %s, %q: %v", r.Method, r.URL, r.Header.Get("Content-Type"), err)
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		c.batches = append(c.batches, data.ResourceSpans...)
		c.requests = append(c.requests, r)
	}))
	t.Cleanup(srv.Close)
	c.URL = srv.URL + "/v1/traces"
	return c
}

// Span is a span as the collector got it.
type Span struct {
	*tracepb.Span
	Attributes map[string]any // strings and int64s
	Resource   map[string]any
}

// Spans returns what the collector has got until now, in order.
func (c *Collector) Spans() []Span {
	c.mu.Lock()
	defer c.mu.Unlock()
	var all []Span
	for _, batch := range c.batches {
		for _, scope := range batch.ScopeSpans {
			for _, s := range scope.Spans {
				all = append(all, Span{s, Attributes(s.Attributes), Attributes(batch.Resource.Attributes)})
			}
		}
	}
	return all
}

// Header returns the headers of the last request.
func (c *Collector) Header() http.Header {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.requests) == 0 {
		return nil
	}
	return c.requests[len(c.requests)-1].Header
}
