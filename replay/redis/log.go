package redis

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/redis/go-redis/v9"
)

// SetLogger makes the client library, which otherwise writes to stderr by
// itself, tell log what it has to say, at debug level: the calls of a store
// return their errors. It is for the process as a whole, as the library's own
// logger is; call it before Open.
func SetLogger(log *slog.Logger) { redis.SetLogger(logger{log}) }

type logger struct{ to *slog.Logger }

// Printf implements the library's interface.
func (l logger) Printf(ctx context.Context, format string, v ...any) {
	if l.to.Enabled(ctx, slog.LevelDebug) {
		l.to.DebugContext(ctx, "redis client", "said", fmt.Sprintf(format, v...))
	}
}
