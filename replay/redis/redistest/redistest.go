// Package redistest runs real redis-servers for tests: on free ports of the
// loopback, with a directory of the test's own, and gone when the test is.
package redistest

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// Server is one redis-server. It is for one goroutine.
type Server struct {
	Addr string // host:port, the same after a restart

	dir  string
	args []string
	cmd  *exec.Cmd
}

// URL returns the URL of the server.
func (s *Server) URL() string { return "redis://" + s.Addr + "/0" }

// Start starts a server that keeps its data in an append-only file, written on
// every command. Without redis-server in PATH the test is skipped, or fails if
// the environment says TURNGATE_REQUIRE_REDIS=1. More arguments of redis-server
// may be given; they win.
func Start(t testing.TB, args ...string) *Server {
	t.Helper()
	return start(t, append([]string{"--appendonly", "yes", "--appendfsync", "always"}, args...)...)
}

// StartCluster starts a cluster of three masters and returns its URL and its
// servers.
func StartCluster(t testing.TB) (url string, nodes []*Server) {
	t.Helper()
	var addrs []string
	for range 3 {
		s := start(t, "--cluster-enabled", "yes", "--cluster-port", freePort(t), "--cluster-node-timeout", "5000")
		nodes, addrs = append(nodes, s), append(addrs, s.Addr)
	}
	first := strings.Split(nodes[0].Addr, ":")
	for i, s := range nodes {
		s.do(t, "CLUSTER", "ADDSLOTSRANGE", i*16384/3, (i+1)*16384/3-1)
		s.do(t, "CLUSTER", "SET-CONFIG-EPOCH", i+1)
		if i > 0 {
			s.do(t, "CLUSTER", "MEET", first[0], first[1], nodes[0].arg("--cluster-port"))
		}
	}
	for _, s := range nodes {
		s.await(t, "cluster to form", func(ctx context.Context, c *redis.Client) bool {
			info, err := c.ClusterInfo(ctx).Result()
			return err == nil && strings.Contains(info, "cluster_state:ok") && strings.Contains(info, "cluster_known_nodes:3")
		})
	}
	return "redis+cluster://" + strings.Join(addrs, ","), nodes
}

func start(t testing.TB, args ...string) *Server {
	t.Helper()
	if _, err := exec.LookPath("redis-server"); err != nil {
		if os.Getenv("TURNGATE_REQUIRE_REDIS") == "1" {
			t.Fatal("redis-server is not in PATH, and TURNGATE_REQUIRE_REDIS=1")
		}
		t.Skip("redis-server is not in PATH")
	}
	port := freePort(t)
	dir := t.TempDir()
	s := &Server{Addr: "127.0.0.1:" + port, dir: dir}
	s.args = append([]string{"--port", port, "--bind", "127.0.0.1", "--dir", dir, "--save", "", "--daemonize", "no"}, args...)
	t.Cleanup(func() { s.Stop(t) })
	s.Restart(t)
	return s
}

func freePort(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
}

func (s *Server) arg(name string) string {
	for i, a := range s.args {
		if a == name {
			return s.args[i+1]
		}
	}
	return ""
}

// Stop kills the server, if it runs, and waits for it.
func (s *Server) Stop(t testing.TB) {
	t.Helper()
	if s.cmd == nil {
		return
	}
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait() // killed: the error is what was asked for
	s.cmd = nil
}

// Restart starts the server, which must not run, on its old port and data, and
// waits until it answers.
func (s *Server) Restart(t testing.TB) {
	t.Helper()
	log, err := os.Create(filepath.Join(s.dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	s.cmd = exec.Command("redis-server", s.args...)
	s.cmd.Stdout, s.cmd.Stderr = log, log
	if err := s.cmd.Start(); err != nil {
		s.cmd = nil
		t.Fatal(err)
	}
	s.await(t, "redis-server to answer", func(ctx context.Context, c *redis.Client) bool { return c.Ping(ctx).Err() == nil })
}

// Client returns a plain client of the server, closed at the end of the test.
func (s *Server) Client(t testing.TB) *redis.Client {
	t.Helper()
	c := redis.NewClient(&redis.Options{Addr: s.Addr, MaxRetries: -1})
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func (s *Server) do(t testing.TB, args ...any) {
	t.Helper()
	c := redis.NewClient(&redis.Options{Addr: s.Addr})
	defer c.Close()
	if err := c.Do(context.Background(), args...).Err(); err != nil {
		t.Fatalf("%v: %v", args, err)
	}
}

// await asks ready until it says yes; it gives up after half a minute.
func (s *Server) await(t testing.TB, what string, ready func(context.Context, *redis.Client) bool) {
	t.Helper()
	c := redis.NewClient(&redis.Options{Addr: s.Addr, MaxRetries: -1})
	defer c.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	poll := time.NewTicker(10 * time.Millisecond)
	defer poll.Stop()
	for !ready(ctx, c) {
		select {
		case <-ctx.Done():
			t.Fatalf("waited in vain for %s\n%s", what, s.log())
		case <-poll.C:
		}
	}
}

func (s *Server) log() string {
	f, err := os.Open(filepath.Join(s.dir, "log"))
	if err != nil {
		return fmt.Sprint(err)
	}
	defer f.Close()
	b, _ := io.ReadAll(io.LimitReader(f, 10_000))
	return string(b)
}
