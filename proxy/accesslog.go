package proxy

import (
	"context"
	"log/slog"
)

// maxLogged bounds, in characters, what is kept or logged of a string that a
// client or an upstream chose.
const maxLogged = 100

// logTurn writes the access log's line: what /turns shows, under the same names,
// and the cause of a fault, which is for the log alone. Tokens are those until
// now: of a refused stream there may be more to come.
func (t *turn) logTurn(r *turnRecord) {
	level := slog.LevelInfo
	if t.failure != nil && t.outcome != outcomeClientGone && t.outcome != outcomeRefused {
		level = slog.LevelWarn
	}
	if !t.log.Enabled(context.Background(), level) {
		return
	}
	attrs := []slog.Attr{ // the client is in every line already
		slog.String("request_id", r.RequestID), slog.String("response_id", r.ResponseID),
		slog.String("upstream", r.Upstream), slog.String("model", r.Model), slog.String("transport", r.Transport),
		slog.String("outcome", r.Outcome), slog.String("upstream_outcome", r.UpstreamOutcome),
		slog.String("guard", r.Guard), slog.Int("reported", r.Reported), slog.Int("events", r.Events),
		slog.Int64("input_tokens", r.Tokens.Input), slog.Int64("cached_input_tokens", r.Tokens.CachedInput),
		slog.Int64("output_tokens", r.Tokens.Output), slog.Int64("reasoning_tokens", r.Tokens.Reasoning),
		slog.Time("started", r.Started), slog.Int64("duration_ms", r.DurationMS),
	}
	if r.FirstEventMS != nil {
		attrs = append(attrs, slog.Int64("first_event_ms", *r.FirstEventMS))
	}
	if r.TraceID != "" {
		attrs = append(attrs, slog.String("trace_id", r.TraceID))
	}
	if r.Refusal != nil {
		attrs = append(attrs, slog.String("refusal", r.Refusal.Reason), slog.String("message", r.Refusal.Message()))
	}
	if r.Error != "" {
		attrs = append(attrs, slog.String("error", r.Error))
	}
	if t.failure != nil && t.failure.refusal == nil && t.failure.cause != nil {
		attrs = append(attrs, slog.String("cause", t.failure.cause.Error()))
	}
	t.log.LogAttrs(context.Background(), level, "turn", attrs...)
}

// errorCode is what went wrong, in a word: a refusal's reason, or the code of an
// error of turngate's own. "" is nothing.
func (t *turn) errorCode() string {
	if t.failure == nil {
		return ""
	}
	return t.failure.code
}
