package main

import (
	"context"
	"log/slog"
	"runtime/debug"

	"go.opentelemetry.io/otel"

	"turngate/cmd/turngate/config"
	"turngate/proxy/tracing"
)

// openTraces returns the way to the collector that the settings name; nil if
// they name none.
func openTraces(ctx context.Context, s *config.Settings, log *slog.Logger) (*tracing.Exporter, error) {
	if s.TracesURL == "" {
		return nil, nil
	}
	// The SDK's own complaints go to a handler of the whole process.
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { log.Warn("tracing", "error", err) }))
	log.Info("turns are traced", "collector", s.TracesURL)
	return tracing.New(ctx, tracing.Options{
		URL: s.TracesURL, Header: s.TracesHeader, Version: buildOf(debug.ReadBuildInfo()).version, Logger: log,
	})
}

// closeTraces sends the spans that still wait, and gives up on a collector that
// does not take them.
func (s *server) closeTraces() {
	if s.traces == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), closeGrace)
	defer cancel()
	if err := s.traces.Shutdown(ctx); err != nil {
		s.log.Warn("not all spans were sent", "error", err)
	}
}
