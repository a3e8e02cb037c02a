package proxy

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"turngate/proxy/mock"
)

// rawClient is a client that sees the chunks of an HTTP answer, that is, what
// the proxy wrote and flushed together.
type rawClient struct {
	*testing.T
	conn net.Conn
	in   *bufio.Reader
	head http.Header
}

// rawPost sends a create request over a connection of its own and reads the
// answer's head, which must say 200 and be chunked.
func (r *rig) rawPost(body []byte, header map[string]string) *rawClient {
	r.Helper()
	u, err := url.Parse(r.base)
	if err != nil {
		r.Fatal(err)
	}
	conn, err := net.Dial("tcp", u.Host)
	if err != nil {
		r.Fatal(err)
	}
	c := &rawClient{T: r.T, conn: conn, in: bufio.NewReader(conn)}
	r.Cleanup(c.close)
	conn.SetDeadline(time.Now().Add(time.Minute)) // a test that waits for nothing ends with a line number
	var b strings.Builder
	fmt.Fprintf(&b, "POST /v1/responses HTTP/1.1\r\nHost: proxy\r\nContent-Length: %d\r\n", len(body))
	for k, v := range header {
		fmt.Fprintf(&b, "%s: %s\r\n", k, v)
	}
	if _, err := conn.Write(append([]byte(b.String()+"\r\n"), body...)); err != nil {
		r.Fatal(err)
	}
	return c
}

func (c *rawClient) close() { c.conn.Close() }

// chunk returns the next chunk; nil is the end of the body.
func (c *rawClient) chunk() []byte {
	c.Helper()
	if c.head == nil {
		resp, err := http.ReadResponse(c.in, nil)
		if err != nil || resp.StatusCode != http.StatusOK || len(resp.TransferEncoding) != 1 {
			c.Fatalf("no chunked answer: %v, error %v", resp, err)
		}
		c.head = resp.Header
	}
	line, err := c.in.ReadString('\n')
	if err != nil {
		c.Fatalf("cannot read a chunk's size: %v", err)
	}
	n, err := strconv.ParseInt(strings.TrimSpace(line), 16, 64)
	if err != nil {
		c.Fatal(err)
	}
	b := make([]byte, n+2)
	if _, err := io.ReadFull(c.in, b); err != nil {
		c.Fatal(err)
	}
	if n == 0 {
		return nil
	}
	return b[:n]
}

// frameEnds returns where a stream may be cut between frames: behind a line if
// no line of an event came since the last blank one.
func frameEnds(stream []byte) map[int]bool {
	ends := map[int]bool{0: true}
	open := false
	for at := 0; at < len(stream); {
		n := bytes.IndexAny(stream[at:], "\r\n")
		if n < 0 {
			break
		}
		line := bytes.TrimPrefix(stream[at:at+n], []byte("\xEF\xBB\xBF"))
		at += n + 1
		if stream[at-1] == '\r' && at < len(stream) && stream[at] == '\n' {
			at++
		}
		open = len(line) > 0 && (open || line[0] != ':')
		if !open {
			ends[at] = true
		}
	}
	return ends
}

// TestS1WholeFramesPerWrite reads what the proxy writes, chunk by chunk, while
// the upstream cuts its frames anywhere. (TestS1FramesPassAsTheyCome shows that
// it does write while more is to come.)
func TestS1WholeFramesPerWrite(t *testing.T) {
	streams := cleanStreams()
	refused := new(mock.Stream).Created().Text("a", "b").Call(1, mock.FC("rm_all", `{}`)).Completed().Bytes()
	streams["refused"] = refused
	for name, body := range streams {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sizes := []int{1, 3, 64, 0}
			if len(body) > 100_000 {
				sizes = []int{1000, 0}
			}
			rig := newRig(t, nil, chunked(mock.Turn{Body: body}, sizes)...)
			for _, n := range sizes {
				client := rig.rawPost(requestBody(t, "one-tool", true), nil)
				var got []byte
				cuts := []int{}
				for b := client.chunk(); b != nil; b = client.chunk() {
					got = append(got, b...)
					cuts = append(cuts, len(got))
				}
				ends := frameEnds(got)
				for _, at := range cuts {
					if !ends[at] {
						t.Fatalf("upstream chunks of %d: a write ended inside a frame: %q", n, got[:at])
					}
				}
				if name != "refused" && !bytes.Equal(got, body) {
					t.Errorf("upstream chunks of %d: not verbatim", n)
				}
				client.close()
			}
		})
	}
}

// TestS1FramesPassAsTheyCome stops the upstream at every byte of an event: by
// then the client has all events before it, and nothing of it.
func TestS1FramesPassAsTheyCome(t *testing.T) {
	for name, eol := range map[string]string{"LF": "\n", "CRLF": "\r\n", "CR": "\r"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			with := func(s *mock.Stream) []byte { return bytes.ReplaceAll(s.Bytes(), []byte("\n"), []byte(eol)) }
			s := new(mock.Stream).Created().TextDelta(0, "one")
			from := len(with(s))
			to := len(with(s.TextDelta(0, "two")))
			body := with(s.Completed())
			var turns []mock.Turn
			var resume []chan struct{}
			for at := from; at <= to; at++ {
				resume = append(resume, make(chan struct{}))
				turns = append(turns, mock.Turn{Body: body, Chunk: len(body), Fault: mock.Stall, At: at, Resume: resume[at-from]})
			}
			rig := newRig(t, nil, turns...)
			for at := from; at <= to; at++ {
				client := rig.rawPost(requestBody(t, "one-tool", true), nil)
				before := from
				if at == to {
					before = to
				}
				var got []byte
				for len(got) < before {
					got = append(got, client.chunk()...)
				}
				if len(got) != before {
					t.Errorf("stopped at byte %d of the event, the client has %d bytes, want %d", at-from, len(got), before)
				}
				close(resume[at-from])
				for b := client.chunk(); b != nil; b = client.chunk() {
					got = append(got, b...)
				}
				if !bytes.Equal(got, body) {
					t.Errorf("stopped at byte %d: not verbatim", at-from)
				}
				client.close()
			}
		})
	}
}
