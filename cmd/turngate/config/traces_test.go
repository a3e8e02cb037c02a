package config

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestTracesURL: who says where spans go, and who wins.
func TestTracesURL(t *testing.T) {
	file := filepath.Join(t.TempDir(), "turngate.yaml")
	if err := os.WriteFile(file, []byte("otlp_endpoint: http://file.example\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	const base, traces = "OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"
	for name, tt := range map[string]struct {
		args []string
		env  map[string]string
		want string // "fault": the start is stopped
	}{
		"nothing":            {nil, nil, ""},
		"flag":               {[]string{"--otlp-endpoint", "https://flag.example:4318"}, nil, "https://flag.example:4318/v1/traces"},
		"path":               {[]string{"--otlp-endpoint", "http://flag.example/otlp/"}, nil, "http://flag.example/otlp/v1/traces"},
		"file":               {[]string{"--config", file}, nil, "http://file.example/v1/traces"},
		"common":             {nil, map[string]string{base: "http://otel.example"}, "http://otel.example/v1/traces"},
		"common, for traces": {nil, map[string]string{base: "http://x.example", traces: "http://otel.example/spans"}, "http://otel.example/spans"},
		"common over file":   {[]string{"--config", file}, map[string]string{base: "http://otel.example"}, "http://otel.example/v1/traces"},
		"own over common":    {nil, map[string]string{base: "http://otel.example", "TURNGATE_OTLP_ENDPOINT": "http://own.example"}, "http://own.example/v1/traces"},
		"off":                {[]string{"--otlp-endpoint", "off"}, map[string]string{base: "http://otel.example"}, ""},
		"disabled":           {nil, map[string]string{base: "http://otel.example", "OTEL_SDK_DISABLED": "TRUE"}, ""},
		"no traces":          {nil, map[string]string{base: "http://otel.example", "OTEL_TRACES_EXPORTER": "none"}, ""},
		"no URL":             {[]string{"--otlp-endpoint", "localhost:4318"}, nil, "fault"},
		"password":           {[]string{"--otlp-endpoint", "http://a:b@h.example"}, nil, "fault"},
		"common, no URL":     {nil, map[string]string{base: "localhost:4318"}, "fault"},
		"traces, no URL":     {nil, map[string]string{traces: "grpc://h.example"}, "fault"},
	} {
		env := map[string]string{"HOME": "/home/u"}
		maps.Copy(env, tt.env)
		s, err := Load(tt.args, lookup(env))
		got := "fault"
		if err == nil {
			got = s.TracesURL
		}
		if got != tt.want {
			t.Errorf("%s: %q (%v), want %q", name, got, err, tt.want)
		}
	}
}

// TestTracesHeader: the variables' headers are read, and never shown.
func TestTracesHeader(t *testing.T) {
	const all, traces = "OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_TRACES_HEADERS"
	for name, tt := range map[string]struct {
		env  map[string]string
		want string
	}{
		"none":       {nil, ""},
		"two":        {map[string]string{all: "api-key=sesame, x-team = a%20b,"}, "Api-Key: sesame\r\nX-Team: a b\r\n"},
		"for traces": {map[string]string{all: "a=1", traces: "b=2"}, "B: 2\r\n"},
	} {
		env := map[string]string{"HOME": "/home/u"}
		maps.Copy(env, tt.env)
		s, err := Load(nil, lookup(env))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var got strings.Builder
		if err := s.TracesHeader.Write(&got); err != nil {
			t.Fatal(err)
		}
		if got.String() != tt.want {
			t.Errorf("%s: %q, want %q", name, got.String(), tt.want)
		}
	}
	for _, wrong := range []string{"sesame", "a b=sesame", "a=%zzsesame", "a=sesame%0a"} {
		_, err := Load(nil, lookup(map[string]string{"HOME": "/home/u", all: wrong}))
		if err == nil || strings.Contains(err.Error(), "sesame") || !strings.Contains(err.Error(), all) {
			t.Errorf("%q: %v", wrong, err)
		}
	}
}
