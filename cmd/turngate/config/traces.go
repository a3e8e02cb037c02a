package config

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"unicode"
)

// collector is the base URL of an OpenTelemetry collector, or [Off]. What it
// sets is the URL for spans.
type collector struct{ to *string }

func (v collector) String() string { return shown(v.to) }

func (v collector) Set(s string) error {
	if s == Off {
		*v.to = ""
		return nil
	}
	u, err := collectorURL(s)
	if err != nil {
		return err
	}
	*v.to = u.JoinPath("v1", "traces").String()
	return nil
}

func collectorURL(s string) (*url.URL, error) {
	var u *url.URL
	if err := (baseURL{&u}).Set(s); err != nil {
		return nil, err
	}
	if u.User != nil {
		return nil, errors.New("is a URL with a user or password: credentials go into OTEL_EXPORTER_OTLP_HEADERS")
	}
	return u, nil
}

// applyOTel reads the variables that programs with OpenTelemetry have in
// common. Those of turngate's own, and flags, are read later and win.
func (l *loader) applyOTel() {
	l.collectorHeader()
	disabled, _ := l.env("OTEL_SDK_DISABLED")
	exporter, _ := l.env("OTEL_TRACES_EXPORTER")
	if strings.EqualFold(disabled, "true") || exporter == "none" {
		return
	}
	const traces, base = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"
	if s, ok := l.env(traces); ok {
		u, err := collectorURL(s)
		if err != nil {
			l.faults.add(traces, "%v", err)
			return
		}
		l.settings.TracesURL = u.String()
	} else if s, ok := l.env(base); ok {
		if err := (collector{&l.settings.TracesURL}).Set(s); err != nil {
			l.faults.add(base, "%v", err)
		}
	}
}

// collectorHeader reads what goes to the collector with each request:
// "name=value,...", with the value in percent encoding. It may be a key, so
// faults do not show it.
func (l *loader) collectorHeader() {
	name := "OTEL_EXPORTER_OTLP_TRACES_HEADERS"
	list, ok := l.env(name)
	if !ok {
		name = "OTEL_EXPORTER_OTLP_HEADERS"
		list, _ = l.env(name)
	}
	h := http.Header{}
	for pair := range strings.SplitSeq(list, ",") {
		if strings.TrimSpace(pair) == "" {
			continue
		}
		key, value, ok := strings.Cut(pair, "=")
		value, err := url.PathUnescape(strings.TrimSpace(value))
		key = strings.TrimSpace(key)
		if !ok || err != nil || key == "" || strings.ContainsFunc(key, notInName) || strings.ContainsFunc(value, unicode.IsControl) {
			l.faults.add(name, "is not a list name=value,name=value of headers")
			return
		}
		h.Set(key, value)
	}
	l.settings.TracesHeader = h
}

func notInName(r rune) bool { return r <= ' ' || r == ':' || r > '~' }
