package proxy

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math"
	"net"
	"net/url"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
	"time"

	"turngate/guard"
	"turngate/proxy/mock"
)

// lockstep is a proxy between an upstream and a client that the test plays by
// itself, on two real connections, in one goroutine and without an allocation:
// what is allocated meanwhile is the proxy's. An event is sent when the one before
// has come through, so each is one read and one write of the proxy's.
type lockstep struct {
	*rig
	listener *net.TCPListener
	request  []byte
	chunked  bool // the answer to the client
	up, down *peer
}

// peer is one of the connections.
type peer struct {
	net.Conn
	*bufio.Reader
}

func newLockstep(t *testing.T, version, request string, configure func(*Config)) *lockstep {
	t.Helper()
	listener, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	l := &lockstep{listener: listener, chunked: version == "HTTP/1.1"}
	l.request = []byte("POST /v1/responses " + version + "\r\nHost: proxy\r\nContent-Type: application/json\r\n" +
		"Content-Length: " + strconv.Itoa(len(request)) + "\r\n\r\n" + request)
	l.rig = newReplayRig(t, func(c *Config) {
		c.Upstreams[0].BaseURL = &url.URL{Scheme: "http", Host: listener.Addr().String(), Path: "/v1"}
		c.Logger = nil
		configure(c)
	})
	host := strings.TrimSuffix(strings.TrimPrefix(l.base, "http://"), "/v1")
	conn, err := net.Dial("tcp", host)
	if err != nil {
		t.Fatal(err)
	}
	l.down = l.peer(conn)
	return l
}

// peer bounds a connection to the test.
func (l *lockstep) peer(conn net.Conn) *peer {
	l.Helper()
	l.Cleanup(func() { conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		l.Fatal(err)
	}
	return &peer{conn, bufio.NewReaderSize(conn, 16<<10)}
}

// begin sends the request, and the head of its answer together with the first
// event: until that, the proxy keeps the head.
func (l *lockstep) begin(first []byte) {
	l.send(l.down, l.request)
	if l.up == nil {
		conn, err := l.listener.Accept()
		if err != nil {
			l.Fatal(err)
		}
		l.up = l.peer(conn)
	}
	if _, err := l.up.Discard(l.head(l.up)); err != nil {
		l.Fatal(err)
	}
	l.send(l.up, answerHead)
	l.send(l.up, first)
	l.head(l.down)
	l.want(first)
}

var answerHead = []byte("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")

// head reads a head to its end and returns the length that it announces.
func (l *lockstep) head(p *peer) (length int) {
	for {
		line, err := p.ReadSlice('\n')
		if err != nil {
			l.Fatal(err)
		}
		if v, ok := bytes.CutPrefix(line, []byte("Content-Length: ")); ok {
			if length, err = strconv.Atoi(string(bytes.TrimSpace(v))); err != nil {
				l.Fatal(err)
			}
		}
		if len(line) == 2 {
			return length
		}
	}
}

func (l *lockstep) send(p *peer, b []byte) {
	if _, err := p.Write(b); err != nil {
		l.Fatal(err)
	}
}

// relay sends events, each as a chunk, and wants each from the proxy.
func (l *lockstep) relay(chunks ...[]byte) {
	for _, c := range chunks {
		l.send(l.up, c)
		l.want(c)
	}
}

// end ends the answer.
func (l *lockstep) end() {
	last := []byte("0\r\n\r\n")
	l.send(l.up, last)
	if l.chunked {
		l.want(last)
	} else if rest, err := io.ReadAll(l.down.Reader); err != nil || len(rest) > 0 {
		l.Fatalf("behind the end: %q, %v", rest, err)
	}
}

// want reads an event from the proxy.
func (l *lockstep) want(chunk []byte) {
	if !l.chunked {
		chunk = chunk[bytes.IndexByte(chunk, '\n')+1 : len(chunk)-2]
	}
	got, err := l.down.Peek(len(chunk))
	if err != nil || !bytes.Equal(got, chunk) {
		l.Fatalf("got %q, error %v, want %q", got, err, chunk)
	}
	if _, err := l.down.Discard(len(chunk)); err != nil {
		l.Fatal(err)
	}
}

// chunksOf are the events of a stream as chunks of HTTP/1.1.
func chunksOf(s *mock.Stream) [][]byte {
	var all [][]byte
	for e := range bytes.SplitAfterSeq(s.Bytes(), []byte("\n\n")) {
		if len(e) > 0 {
			all = append(all, fmt.Appendf(nil, "%x\r\n%s\r\n", len(e), e))
		}
	}
	return all
}

// mallocs is how many objects the process allocates at least in one of several runs
// of f. What goes on beside them once, such as the end of sending a request, falls
// into one. There is one processor and no garbage collection meanwhile: another
// processor has pools of its own, and a collection empties them.
func mallocs(runs int, f func(run int)) uint64 {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	runtime.GC()
	least := uint64(math.MaxUint64)
	var before, after runtime.MemStats
	for run := range runs {
		runtime.ReadMemStats(&before)
		f(run)
		runtime.ReadMemStats(&after)
		least = min(least, after.Mallocs-before.Mallocs)
	}
	return least
}

// TestRelayedDeltasDoNotAllocate: once a turn runs, a thousand more deltas allocate
// nothing, from the upstream's socket to the client's. (net/http allocates eight
// bytes to write the size of a chunk of more than 255, so longer deltas go to a
// client that speaks HTTP/1.0.)
func TestRelayedDeltasDoNotAllocate(t *testing.T) {
	if raceDetector {
		t.Skip("sync.Pool drops at random under the race detector")
	}
	const runs, counted = 4, 1000
	text := func(delta string) func(*mock.Stream) { return func(s *mock.Stream) { s.TextDelta(0, delta) } }
	args := func(delta string) func(*mock.Stream) { return func(s *mock.Stream) { s.Args(1, delta) } }
	for _, tt := range []struct {
		name, version string
		delta         func(*mock.Stream)
		configure     func(*Config)
	}{
		{"text", "HTTP/1.1", text(" word"), func(*Config) {}},
		{"text, long", "HTTP/1.0", text(" word" + strings.Repeat(" and more", 50)), func(*Config) {}},
		{"text, escapes", "HTTP/1.1", text("\n\t\"é\""), func(*Config) {}},
		{"arguments", "HTTP/1.1", args(`{"pa`), func(c *Config) { c.Upstreams[0].Arguments = guard.Refuse }},
		{"arguments, long", "HTTP/1.0", args(strings.Repeat(`"a\"`, 100)), func(c *Config) { c.Upstreams[0].Arguments = guard.Refuse }},
		{"no state kept", "HTTP/1.1", text(" word"), func(c *Config) { c.Upstreams[0].Replay = false }},
		{"no guard", "HTTP/1.1", text(" word"), func(c *Config) { c.Upstreams[0].Undeclared = guard.Off }},
		{"no limit on silence", "HTTP/1.1", text(" word"), func(c *Config) { c.Upstreams[0].IdleTimeout = 0 }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := new(mock.Stream).Created().Added(0, mock.Message("")).Added(1, mock.FC("read_file", ""))
			for range runs * counted {
				tt.delta(s)
			}
			l := newLockstep(t, tt.version, string(requestBody(t, "one-tool", true)), tt.configure)
			events := chunksOf(s.Done(0, mock.Message("done")).Completed())
			l.begin(events[0])
			l.relay(events[1:3]...)
			events = events[3:]
			n := mallocs(runs, func(run int) { l.relay(events[run*counted : (run+1)*counted]...) })
			if n != 0 {
				t.Errorf("%d allocations for %d deltas, want 0", n, counted)
			}
			l.relay(events[runs*counted:]...)
			l.end()
			if got := l.lastTurn(); got.Outcome != "completed" {
				t.Errorf("the turn ended as %s", got.Outcome)
			}
		})
	}
}

// TestShortTurnAllocations holds a whole turn with a call, on connections that are
// there, to the objects that it allocates today. net/http allocates most of them, so
// the number is that of one version of Go.
func TestShortTurnAllocations(t *testing.T) {
	if raceDetector {
		t.Skip("sync.Pool drops at random under the race detector")
	}
	const version, most = "go1.26", 204
	if v := runtime.Version(); v != version && !strings.HasPrefix(v, version+".") {
		t.Skipf("the number is that of %s, this is %s", version, v)
	}
	events := chunksOf(new(mock.Stream).Created().Text("a").Call(1, mock.FC("read_file", `{"path":"a.txt"}`)).Completed())
	l := newLockstep(t, "HTTP/1.1", string(requestBody(t, "one-tool", true)), func(c *Config) { c.Upstreams[0].Replay = false })
	n := mallocs(20, func(int) {
		l.begin(events[0])
		l.relay(events[1:]...)
		l.end()
	})
	if n > most {
		t.Errorf("a turn allocates %d objects, want %d at most; if that is worth it, or it is a new Go, change the number", n, most)
	}
}
