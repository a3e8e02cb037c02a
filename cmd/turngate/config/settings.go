// Package config reads the settings of turngate: flags, environment variables
// and a YAML file, in that order of precedence.
//
// One table (options.go) says what can be set; flags, environment names, keys
// of the file, help texts and the reference in docs/ are all made from it. A
// second one (upstreamkeys.go) does the same for the entries of the file's
// list of upstreams. Adding a setting is adding a line there.
//
// Every source is read to its end before anything is reported, so that an
// operator sees all faults of a configuration at once.
package config

import (
	"log/slog"
	"net/http"
	"net/url"
	"time"

	"turngate/guard"
	"turngate/proxy"
)

// Settings are the values of all options, checked and with defaults filled in.
type Settings struct {
	ConfigFile  string // path of the YAML file; "": none
	CheckConfig bool   // check the configuration and end

	Listen           string // address for clients
	AdminListen      string // address for operators; [Off]: none
	AdminKeyEnv      string // variable with the key that operators must send; "": none
	AdminKey         string // the key itself
	AdminAllowRemote bool   // AdminListen may be reached by others without a key

	// Upstreams is the file's list, or the one upstream of the flags, with
	// every "auto" resolved and keys read from the environment.
	Upstreams []proxy.Upstream

	// Defaults for upstreams that do not say otherwise, as they were set.
	// Upstreams above holds what came of them.
	Upstream       *url.URL
	UpstreamKeyEnv string
	State          string // auto, replay or native
	Undeclared     string // auto or a guard.Mode
	Arguments      guard.Mode
	Approvals      guard.Mode

	StoreURL      string // where responses are kept
	StoreTTL      time.Duration
	StoreMaxBytes int64

	HeaderTimeout   time.Duration
	IdleTimeout     time.Duration
	MissingTerminal string // fail or pass
	Heartbeat       time.Duration
	DrainTimeout    time.Duration
	ShutdownTimeout time.Duration

	MaxRequestBytes int64
	MaxEventBytes   int64
	MaxStreams      int

	Record         string // folder for recorded turns; "": none
	RecordMaxBytes int64

	TracesURL    string      // where the collector takes spans; "": turns are not traced
	TracesHeader http.Header // goes there with them

	LogLevel  slog.Level
	LogFormat string // json or text; "": by where the log goes

	TLSCert    string
	TLSKey     string
	ClientKeys string // file of keys that clients must send; "": none

	// Clients are the keys in that file.
	Clients []proxy.ClientKey

	// Warnings is what should not be as it is, but can be lived with.
	Warnings Faults
}

// Off is the value of an address option that turns a listener off.
const Off = "off"

// Proxy returns the part of s that the proxy needs. Store, Logger and Version are
// for the caller to set.
func (s *Settings) Proxy() proxy.Config {
	return proxy.Config{
		Upstreams:       s.Upstreams,
		HeaderTimeout:   s.HeaderTimeout,
		Heartbeat:       s.Heartbeat,
		DrainTimeout:    s.DrainTimeout,
		MaxRequestBytes: s.MaxRequestBytes,
		MaxEventBytes:   s.MaxEventBytes,
		MaxStreams:      s.MaxStreams,
		Record:          s.Record,
		RecordMaxBytes:  s.RecordMaxBytes,
		ClientKeys:      s.Clients,
	}
}

// ReplaysAny reports whether turngate keeps responses for at least one
// upstream, and so needs its store.
func (s *Settings) ReplaysAny() bool {
	for i := range s.Upstreams {
		if s.Upstreams[i].Replay {
			return true
		}
	}
	return false
}
