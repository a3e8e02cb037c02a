package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"syscall"
	"time"

	"turngate/cmd/turngate/config"
	"turngate/proxy"
	"turngate/proxy/tracing"
	"turngate/replay"
)

const (
	// headerTimeout limits how slowly a client may send a request's head (O4).
	headerTimeout = 10 * time.Second
	// keepAlive is how long a connection may wait for its next request.
	keepAlive = 2 * time.Minute
	// maxHeaderBytes limits a request's head. Codex sends some 2 kB.
	maxHeaderBytes = 256 << 10
	// closeGrace is what connections get to take their last bytes when the
	// turns have ended.
	closeGrace = 5 * time.Second
)

// server is a running "turngate serve". Its methods are for one goroutine.
type server struct {
	log      *slog.Logger
	level    *slog.LevelVar
	load     func() (*config.Settings, *certificate, error)
	settings *config.Settings
	proxy    *proxy.Proxy
	store    replay.Store      // nil: no upstream needs one
	traces   *tracing.Exporter // nil: turns are not traced
	cert     *certificates

	clients endpoint
	admin   endpoint // without a listener if off
}

// endpoint is a listener and the server of its connections.
type endpoint struct {
	listener net.Listener
	http     *http.Server
	tls      bool
}

// url returns the address at which e can be reached.
func (e *endpoint) url() string {
	scheme := "http"
	if e.tls {
		scheme = "https"
	}
	return scheme + "://" + e.listener.Addr().String()
}

// serve accepts connections until the endpoint is closed.
func (e *endpoint) serve() error {
	var err error
	if e.tls {
		err = e.http.ServeTLS(e.listener, "", "")
	} else {
		err = e.http.Serve(e.listener)
	}
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// listen opens the listeners.
func (s *server) listen(ctx context.Context) error {
	var err error
	if s.clients, err = s.open(ctx, s.settings.Listen, s.proxy.Handler()); err != nil {
		return err
	}
	s.clients.listener = s.proxy.Listener(s.clients.listener)
	s.clients.http.ConnContext = proxy.ConnContext
	if s.cert.current.Load() != nil {
		s.clients.tls = true
		s.clients.http.TLSConfig = s.cert.tlsConfig()
	}
	if s.settings.AdminListen == config.Off {
		return nil
	}
	if s.admin, err = s.open(ctx, s.settings.AdminListen, requireKey(s.proxy.AdminHandler(), s.settings.AdminKey)); err != nil {
		return errors.Join(err, s.clients.listener.Close())
	}
	return nil
}

func (s *server) open(ctx context.Context, addr string, h http.Handler) (endpoint, error) {
	var lc net.ListenConfig
	ln, err := lc.Listen(ctx, "tcp", addr)
	if err != nil {
		return endpoint{}, err
	}
	return endpoint{listener: ln, http: newHTTPServer(h, s.log)}, nil
}

// newHTTPServer returns a server with the limits of rule O4. There is no limit
// on the time of a whole answer: a stream may run for hours.
func newHTTPServer(h http.Handler, log *slog.Logger) *http.Server {
	return &http.Server{
		Handler:           h,
		ReadHeaderTimeout: headerTimeout,
		IdleTimeout:       keepAlive,
		MaxHeaderBytes:    maxHeaderBytes,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}
}

// serve says that it is ready and runs until it is told to stop. It returns the
// exit code.
func (s *server) serve(ctx context.Context, signals <-chan os.Signal, stdout io.Writer) int {
	failed := make(chan error, 2)
	start := func(e *endpoint) {
		go func() {
			if err := e.serve(); err != nil {
				failed <- err
			}
		}()
	}
	ready := "turngate listening on " + s.clients.url()
	start(&s.clients)
	if s.admin.listener != nil {
		start(&s.admin)
		ready += " (admin " + s.admin.url() + ")"
	}
	s.proxy.SetReady(true)
	fmt.Fprintln(stdout, ready)

	for {
		select {
		case <-ctx.Done():
			return s.drain(signals)
		case err := <-failed:
			s.log.Error("the server failed", "error", err)
			s.drain(signals)
			return exitFailed
		case sig := <-signals:
			if sig == syscall.SIGHUP {
				s.reload()
				continue
			}
			s.log.Info("stopping", "signal", sig.String(), "timeout", s.settings.ShutdownTimeout.String())
			return s.drain(signals)
		}
	}
}

// drain stops accepting, lets running turns finish up to the limit, and returns
// the exit code. The admin listener stays until the end, to show that turngate
// is not ready (rule O3). A second signal ends at once.
func (s *server) drain(signals <-chan os.Signal) int {
	defer s.close()
	s.proxy.SetReady(false)

	limit, cancel := context.WithTimeout(context.Background(), s.settings.ShutdownTimeout+closeGrace)
	defer cancel()
	turns, cancelTurns := context.WithTimeout(limit, s.settings.ShutdownTimeout)
	defer cancelTurns()

	gone := make(chan error, 2)
	go func() { gone <- s.clients.http.Shutdown(limit) }()
	go func() { gone <- s.proxy.Shutdown(turns) }()
	for waiting := 2; waiting > 0; {
		select {
		case err := <-gone:
			waiting--
			if err != nil {
				s.log.Warn("not all ended by themselves", "error", err)
			}
		case <-limit.Done():
			s.log.Warn("not all ended by themselves", "error", limit.Err())
			return exitOK
		case sig := <-signals:
			if sig != syscall.SIGHUP {
				s.log.Warn("stopped at once", "signal", sig.String())
				return exitFailed
			}
		}
	}
	s.log.Info("stopped")
	return exitOK
}

// close ends whatever still runs.
func (s *server) close() {
	for _, e := range []endpoint{s.clients, s.admin} {
		if e.http != nil {
			// What an error could tell was told by serve and drain.
			_ = e.http.Close()
		}
	}
}
