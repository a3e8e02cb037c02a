package config

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"turngate/guard"
)

// The types here are the kinds of values, each a [flag.Value] over the field
// that it sets. Set leaves the field alone when it fails. Its errors name the
// value only where that cannot be a secret.

type text string

func (v *text) String() string { return string(*v) }

func (v *text) Set(s string) error { *v = text(s); return nil }

type toggle bool

func (v *toggle) String() string { return strconv.FormatBool(bool(*v)) }

func (v *toggle) Set(s string) error {
	on, err := strconv.ParseBool(s)
	if err != nil {
		return fmt.Errorf("%s is neither true nor false", quote(s))
	}
	*v = toggle(on)
	return nil
}

// IsBoolFlag tells package flag that the flag stands without a value.
func (v *toggle) IsBoolFlag() bool { return true }

type choice struct {
	to *string
	of []string
}

func (v choice) String() string { return shown(v.to) }

func (v choice) Set(s string) error {
	if !slices.Contains(v.of, s) {
		return fmt.Errorf("%s is none of %s", quote(s), strings.Join(v.of, ", "))
	}
	*v.to = s
	return nil
}

type mode struct{ to *guard.Mode }

func (v mode) String() string { return shown(v.to) }

func (v mode) Set(s string) error {
	m, err := guard.ParseMode(s)
	if err != nil {
		return fmt.Errorf("%s is none of refuse, report, off", quote(s))
	}
	*v.to = m
	return nil
}

type duration struct {
	to       *time.Duration
	positive bool // 0 has no meaning
}

func (v duration) String() string { return shown(v.to) }

func (v duration) Set(s string) error {
	d, err := time.ParseDuration(s)
	switch {
	case err != nil:
		return fmt.Errorf("%s is not a duration such as 90s, 5m or 720h", quote(s))
	case d < 0:
		return fmt.Errorf("%s is negative", quote(s))
	case d == 0 && v.positive:
		return errors.New("must be more than 0")
	}
	*v.to = d
	return nil
}

type count struct{ to *int }

func (v count) String() string { return shown(v.to) }

func (v count) Set(s string) error {
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 {
		return fmt.Errorf("%s is not a whole number from 0", quote(s))
	}
	*v.to = n
	return nil
}

type level struct{ to *slog.Level }

func (v level) String() string { return strings.ToLower(shown(v.to)) }

func (v level) Set(s string) error {
	levels := []slog.Level{slog.LevelDebug, slog.LevelInfo, slog.LevelWarn, slog.LevelError}
	for _, l := range levels {
		if strings.EqualFold(l.String(), s) {
			*v.to = l
			return nil
		}
	}
	return fmt.Errorf("%s is none of debug, info, warn, error", quote(s))
}

// address is a host and port to listen on.
type address struct {
	to  *string
	off bool // may be [Off]
}

func (v address) String() string { return shown(v.to) }

func (v address) Set(s string) error {
	if v.off && s == Off {
		*v.to = s
		return nil
	}
	_, port, err := net.SplitHostPort(s)
	if err != nil {
		return fmt.Errorf("%s is not an address such as 127.0.0.1:8787", quote(s))
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return fmt.Errorf("%s has no port from 0 to 65535", quote(s))
	}
	*v.to = s
	return nil
}

// envName is the name of an environment variable that holds a key. A value that
// is no name is not shown: it may be the key itself, put in the wrong place.
type envName string

func (v *envName) String() string { return string(*v) }

func (v *envName) Set(s string) error {
	for i, r := range s {
		letter := r == '_' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
		if !letter && (i == 0 || r < '0' || r > '9') {
			return errors.New("is not the name of an environment variable (the key itself does not belong here)")
		}
	}
	*v = envName(s)
	return nil
}

// baseURL is the address of an upstream. It may hold a password, so nothing of
// it is ever shown in an error, and the causes that package url gives are not
// either.
type baseURL struct{ to **url.URL }

func (v baseURL) String() string {
	if v.to == nil || *v.to == nil {
		return ""
	}
	return Redact(*v.to)
}

func (v baseURL) Set(s string) error {
	u, err := url.Parse(s)
	switch {
	case err != nil:
		return errors.New("is not a URL (it is not shown, as it may hold a password)")
	case u.Scheme != "http" && u.Scheme != "https":
		return errors.New("is not an http:// or https:// URL")
	case u.Hostname() == "":
		return errors.New("is a URL without a host")
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return errors.New("is a URL with a query or a fragment, which a base URL cannot have")
	}
	*v.to = u
	return nil
}

// Redact returns u as text, fit for logs: without its user and password.
func Redact(u *url.URL) string {
	c := *u
	if c.User != nil {
		c.User = url.User("redacted")
	}
	return c.String()
}

// quote shows a wrong value, cut if it is long.
func quote(s string) string {
	const most = 60
	if len(s) > most {
		return strconv.Quote(s[:most]) + "..."
	}
	return strconv.Quote(s)
}

// shown prints the value behind p. Package flag calls String on zero values,
// so p may be nil.
func shown[T any](p *T) string {
	if p == nil {
		return ""
	}
	return fmt.Sprint(*p)
}
