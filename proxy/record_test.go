package proxy

import (
	"bytes"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"turngate/proxy/mock"
	"turngate/proxy/transcript"
)

// recordIn makes a rig record its turns in dir.
func recordIn(dir string) func(*Config) {
	return func(c *Config) { c.Record, c.RecordMaxBytes = dir, 1<<30 }
}

// TestRecordHidesCredentials uses credentials in every place that may have one,
// has the upstream repeat them, in pieces and packed too, and looks for them in
// all files.
func TestRecordHidesCredentials(t *testing.T) {
	hidden := []string{"hush-client-01", "hush-api-key-02", "hush-cookie-0003", "hush-query-04", "hush-tool-05", "hush-tool-06",
		"hush-url-07", "hush-injected-08", "hush-base-09", "hush-set-cookie-10"}
	repeated := strings.Join(hidden[:9], " ")
	request := []byte(`{"model":"m","stream":true,"input":"hi","tools":[{"type":"mcp","server_label":"s",
		"server_url":"https://u:hush-url-07@tools.example/","authorization":"hush-tool-05","headers":{"X-Key":"hush-tool-06"}}]}`)
	header := map[string]string{
		"Authorization": "Bearer hush-client-01", "X-Api-Key": "hush-api-key-02",
		"Cookie": "session=hush-cookie-0003", "X-Kept": "kept",
	}
	stream := new(mock.Stream).Created().Text(repeated).Completed().Turn()
	stream.Header = http.Header{"Set-Cookie": {"id=hush-set-cookie-10"}, "X-Echo": {"Bearer hush-client-01"}}
	pieces := stream
	pieces.Chunk = 5
	failed := mock.Turn{Status: 400, Body: []byte(`{"error":{"message":"` + repeated + `"}}`)}
	packed := mock.Turn{Body: encode(t, "gzip", stream.Body), ContentType: "text/event-stream", Header: http.Header{"Content-Encoding": {"gzip"}}}

	for name, turn := range map[string]mock.Turn{"stream": stream, "in pieces": pieces, "failed": failed, "packed": packed} {
		for _, injects := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				rig := newRig(t, func(c *Config) {
					recordIn(dir)(c)
					other := *c.Upstreams[0].BaseURL
					other.User = url.UserPassword("u", "hush-base-09")
					c.Upstreams = append(c.Upstreams, Upstream{Name: "other", BaseURL: &other, Models: []string{"other"}})
					if injects {
						c.Upstreams[0].Key = "hush-injected-08"
					}
				}, turn)
				rig.do(http.MethodPost, "/responses?api_key=hush-query-04&kept=yes", request, header)
				rig.stop()
				all := everything(t, dir)
				for _, secret := range hidden {
					if bytes.Contains(all, []byte(secret)) && (injects || secret != "hush-injected-08") {
						t.Errorf("%s is kept:\n%s", secret, all)
					}
				}
				for _, want := range []string{"X-Kept", "kept=yes", `"server_label"`, "tools.example", "********"} {
					if !bytes.Contains(all, []byte(want)) {
						t.Errorf("%s is not kept", want)
					}
				}
			})
		}
	}
}

// everything returns the names and contents of all files under dir, and wants
// them to be for their owner alone.
func everything(t *testing.T, dir string) []byte {
	t.Helper()
	var all []byte
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		all = append(all, d.Name()+"\n"...)
		if d.IsDir() {
			return nil
		}
		text, err := os.ReadFile(path)
		all = append(all, text...)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestRecordArrivals wants the index to have each byte of the answer.
func TestRecordArrivals(t *testing.T) {
	turn := new(mock.Stream).Created().Text("a", "b", "c").Completed().Turn()
	turn.Chunk = 100
	dir := t.TempDir()
	rig := newRig(t, recordIn(dir), turn)
	got := rig.post(requestBody(t, "one-tool", true), nil)
	rig.stop()
	f := onlyFolder(t, dir)
	raw, err := f.ResponseBody()
	if err != nil || !bytes.Equal(raw, turn.Body) || !bytes.Equal(got.body, turn.Body) {
		t.Errorf("%d bytes kept, %d sent, %d relayed; %v", len(raw), len(turn.Body), len(got.body), err)
	}
	times, err := f.Arrivals()
	if err != nil || len(times) == 0 || times[0].Offset != 0 {
		t.Fatalf("arrivals %v, %v", times, err)
	}
	if !slices.IsSortedFunc(times, func(a, b transcript.Arrival) int {
		return int(a.Offset - b.Offset)
	}) || times[len(times)-1].Offset >= int64(len(raw)) {
		t.Errorf("arrivals %v of %d bytes", times, len(raw))
	}
}

// TestRecordWithoutDisk takes the folder away. Turns go on untouched, and what
// is not kept is counted.
func TestRecordWithoutDisk(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "turns")
	turn := new(mock.Stream).Created().Text("hello").Completed().Turn()
	rig := newRig(t, recordIn(dir), turn)
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(dir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if got := rig.post(requestBody(t, "one-tool", true), nil); got.err != nil || !bytes.Equal(got.body, turn.Body) {
			t.Errorf("the client got %q, %v", got.body, got.err)
		}
	}
	rig.stop()
	if n := rig.metric("turngate_recordings_total", "result", transcript.Failed); n != 3 {
		t.Errorf("%v turns counted as failed, want 3", n)
	}
	if n := strings.Count(rig.log.String(), "could not be recorded"); n != 1 {
		t.Errorf("%d lines in the log, want 1:\n%s", n, rig.log)
	}
}

// TestRecordReload changes the folder, then ends recording, then begins again.
// Each turn is kept where its configuration says.
func TestRecordReload(t *testing.T) {
	first, second := t.TempDir(), t.TempDir()
	turn := new(mock.Stream).Created().Text("hello").Completed().Turn()
	var cfg Config
	rig := newRig(t, func(c *Config) {
		recordIn(first)(c)
		cfg = *c
	}, turn)
	for _, dir := range []string{first, first, second, "", second} {
		cfg.Record = dir
		if err := rig.proxy.Reload(cfg); err != nil {
			t.Fatal(err)
		}
		rig.post(requestBody(t, "one-tool", true), nil)
	}
	rig.stop()
	for _, dir := range []string{first, second} {
		if entries, err := os.ReadDir(dir); err != nil || len(entries) != 2 {
			t.Errorf("%d turns, want 2; %v", len(entries), err)
		}
	}
}

// TestRecordImpossible wants a folder that cannot be made to stop the start, and
// to change nothing on a reload.
func TestRecordImpossible(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	cfg := testConfig(&url.URL{Scheme: "http", Host: "upstream.invalid"}, os.Stderr)
	recordIn(filepath.Join(file, "turns"))(&cfg)
	if _, err := New(cfg); err == nil {
		t.Error("no error")
	}
}
