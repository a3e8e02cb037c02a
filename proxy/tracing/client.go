package tracing

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// client posts spans to a collector. The SDK's own client for OTLP over HTTP
// would do, but brings gRPC along, which makes the binary larger by two thirds.
type client struct {
	url    string
	header http.Header
	http   *http.Client
}

var _ otlptrace.Client = (*client)(nil)

// A batch that cannot be sent is tried again for as long as its time lasts.
const (
	firstPause = time.Second
	maxPause   = 10 * time.Second
)

func newClient(url string, header http.Header) *client {
	h := header.Clone()
	if h == nil {
		h = http.Header{}
	}
	h.Set("Content-Type", "application/x-protobuf")
	transport := &http.Transport{Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true, IdleConnTimeout: 90 * time.Second}
	return &client{url: url, header: h, http: &http.Client{
		Transport: transport,
		// Another address is not what the operator said, and gets no headers.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// Start implements [otlptrace.Client].
func (c *client) Start(context.Context) error { return nil }

// Stop implements [otlptrace.Client].
func (c *client) Stop(context.Context) error {
	c.http.CloseIdleConnections()
	return nil
}

// UploadTraces implements [otlptrace.Client].
func (c *client) UploadTraces(ctx context.Context, spans []*tracepb.ResourceSpans) error {
	// On the wire this is an ExportTraceServiceRequest.
	body, err := proto.Marshal(&tracepb.TracesData{ResourceSpans: spans})
	if err != nil {
		return fmt.Errorf("encode spans: %w", err)
	}
	for pause := firstPause; ; pause = min(2*pause, maxPause) {
		again, after, err := c.post(ctx, body)
		if err == nil || !again {
			return err
		}
		timer := time.NewTimer(max(pause, after))
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return err
		}
	}
}

// post sends a request once. again says that another try may help, not before
// the time that the collector asks for.
func (c *client) post(ctx context.Context, body []byte) (again bool, after time.Duration, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		return false, 0, fmt.Errorf("make a request to the collector: %w", err)
	}
	req.Header = c.header.Clone()
	resp, err := c.http.Do(req)
	if err != nil {
		return true, 0, err
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 64<<10)) // so that the connection can be used again
	if resp.StatusCode < 300 {
		return false, 0, nil
	}
	err = fmt.Errorf("the collector answered %d", resp.StatusCode)
	switch resp.StatusCode {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		seconds, _ := strconv.Atoi(resp.Header.Get("Retry-After"))
		return true, time.Duration(max(seconds, 0)) * time.Second, err
	}
	return false, 0, err
}
