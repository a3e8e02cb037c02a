package proxy

import (
	"bytes"
	"encoding/json"
	"flag"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"turngate/guard"
	"turngate/proxy/mock"
)

var update = flag.Bool("update", false, "write what clients get to the catalogue's golden files")

// want is the expectation beside a stream of the catalogue; see
// testdata/README.md.
type want struct {
	Shows           string            `json:"shows"`
	Rules           []string          `json:"rules"`
	Request         string            `json:"request"`
	Stream          *bool             `json:"stream"`
	Headers         map[string]string `json:"headers"`
	ContentType     string            `json:"content_type"`
	Status          int               `json:"status"`
	End             string            `json:"end"`
	Undeclared      string            `json:"undeclared"`
	Arguments       string            `json:"arguments"`
	Approvals       string            `json:"approvals"`
	MissingTerminal string            `json:"missing_terminal"`
	HostedCalls     []string          `json:"hosted_calls"`
	Outcome         string            `json:"outcome"`
	UpstreamOutcome string            `json:"upstream_outcome"`
	Refusal         map[string]any    `json:"refusal"`
	ClientStatus    int               `json:"client_status"`
	Client          string            `json:"client"`
}

// TestCatalogue sends each case of testdata/streams through a real proxy, to a
// real server that plays it, and compares what the client gets and what the
// operator sees.
func TestCatalogue(t *testing.T) {
	wants, err := filepath.Glob("../testdata/streams/*.want.json")
	if err != nil || len(wants) == 0 {
		t.Fatal("no cases", err)
	}
	for _, path := range wants {
		name := strings.TrimSuffix(filepath.Base(path), ".want.json")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var w want
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			d := json.NewDecoder(bytes.NewReader(b))
			d.DisallowUnknownFields()
			if err := d.Decode(&w); err != nil {
				t.Fatal(err)
			}
			w.check(t, strings.TrimSuffix(path, ".want.json"))
		})
	}
}

func (w *want) check(t *testing.T, path string) {
	body, turn := w.turn(t, path)
	rig := newRig(t, w.configure(t), turn)
	stream := w.Stream == nil || *w.Stream
	got := rig.post(requestBody(t, w.Request, stream), w.Headers)
	record := rig.lastTurn()
	if got.err != nil {
		t.Errorf("the client's body broke: %v", got.err)
	}
	if got.status != w.ClientStatus {
		t.Errorf("client status %d, want %d", got.status, w.ClientStatus)
	}
	if record.Outcome != w.Outcome || record.UpstreamOutcome != w.UpstreamOutcome {
		t.Errorf("outcome %s/%s, want %s/%s", record.Outcome, record.UpstreamOutcome, w.Outcome, w.UpstreamOutcome)
	}
	w.checkRefusal(t, record.Refusal)
	if w.Client == "verbatim" {
		if !bytes.Equal(got.body, body) {
			t.Errorf("the client got other bytes than the upstream sent:\n%s", cmp.Diff(string(body), string(got.body)))
		}
		return
	}
	checkGolden(t, path+".client", stable(got.body, record.RequestID))
}

// configure is the configuration that the case asks for.
func (w *want) configure(t *testing.T) func(*Config) {
	return func(c *Config) {
		u := &c.Upstreams[0]
		u.Undeclared = mode(t, w.Undeclared)
		u.Arguments, u.Approvals = guard.Report, guard.Refuse // the defaults of configuration
		if w.Arguments != "" {
			u.Arguments = mode(t, w.Arguments)
		}
		if w.Approvals != "" {
			u.Approvals = mode(t, w.Approvals)
		}
		u.HostedCalls = w.HostedCalls
		u.PassMissingEnd = w.MissingTerminal == "pass"
		u.IdleTimeout = time.Minute
		c.DrainTimeout = 2 * time.Second
		if w.End == "stall" { // what silence means is seen at once
			u.IdleTimeout, c.DrainTimeout = 100*time.Millisecond, 50*time.Millisecond
		}
	}
}

// turn is what the upstream sends.
func (w *want) turn(t *testing.T, path string) ([]byte, mock.Turn) {
	ext, contentType := ".sse", "text/event-stream"
	if _, err := os.Stat(path + ".json"); err == nil {
		ext, contentType = ".json", "application/json"
	}
	body, err := os.ReadFile(path + ext)
	if err != nil {
		t.Fatal(err)
	}
	if w.ContentType != "" {
		contentType = w.ContentType
	}
	turn := mock.Turn{Body: body, ContentType: contentType, Status: w.Status, At: len(body)}
	if w.Status >= 300 && w.Status < 400 {
		turn.Header = http.Header{"Location": {"http://elsewhere.example/v1/responses"}}
	}
	switch w.End {
	case "reset":
		turn.Fault = mock.Reset
	case "stall":
		turn.Fault = mock.Stall
	}
	return body, turn
}

func (w *want) checkRefusal(t *testing.T, got *guard.Refusal) {
	if (got != nil) != (w.Refusal != nil) {
		t.Errorf("refusal %v, want %v", got, w.Refusal)
	}
	if got == nil || w.Refusal == nil {
		return
	}
	b, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	var fields map[string]any
	if err := json.Unmarshal(b, &fields); err != nil {
		t.Fatal(err)
	}
	for k, v := range w.Refusal {
		if diff := cmp.Diff(v, fields[k]); diff != "" {
			t.Errorf("refusal's %s (-want +got):\n%s", k, diff)
		}
	}
}

func mode(t *testing.T, s string) guard.Mode {
	if s == "" {
		return guard.Refuse
	}
	m, err := guard.ParseMode(s)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// createdAt is a time in a response object of the proxy's own making; upstreams'
// have other members there.
var createdAt = regexp.MustCompile(`("object":"response","created_at":)\d+(,"status":"[a-z_]+","error":)`)

// stable replaces what differs from run to run: ids and times of the proxy.
func stable(b []byte, requestID string) []byte {
	b = bytes.ReplaceAll(b, []byte(requestID), []byte("REQUEST"))
	return createdAt.ReplaceAll(b, []byte("${1}0${2}"))
}

func checkGolden(t *testing.T, path string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("no golden file (run with -update, and read what it writes): %v", err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("golden file differs:\n%s", cmp.Diff(string(want), string(got)))
	}
}
