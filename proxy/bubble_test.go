package proxy

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"net/url"
	"sync"
	"testing"
	"testing/synctest"

	"turngate/proxy/mock"
)

// withRig runs a test of one turn over sockets or, where it is about time that
// passes, in a bubble: there a limit is exact and costs nothing.
func withRig(t *testing.T, turn mock.Turn, test func(*rig)) {
	if turn.Fault != mock.Stall {
		test(newRig(t, nil, turn))
		return
	}
	synctest.Test(t, func(t *testing.T) { test(newBubble(t, func(c *Config) { c.Heartbeat = 0 }, mock.New(turn))) })
}

// pipes is a listener whose connections are pipes in memory. Unlike sockets,
// those can be waited for inside a synctest bubble, where time is not real.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func newPipes() *pipes { return &pipes{conns: make(chan net.Conn), closed: make(chan struct{})} }

func (l *pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	near, far := net.Pipe()
	select {
	case l.conns <- far:
		return near, nil
	case <-l.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (l *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *pipes) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

func (l *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipes", Net: "pipe"} }

// newBubble starts a rig for a synctest bubble: a real proxy between a real
// client and an upstream, all connected by pipes.
func newBubble(t *testing.T, configure func(*Config), upstream http.Handler) *rig {
	t.Helper()
	base := &url.URL{Scheme: "http", Host: "upstream.test", Path: "/v1"}
	r := &rig{T: t, log: &bytes.Buffer{}, base: "http://proxy.test/v1"}
	r.upstream, _ = upstream.(*mock.Upstream)
	cfg := testConfig(base, r.log)
	if configure != nil {
		configure(&cfg)
	}
	var err error
	if r.proxy, err = New(cfg); err != nil {
		t.Fatal(err)
	}
	toUpstream, toProxy := newPipes(), newPipes()
	r.proxy.settings.Load().routes[0].transport.DialContext = toUpstream.dial
	r.client = &http.Client{Transport: &http.Transport{DialContext: toProxy.dial, DisableCompression: true}}
	servers := []*http.Server{{Handler: r.proxy.Handler()}, {Handler: upstream}}
	go servers[0].Serve(toProxy)
	go servers[1].Serve(toUpstream)
	stopped := false
	r.stop = func() {
		if stopped {
			return
		}
		stopped = true
		r.client.CloseIdleConnections()
		if err := r.proxy.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
		for _, s := range servers {
			s.Close()
		}
	}
	t.Cleanup(r.stop) // still inside the bubble
	return r
}
