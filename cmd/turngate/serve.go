package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"

	"turngate/cmd/turngate/config"
	"turngate/guard"
	"turngate/proxy"
	"turngate/replay"
)

const serveUsage = `usage: turngate serve [flags]

Runs the proxy. Point a client's base URL at http://ADDR/v1. Each flag --a-b is
also the environment variable TURNGATE_A_B and, but for those about a single
upstream, a key a_b of the file that --config names; a flag wins over the
environment, the environment over the file.

SIGTERM and SIGINT let running turns finish, a second one ends at once; SIGHUP
reads the configuration again.

flags:
`

// runServe is the command "turngate serve". It serves until ctx ends or a
// signal tells it to stop.
func runServe(ctx context.Context, args []string, lookup func(string) (string, bool), stdout, stderr io.Writer) int {
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(signals)
	return serveUntil(ctx, signals, args, lookup, stdout, stderr)
}

// serveUntil is runServe over given signals.
func serveUntil(ctx context.Context, signals <-chan os.Signal, args []string, lookup func(string) (string, bool), stdout, stderr io.Writer) int {
	load := func() (*config.Settings, *certificate, error) { return loadServe(args, lookup) }
	settings, cert, err := load()
	if errors.Is(err, flag.ErrHelp) {
		fmt.Fprint(stdout, serveUsage)
		config.WriteOptions(stdout)
		return exitOK
	}
	if err != nil {
		fmt.Fprintf(stderr, "turngate serve: wrong configuration:\n  %s\n", strings.ReplaceAll(err.Error(), "\n", "\n  "))
		return exitUsage
	}
	if settings.CheckConfig {
		for _, w := range settings.Warnings {
			fmt.Fprintf(stderr, "turngate serve: %s: %s\n", w.Where, w.Message)
		}
		fmt.Fprintln(stdout, "the configuration is good")
		return exitOK
	}

	level := new(slog.LevelVar)
	level.Set(settings.LogLevel)
	log := newLogger(stderr, settings.LogFormat, level)

	store, err := openStore(settings, log)
	if err != nil {
		fmt.Fprintf(stderr, "turngate serve: %v\n", err)
		return exitFailed
	}
	s := &server{
		log:      log,
		level:    level,
		load:     load,
		settings: settings,
		store:    store,
		cert:     newCertificates(cert),
	}
	defer s.closeStore()
	if s.traces, err = openTraces(ctx, settings, log); err != nil {
		fmt.Fprintf(stderr, "turngate serve: %v\n", err)
		return exitFailed
	}
	defer s.closeTraces()
	if s.proxy, err = proxy.New(s.configure(settings)); err != nil {
		fmt.Fprintf(stderr, "turngate serve: %v\n", err)
		return exitUsage
	}
	if err := s.listen(ctx); err != nil {
		fmt.Fprintf(stderr, "turngate serve: %v\n", errors.Join(err, s.proxy.Shutdown(ctx)))
		return exitFailed
	}
	logSettings(log, settings)
	return s.serve(ctx, signals, stdout)
}

// loadServe reads the settings and the files that they name.
func loadServe(args []string, lookup func(string) (string, bool)) (*config.Settings, *certificate, error) {
	settings, err := config.Load(args, lookup)
	if err != nil {
		return nil, nil, err
	}
	cert, faults := loadCertificate(settings.TLSCert, settings.TLSKey)
	if len(faults) > 0 {
		return nil, nil, faults
	}
	return settings, cert, nil
}

// proxyConfig returns what the settings say about the proxy.
func proxyConfig(s *config.Settings, log *slog.Logger, store replay.Store) proxy.Config {
	cfg := s.Proxy()
	cfg.Store = store
	cfg.Logger = log
	cfg.Version = buildOf(debug.ReadBuildInfo()).version
	return cfg
}

// logSettings says what should not be as it is, who is let in, and what each
// upstream is and what turngate does for it, as an "auto" does not show it (rule
// G9).
func logSettings(log *slog.Logger, s *config.Settings) {
	for _, w := range s.Warnings {
		log.Warn("the configuration is not good", "where", w.Where, "fault", w.Message)
	}
	if s.ClientKeys != "" {
		log.Info("clients need a key", "file", s.ClientKeys, "keys", len(s.Clients))
	}
	for i := range s.Upstreams {
		u := &s.Upstreams[i]
		state := "native"
		if u.Replay {
			state = "replay"
		}
		credentials := "the client's"
		switch {
		case u.InjectsKey():
			credentials = "turngate's"
		case s.ClientKeys != "":
			credentials = "none"
		}
		log.Info("upstream",
			"name", u.Name, "base_url", config.Redact(u.BaseURL), "models", u.Models,
			"state", state, "credentials", credentials, "undeclared", u.Undeclared.String(),
			"arguments", u.Arguments.String(), "approvals", u.Approvals.String())
		if u.Undeclared == guard.Off && proxy.OwnProtocol(u.BaseURL.Hostname()) && !u.InjectsKey() {
			log.Warn("undeclared calls are not looked for: this upstream speaks its own protocol with the client's own credentials; --undeclared refuse turns the guard on",
				"name", u.Name)
		}
	}
}
