package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
)

// runVersion is the command "turngate version".
func runVersion(args []string, stdout, stderr io.Writer) int {
	fs := flag.NewFlagSet("version", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	switch err := fs.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(stdout, "usage: turngate version\n\nShows the version, the commit and the Go version that it was built with.\n")
		return exitOK
	case err != nil || fs.NArg() > 0:
		fmt.Fprint(stderr, "turngate version: takes no arguments\n")
		return exitUsage
	}
	b := buildOf(debug.ReadBuildInfo())
	fmt.Fprintf(stdout, "turngate %s (commit %s, %s)\n", b.version, b.commit, runtime.Version())
	return exitOK
}

// build says what a binary was made from.
type build struct{ version, commit string }

// buildOf reads what the Go command recorded. A binary that was built without
// version control is "devel" of an unknown commit.
func buildOf(info *debug.BuildInfo, ok bool) build {
	b := build{"devel", "unknown"}
	if !ok {
		return b
	}
	if v := info.Main.Version; v != "(devel)" {
		b.version = cmp.Or(v, b.version)
	}
	dirty := ""
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.commit = cmp.Or(s.Value, b.commit)
		case "vcs.modified":
			if s.Value == "true" {
				dirty = "+changes"
			}
		}
	}
	b.commit += dirty
	return b
}
