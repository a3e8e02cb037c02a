package main

import (
	"errors"

	"turngate/cmd/turngate/config"
	"turngate/proxy"
)

// reload reads the configuration again (rule O3). Running turns keep what they
// started with. A configuration with a fault changes nothing.
func (s *server) reload() {
	next, cert, err := s.load()
	if err == nil && s.store == nil {
		// Once open, the store stays: what is in it can be asked for.
		s.store, err = openStore(next, s.log)
	}
	if err == nil {
		err = s.proxy.Reload(s.configure(next))
	}
	if err != nil {
		s.logUnchanged(err)
		return
	}
	if cert != nil && s.clients.tls {
		s.cert.current.Store(cert)
	}
	s.level.Set(next.LogLevel)
	for _, name := range needRestart(s.settings, next) {
		s.log.Warn("the new value takes effect with a restart only", "setting", name)
	}
	s.settings = next
	s.log.Info("configuration reloaded")
	logSettings(s.log, next)
}

// configure returns what the settings say about the proxy, with what stays open
// over every reload.
func (s *server) configure(settings *config.Settings) proxy.Config {
	cfg := proxyConfig(settings, s.log, s.store)
	cfg.Traces = s.traces
	return cfg
}

// logUnchanged says why a configuration was not taken, one line a fault.
func (s *server) logUnchanged(err error) {
	var faults config.Faults
	if !errors.As(err, &faults) {
		s.log.Error("configuration not changed", "error", err)
		return
	}
	for _, f := range faults {
		s.log.Error("configuration not changed", "where", f.Where, "fault", f.Message)
	}
}

// needRestart names the settings whose change a running server cannot follow.
func needRestart(old, next *config.Settings) []string {
	var names []string
	for _, c := range []struct {
		name    string
		changed bool
	}{
		{"listen", old.Listen != next.Listen},
		{"admin-listen", old.AdminListen != next.AdminListen},
		{"admin-key-env", old.AdminKeyEnv != next.AdminKeyEnv},
		{"store", old.StoreURL != next.StoreURL},
		{"store-ttl", old.StoreTTL != next.StoreTTL},
		{"store-max-bytes", old.StoreMaxBytes != next.StoreMaxBytes},
		{"otlp-endpoint", old.TracesURL != next.TracesURL},
		{"log-format", old.LogFormat != next.LogFormat},
		{"tls-cert", (old.TLSCert == "") != (next.TLSCert == "")},
	} {
		if c.changed {
			names = append(names, c.name)
		}
	}
	return names
}
