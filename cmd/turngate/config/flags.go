package config

import (
	"errors"
	"flag"
	"io"
	"slices"
	"strings"
)

// Register adds the named options to the flags of another command, so that they
// are read and explained in the same way as those of serve. It sets each to its
// default first. A name that is not in the table is left out.
func Register(fs *flag.FlagSet, s *Settings, names ...string) {
	for _, o := range Options() {
		if !slices.Contains(names, o.Name) {
			continue
		}
		v := o.field(s)
		if o.Default != "" {
			_ = v.Set(o.Default)
		}
		fs.Var(v, o.Name, "`"+o.Arg+"` "+o.Help)
		fs.Lookup(o.Name).DefValue = o.shownDefault() // 32MiB, not a number of bytes
	}
}

// raw keeps what a flag was given, for its value to be read later, together
// with those of the other sources.
type raw struct {
	given  map[string]string
	name   string
	toggle bool
}

func (r raw) String() string { return "" }

func (r raw) Set(s string) error { r.given[r.name] = s; return nil }

// IsBoolFlag tells package flag whether the flag may stand without a value.
func (r raw) IsBoolFlag() bool { return r.toggle }

// parseFlags splits args into flags and what they were given. It goes on after
// a fault, to find the others. The only error is [flag.ErrHelp].
func (l *loader) parseFlags(args []string) (map[string]string, error) {
	given := make(map[string]string)
	fs := flag.NewFlagSet("", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	for _, o := range l.options {
		fs.Var(raw{given, o.Name, o.Arg == ""}, o.Name, "")
	}
	for {
		err := fs.Parse(args)
		rest := fs.Args()
		switch {
		case errors.Is(err, flag.ErrHelp):
			return nil, err
		case err != nil:
			if strings.HasPrefix(err.Error(), "bad flag syntax") {
				// Alone of all faults, this one is not consumed.
				l.faults.add("arguments", "%s is no flag", quote(rest[0]))
				args = rest[1:]
				continue
			}
			// The flag at fault is the last of those that were consumed.
			bad, _, inline := strings.Cut(args[len(args)-len(rest)-1], "=")
			l.faults.add("--"+strings.TrimLeft(bad, "-"), "%s", flagFault(fs, bad))
			// What follows an unknown flag is most likely its value.
			if !inline && len(rest) > 0 && !strings.HasPrefix(rest[0], "-") {
				rest = rest[1:]
			}
		case len(rest) > 0:
			l.faults.add("arguments", "flags only, not %s", quote(rest[0]))
			rest = rest[1:]
		default:
			return given, nil
		}
		args = rest
	}
}

// flagFault says why package flag could not take a flag. It is asked only
// about flags whose value is not the reason: those are read later.
func flagFault(fs *flag.FlagSet, bad string) string {
	if fs.Lookup(strings.TrimLeft(bad, "-")) == nil {
		return "no such flag"
	}
	return "needs a value"
}
