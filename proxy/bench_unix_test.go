//go:build unix

package proxy

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"syscall"
	"testing"
	"time"

	"turngate/guard"
	"turngate/proxy/mock"
)

// BenchmarkEndToEnd streams turns through real sockets: straight, through
// httputil.ReverseProxy, which looks at nothing, and through turngate with all
// rules on. CPU time is that of the process, the upstream and the client
// included: "direct" is what those two cost.
func BenchmarkEndToEnd(b *testing.B) {
	const deltas = 500
	stream := new(mock.Stream).Created().InProgress()
	for range deltas {
		stream.TextDelta(0, " word")
	}
	stream.Text("done").Completed()
	short := new(mock.Stream).Created().InProgress().Text("a", "b").Call(1, mock.FC("read_file", `{"path":"a.txt"}`)).Completed()
	for _, w := range []struct {
		name   string
		turn   mock.Turn
		events int
	}{
		{"stream", mock.Turn{Body: stream.Bytes()}, bytes.Count(stream.Bytes(), []byte("\n\n"))},
		{"call", mock.Turn{Body: short.Bytes()}, bytes.Count(short.Bytes(), []byte("\n\n"))},
		{"json", short.JSONTurn(), 1},
	} {
		up := httptest.NewServer(mock.New(w.turn))
		target, err := url.Parse(up.URL)
		if err != nil {
			b.Fatal(err)
		}
		blind := httptest.NewServer(&httputil.ReverseProxy{
			Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(target) },
			FlushInterval: -1,
			Transport:     &http.Transport{MaxIdleConnsPerHost: 100, DisableCompression: true},
		})
		p, gate := gateTo(b, target)
		for _, via := range []struct{ name, base string }{{"direct", up.URL}, {"httputil", blind.URL}, {"turngate", gate.URL}} {
			b.Run(w.name+"/"+via.name, func(b *testing.B) {
				measureTurns(b, via.base+"/v1/responses", w.turn.Body, w.events)
			})
		}
		gate.Close()
		p.Shutdown(context.Background())
		blind.Close()
		up.Close()
	}
}

func gateTo(b *testing.B, target *url.URL) (*Proxy, *httptest.Server) {
	p, err := New(Config{
		Upstreams: []Upstream{{
			Name: "default", BaseURL: target.JoinPath("v1"), IdleTimeout: time.Minute,
			Arguments: guard.Refuse, Approvals: guard.Refuse,
		}},
		HeaderTimeout: time.Minute, Heartbeat: 15 * time.Second, DrainTimeout: 2 * time.Second,
		MaxRequestBytes: 64 << 20, MaxEventBytes: 32 << 20,
	})
	if err != nil {
		b.Fatal(err)
	}
	server := httptest.NewUnstartedServer(p.Handler())
	server.Listener = p.Listener(server.Listener)
	server.Config.ConnContext = ConnContext
	server.Start()
	return p, server
}

func measureTurns(b *testing.B, address string, want []byte, events int) {
	body := `{"model":"m","stream":true,"input":"` + strings.Repeat("Find out why the test fails. ", 300) + `","tools":[` +
		`{"type":"function","name":"read_file","parameters":{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}}]}`
	client := &http.Client{Transport: &http.Transport{DisableCompression: true}}
	defer client.CloseIdleConnections()
	got := bytes.NewBuffer(make([]byte, 0, len(want)+512))
	before := cpuTime(b)
	b.ReportAllocs()
	for b.Loop() {
		resp, err := client.Post(address, "application/json", strings.NewReader(body))
		if err != nil {
			b.Fatal(err)
		}
		got.Reset()
		if _, err := io.Copy(got, resp.Body); err != nil || !bytes.Equal(got.Bytes(), want) {
			b.Fatalf("%d, %v: other bytes than the upstream sent: %.200s", resp.StatusCode, err, got)
		}
		resp.Body.Close()
	}
	b.ReportMetric(float64((cpuTime(b)-before).Nanoseconds())/float64(b.N*events), "cpu-ns/event")
	b.ReportMetric(0, "ns/op") // waiting for sockets says nothing
}

// cpuTime is what the process has used.
func cpuTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
