package config

import (
	"flag"
	"strings"
)

// Option is one line of the table: something that can be set.
type Option struct {
	Name    string // of the flag: "store-ttl"
	Arg     string // what stands for the value in help texts; "": a switch
	Default string // the value when nothing is set, in the form that is read
	Shown   string // what to show as default where Default does not tell
	Help    string // one sentence without a full stop at its end
	Where   Where  // in which forms it exists

	field func(*Settings) flag.Value // the field that it sets
}

// Where says in which forms an option exists. Every option is a flag.
type Where uint8

const (
	Everywhere Where = iota // flag, environment and file
	NotInFile               // flag and environment
	FlagOnly                // flag
)

// Env returns the name of the environment variable that sets the option.
func (o *Option) Env() string { return "TURNGATE_" + strings.ToUpper(o.Key()) }

// Key returns the name of the option in the file.
func (o *Option) Key() string { return strings.ReplaceAll(o.Name, "-", "_") }

// Options returns the table, in the order in which help texts show it.
func Options() []Option {
	return []Option{
		{Name: "config", Arg: "FILE", Where: NotInFile,
			Help:  "read this YAML file",
			field: func(s *Settings) flag.Value { return (*text)(&s.ConfigFile) }},
		{Name: "check-config", Where: FlagOnly,
			Help:  "check the configuration, say what is wrong with it, and end",
			field: func(s *Settings) flag.Value { return (*toggle)(&s.CheckConfig) }},

		{Name: "listen", Arg: "ADDR", Default: "127.0.0.1:8787",
			Help:  "where clients connect; port 0 picks a free one",
			field: func(s *Settings) flag.Value { return address{to: &s.Listen} }},
		{Name: "admin-listen", Arg: "ADDR", Default: "127.0.0.1:9787",
			Help:  "metrics, health, recent turns and tools, for operators; off disables it",
			field: func(s *Settings) flag.Value { return address{to: &s.AdminListen, off: true} }},
		{Name: "admin-key-env", Arg: "NAME", Shown: "no key is asked for",
			Help:  "environment variable with the key that operators must send; health checks need none",
			field: func(s *Settings) flag.Value { return (*envName)(&s.AdminKeyEnv) }},
		{Name: "admin-allow-remote",
			Help:  "let others than this machine reach the admin listener without a key",
			field: func(s *Settings) flag.Value { return (*toggle)(&s.AdminAllowRemote) }},

		{Name: "upstream", Arg: "URL", Default: "https://api.openai.com/v1", Where: NotInFile,
			Help:  "base URL of the only upstream; a file has a list of upstreams instead",
			field: func(s *Settings) flag.Value { return baseURL{&s.Upstream} }},
		{Name: "upstream-key-env", Arg: "NAME", Where: NotInFile, Shown: "the client's credentials are forwarded",
			Help:  "environment variable with the key to send to the only upstream in place of the client's credentials",
			field: func(s *Settings) flag.Value { return (*envName)(&s.UpstreamKeyEnv) }},
		{Name: "state", Arg: "MODE", Default: "auto",
			Help:  "who resolves previous_response_id: replay (turngate), native (the upstream) or auto: native for api.openai.com and chatgpt.com, else replay, because an upstream that ignores the id loses the history without a word",
			field: func(s *Settings) flag.Value { return choice{&s.State, states()} }},
		{Name: "undeclared", Arg: "MODE", Default: "auto",
			Help:  "calls that the request did not declare: refuse, report, off, or auto: off for api.openai.com and chatgpt.com with the client's own credentials, else refuse",
			field: func(s *Settings) flag.Value { return choice{&s.Undeclared, undeclaredModes()} }},
		{Name: "arguments", Arg: "MODE", Default: "report",
			Help:  "calls whose arguments do not fit the declared schema: refuse, report or off",
			field: func(s *Settings) flag.Value { return mode{&s.Arguments} }},
		{Name: "approvals", Arg: "MODE", Default: "refuse",
			Help:  "requests for approval of a call that is certain to fail: refuse, report or off",
			field: func(s *Settings) flag.Value { return mode{&s.Approvals} }},

		{Name: "store", Arg: "URL", Shown: "bolt: in the user's state directory",
			Help:  "where responses are kept: bolt:/abs/path, memory: (in quotes in a file), redis://host/db, rediss://host/db, or redis+cluster://h1:p,h2:p",
			field: func(s *Settings) flag.Value { return storeURL{&s.StoreURL} }},
		{Name: "store-ttl", Arg: "D", Default: "720h",
			Help:  "how long a response is kept, counted from the last turn of its conversation",
			field: func(s *Settings) flag.Value { return duration{to: &s.StoreTTL, positive: true} }},
		{Name: "store-max-bytes", Arg: "N", Default: "1GiB",
			Help:  "how large the store may get; the conversations that were continued least recently go first",
			field: func(s *Settings) flag.Value { return size{&s.StoreMaxBytes} }},

		{Name: "header-timeout", Arg: "D", Default: "10m",
			Help:  "how long to wait for the head of the upstream's response; 0: for ever",
			field: func(s *Settings) flag.Value { return duration{to: &s.HeaderTimeout} }},
		{Name: "idle-timeout", Arg: "D", Default: "5m",
			Help:  "how long an upstream may be silent within an answer; 0: for ever",
			field: func(s *Settings) flag.Value { return duration{to: &s.IdleTimeout} }},
		{Name: "missing-terminal", Arg: "fail|pass", Default: "fail",
			Help:  "a stream that ends without a terminal event: fail (the client gets response.failed) or pass",
			field: func(s *Settings) flag.Value { return choice{&s.MissingTerminal, ends()} }},
		{Name: "heartbeat", Arg: "D", Default: "15s",
			Help:  "silence after which the client of a stream gets a sign of life; 0: none",
			field: func(s *Settings) flag.Value { return duration{to: &s.Heartbeat} }},
		{Name: "drain-timeout", Arg: "D", Default: "2s",
			Help:  "how long to read on from the upstream when the client has its answer",
			field: func(s *Settings) flag.Value { return duration{to: &s.DrainTimeout} }},
		{Name: "shutdown-timeout", Arg: "D", Default: "30s",
			Help:  "how long running turns may go on after SIGTERM or SIGINT",
			field: func(s *Settings) flag.Value { return duration{to: &s.ShutdownTimeout} }},

		{Name: "max-request-bytes", Arg: "N", Default: "64MiB",
			Help:  "largest body of a request, after decoding",
			field: func(s *Settings) flag.Value { return size{&s.MaxRequestBytes} }},
		{Name: "max-event-bytes", Arg: "N", Default: "32MiB",
			Help:  "largest event of a stream, and largest answer in JSON",
			field: func(s *Settings) flag.Value { return size{&s.MaxEventBytes} }},
		{Name: "max-streams", Arg: "N", Default: "0",
			Help:  "turns at once, more get 503; 0: no limit",
			field: func(s *Settings) flag.Value { return count{&s.MaxStreams} }},

		{Name: "record", Arg: "DIR",
			Help:  "keep each turn in this folder, request, raw answer and verdict, as files that check and mock read; credentials are never kept",
			field: func(s *Settings) flag.Value { return (*text)(&s.Record) }},
		{Name: "record-max-bytes", Arg: "N", Default: "1GiB",
			Help:  "how large the recorded turns may get together; the oldest go first",
			field: func(s *Settings) flag.Value { return size{&s.RecordMaxBytes} }},
		{Name: "otlp-endpoint", Arg: "URL", Shown: "what OTEL_EXPORTER_OTLP_ENDPOINT says, else turns are not traced",
			Help:  "base URL of the OpenTelemetry collector (OTLP over HTTP) that gets a span of each turn; off: none does",
			field: func(s *Settings) flag.Value { return collector{&s.TracesURL} }},
		{Name: "log-level", Arg: "LEVEL", Default: "info",
			Help:  "debug, info, warn or error",
			field: func(s *Settings) flag.Value { return level{&s.LogLevel} }},
		{Name: "log-format", Arg: "json|text", Shown: "text on a terminal, else json",
			Help:  "form of the log on stderr",
			field: func(s *Settings) flag.Value { return choice{&s.LogFormat, []string{"json", "text"}} }},

		{Name: "tls-cert", Arg: "FILE",
			Help:  "serve clients over TLS with this certificate chain (PEM); needs --tls-key",
			field: func(s *Settings) flag.Value { return (*text)(&s.TLSCert) }},
		{Name: "tls-key", Arg: "FILE",
			Help:  "private key of --tls-cert (PEM)",
			field: func(s *Settings) flag.Value { return (*text)(&s.TLSKey) }},
		{Name: "client-keys", Arg: "FILE",
			Help:  "let only clients in that send one of the keys in this file, one name: key a line; no upstream gets the clients' credentials then",
			field: func(s *Settings) flag.Value { return (*text)(&s.ClientKeys) }},
	}
}

func states() []string          { return []string{"auto", "replay", "native"} }
func undeclaredModes() []string { return []string{"auto", "refuse", "report", "off"} }
func ends() []string            { return []string{"fail", "pass"} }
