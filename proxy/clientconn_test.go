package proxy

import (
	"bytes"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"turngate/sse"
)

// connPair returns both ends of a connection, the near one as a Listener makes it.
func connPair(t *testing.T) (near *clientConn, far net.Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if far, err = net.Dial("tcp", l.Addr().String()); err != nil {
		t.Fatal(err)
	}
	c, err := (&listener{l, &sse.Buffers{}}).Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close(); far.Close() })
	return c.(*clientConn), far
}

// What is held back arrives in one piece and in order, whatever net/http writes
// around it.
func TestClientConnHolds(t *testing.T) {
	for name, tt := range map[string]struct {
		size   int // said beforehand
		writes []int
	}{
		"small":                   {100, []int{5, 100, 2}},
		"a chunk":                 {8000, []int{4096, 3900, 16}},
		"a head before the chunk": {8000, []int{4096, 4096, 3900, 16}},
		"a head of any size":      {5000, []int{100_000, 5000, 2}},
		"large":                   {500_000, []int{4096, 495_000, 1000}},
	} {
		near, far := connPair(t)
		var want []byte
		near.hold(tt.size)
		for i, n := range tt.writes {
			b := bytes.Repeat([]byte{byte('a' + i)}, n)
			want = append(want, b...)
			if m, err := near.Write(b); m != n || err != nil {
				t.Errorf("%s: wrote %d of %d, %v", name, m, n, err)
			}
		}
		if err := near.release(); err != nil {
			t.Error(name, err)
		}
		near.CloseWrite()
		if got, err := io.ReadAll(far); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %d bytes arrived of %d, %v", name, len(got), len(want), err)
		}
	}
}

// A client that is gone is noticed when what was held back is sent.
func TestClientConnReleaseFails(t *testing.T) {
	near, _ := connPair(t)
	near.hold(5000)
	near.TCPConn.Close()
	if _, err := near.Write(make([]byte, 5000)); err != nil {
		t.Error(err)
	}
	if near.release() == nil {
		t.Error("no error from a closed connection")
	}
	if near.held != nil || near.release() != nil {
		t.Error("something is still held")
	}
}

// Large batches arrive byte for byte, in the clear and under TLS.
func TestClientConnRelays(t *testing.T) {
	for _, secure := range []bool{false, true} {
		p := &Proxy{}
		var body []byte
		for i := range 200 {
			body = append(body, bytes.Repeat([]byte{byte('a' + i%26)}, i*97)...)
		}
		server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			c := clientConnOf(r)
			if (c == nil) != secure {
				t.Errorf("TLS %v: the connection is %v", secure, c)
			}
			for rest := body; len(rest) > 0; {
				n := min(len(rest), 7001)
				c.hold(n)
				w.Write(rest[:n])
				http.NewResponseController(w).Flush()
				if err := c.release(); err != nil {
					t.Error(err)
				}
				rest = rest[n:]
			}
		}))
		server.Listener = p.Listener(server.Listener)
		server.Config.ConnContext = ConnContext
		if secure {
			server.StartTLS()
		} else {
			server.Start()
		}
		client := server.Client()
		client.Transport.(*http.Transport).TLSClientConfig = &tls.Config{InsecureSkipVerify: true}
		resp, err := client.Get(server.URL)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || !bytes.Equal(got, body) {
			t.Errorf("TLS %v: %d bytes of %d, %v", secure, len(got), len(body), err)
		}
		client.CloseIdleConnections()
		server.Close()
	}
}
