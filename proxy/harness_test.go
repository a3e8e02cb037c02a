package proxy

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"turngate/proxy/mock"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// rig is a proxy between a real client and a real server that plays an
// upstream.
type rig struct {
	*testing.T
	proxy    *Proxy
	upstream *mock.Upstream
	base     string // of the proxy, for clients
	client   *http.Client
	log      *bytes.Buffer // read it after stop
	stop     func()        // ends the proxy and waits for its turns
}

// newRig starts a rig. configure may change the configuration, or be nil.
func newRig(t *testing.T, configure func(*Config), turns ...mock.Turn) *rig {
	t.Helper()
	up := mock.New(turns...)
	upServer := httptest.NewServer(up)
	u, err := url.Parse(upServer.URL + "/v1")
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{T: t, upstream: up, log: &bytes.Buffer{}}
	cfg := testConfig(u, r.log)
	if configure != nil {
		configure(&cfg)
	}
	if r.proxy, err = New(cfg); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(r.proxy.Handler())
	server.Listener = r.proxy.Listener(server.Listener)
	server.Config.ConnContext = ConnContext
	server.Start()
	r.base = server.URL + "/v1"
	r.client = &http.Client{Transport: &http.Transport{DisableCompression: true}}
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
		server.Close()
		upServer.CloseClientConnections()
		upServer.Close()
	}
	t.Cleanup(r.stop)
	return r
}

// testConfig is the configuration that a test begins with.
func testConfig(base *url.URL, log io.Writer) Config {
	return Config{
		Upstreams: []Upstream{{
			Name: "default", BaseURL: base, IdleTimeout: 30 * time.Second,
		}},
		HeaderTimeout: 30 * time.Second, Heartbeat: 15 * time.Second, DrainTimeout: 2 * time.Second,
		MaxRequestBytes: 64 << 20, MaxEventBytes: 32 << 20,
		Logger: slog.New(slog.NewJSONHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}
}

// answer is what a client got.
type answer struct {
	status int
	header http.Header
	body   []byte
	err    error // reading the body
}

// post sends a create request and reads the answer to its end.
func (r *rig) post(body []byte, header map[string]string) answer {
	r.Helper()
	return r.do(http.MethodPost, "/responses", body, header)
}

func (r *rig) do(method, path string, body []byte, header map[string]string) answer {
	r.Helper()
	req, err := http.NewRequest(method, r.base+path, bytes.NewReader(body))
	if err != nil {
		r.Fatal(err)
	}
	for k, v := range header {
		req.Header.Set(k, v)
	}
	resp, err := r.client.Do(req)
	if err != nil {
		r.Fatal(err)
	}
	defer resp.Body.Close()
	a := answer{status: resp.StatusCode, header: resp.Header}
	a.body, a.err = io.ReadAll(resp.Body)
	return a
}

// lastTurn returns the record of the newest turn; the rig must be stopped, so
// that it is final.
func (r *rig) lastTurn() turnRecord {
	r.Helper()
	r.stop()
	turns := r.proxy.recent.list(1, func(*turnRecord) bool { return true })
	if len(turns) == 0 {
		r.Fatal("no turn was recorded")
	}
	return turns[0]
}

// requestBody reads a request of the catalogue with its "stream" as given.
func requestBody(t *testing.T, name string, stream bool) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "testdata", "requests", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	if !stream {
		return []byte(strings.Replace(string(b), `"stream": true`, `"stream": false`, 1))
	}
	return b
}
