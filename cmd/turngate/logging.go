package main

import (
	"io"
	"log/slog"
	"os"
)

// newLogger returns a logger to w in the given format, "json" or "text"; "" is
// text on a terminal and json elsewhere.
func newLogger(w io.Writer, format string, level slog.Leveler) *slog.Logger {
	if format == "" {
		format = "json"
		if isTerminal(w) {
			format = "text"
		}
	}
	opts := &slog.HandlerOptions{Level: level}
	if format == "text" {
		return slog.New(slog.NewTextHandler(w, opts))
	}
	return slog.New(slog.NewJSONHandler(w, opts))
}

// isTerminal reports whether w is a character device. That the null device is
// one, too, does no harm here.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
