package proxy

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"turngate/guard"
	"turngate/proxy/mock"
	"turngate/sse"
)

// benchTurns are a turn with ten valid calls of the tools of realTools, and the
// same amount of text without a call.
func benchTurns() map[string]*mock.Stream {
	calls, text := new(mock.Stream).Created(), new(mock.Stream).Created()
	for k := range 10 {
		calls.Call(k, mock.FC(fmt.Sprintf("tool_%d", k), realCall).With("call_id", fmt.Sprintf("call_%d", k)))
		text.Text(realCall)
	}
	return map[string]*mock.Stream{"calls": calls.Completed(), "text": text.Completed()}
}

// benchmarkModes runs a benchmark for each turn and with arguments off and on
// refuse, so that benchstat can set one beside the other: -col /arguments.
func benchmarkModes(b *testing.B, run func(b *testing.B, request []byte, turn *mock.Stream, mode guard.Mode)) {
	request := []byte(`{"model":"m","input":"hi","stream":true,"tools":[` + strings.Join(realTools(b), ",") + `]}`)
	for _, name := range []string{"calls", "text"} {
		for _, mode := range []guard.Mode{guard.Off, guard.Refuse} {
			b.Run(fmt.Sprintf("turn=%s/arguments=%v", name, mode), func(b *testing.B) {
				b.ReportAllocs()
				run(b, request, benchTurns()[name], mode)
			})
		}
	}
}

// BenchmarkA8Guard reads a request and judges its answer, without a network.
func BenchmarkA8Guard(b *testing.B) {
	benchmarkModes(b, func(b *testing.B, request []byte, turn *mock.Stream, mode guard.Mode) {
		tools, buffers := guard.NewTools(0), &sse.Buffers{}
		stream := turn.Bytes()
		for b.Loop() {
			r, err := tools.ReadRequest(request)
			if err != nil {
				b.Fatal(err)
			}
			g := guard.New(r.Catalog, guard.Options{Tools: tools, Arguments: mode})
			reader := sse.NewReader(bytes.NewReader(stream), buffers, 0)
			for {
				f, err := reader.Next()
				if err != nil {
					break
				}
				if _, refusal := g.Inspect(f); refusal != nil {
					b.Fatal(refusal.Message())
				}
			}
			if g.Turn().Terminal != guard.KindCompleted {
				b.Fatal("the turn did not end")
			}
		}
	})
}

// BenchmarkA8Proxy sends turns through a whole proxy to an upstream, both over
// the loopback.
func BenchmarkA8Proxy(b *testing.B) {
	benchmarkModes(b, func(b *testing.B, request []byte, turn *mock.Stream, mode guard.Mode) {
		client, base := benchProxy(b, turn.Bytes(), mode)
		want := turn.Len()
		var got bytes.Buffer
		for b.Loop() {
			resp, err := client.Post(base, "application/json", bytes.NewReader(request))
			if err != nil {
				b.Fatal(err)
			}
			got.Reset()
			_, err = got.ReadFrom(resp.Body)
			resp.Body.Close()
			if err != nil || resp.StatusCode != http.StatusOK || got.Len() != want {
				b.Fatalf("status %d, %v, %d bytes", resp.StatusCode, err, got.Len())
			}
		}
	})
}

// benchProxy starts a proxy in front of an upstream that answers with stream, and
// returns a client and the address of turns.
func benchProxy(b *testing.B, stream []byte, mode guard.Mode) (*http.Client, string) {
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		w.Write(stream)
	}))
	b.Cleanup(upstream.Close)
	base, err := url.Parse(upstream.URL + "/v1")
	if err != nil {
		b.Fatal(err)
	}
	cfg := testConfig(base, io.Discard)
	cfg.Logger, cfg.Upstreams[0].Arguments = nil, mode
	p, err := New(cfg)
	if err != nil {
		b.Fatal(err)
	}
	server := httptest.NewServer(p.Handler())
	client := &http.Client{Transport: &http.Transport{DisableCompression: true}}
	b.Cleanup(func() {
		client.CloseIdleConnections()
		if err := p.Shutdown(context.Background()); err != nil {
			b.Error(err)
		}
		server.Close()
	})
	return client, server.URL + "/v1/responses"
}
