package proxy

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"turngate/proxy/mock"
	"turngate/proxy/transcript"
	"turngate/replay/memory"
)

// TestJudgeRecorded records each case of the catalogue through a real proxy, as
// it is and with a fault in its middle, and wants the same verdict from the
// folder as the live turn got.
func TestJudgeRecorded(t *testing.T) {
	wants, err := filepath.Glob("../testdata/streams/*.want.json")
	if err != nil || len(wants) < 100 {
		t.Fatal("too few cases", len(wants), err)
	}
	faults := []mock.Fault{mock.Cut, mock.Reset, mock.Stall, mock.Abort}
	for i, path := range wants {
		path = strings.TrimSuffix(path, ".want.json")
		fault := faults[i%len(faults)]
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			judgeRecorded(t, path, mock.None)
		})
		t.Run(filepath.Base(path)+"/"+fault.String(), func(t *testing.T) {
			t.Parallel()
			judgeRecorded(t, path, fault)
		})
	}
}

// judgeRecorded records a case with a fault in the middle of its answer and
// compares the live verdict with that on the folder.
func judgeRecorded(t *testing.T, path string, fault mock.Fault) {
	w := readWant(t, path)
	body, turn := w.turn(t, path)
	if fault != mock.None {
		turn.Fault, turn.At = fault, len(body)/2
		if fault == mock.Stall {
			w.End = "stall"
		}
	}
	dir := t.TempDir()
	configure := w.configure(t)
	rig := newRig(t, func(c *Config) {
		configure(c)
		c.Record, c.RecordMaxBytes = dir, 1<<30
	}, turn)
	got := rig.post(requestBody(t, w.Request, w.Stream == nil || *w.Stream), w.Headers)
	rig.stop()
	live := rig.lastTurn()

	f := onlyFolder(t, dir)
	var kept turnRecord
	if err := json.Unmarshal(f.Verdict, &kept); err != nil {
		t.Fatal(err)
	}
	if live.Refusal != nil { // the list of recent turns does not have the id that came after it
		kept.ResponseID = live.ResponseID
	}
	if diff := cmp.Diff(asJSON(t, live), asJSON(t, kept)); diff != "" {
		t.Errorf("the verdict in the folder is not the live one (-live +kept):\n%s", diff)
	}
	if client, err := f.ClientBody(); err != nil || !bytes.Equal(client, got.body) {
		t.Errorf("what the client got is kept as %q, want %q; %v", client, got.body, err)
	}
	sameVerdict(t, f, live)
}

// sameVerdict judges a folder and compares.
func sameVerdict(t *testing.T, f *transcript.Folder, live turnRecord) {
	t.Helper()
	v, err := JudgeFolder(f, nil)
	if err != nil {
		t.Fatal(err)
	}
	reason := live.Error
	if live.Refusal != nil {
		reason = live.Refusal.Reason
	}
	if !v.Refused() {
		reason = ""
	}
	if v.Outcome != live.Outcome || v.UpstreamOutcome != live.UpstreamOutcome || v.Reason != reason {
		t.Errorf("judged %s/%s %q, live %s/%s %q", v.Outcome, v.UpstreamOutcome, v.Reason, live.Outcome, live.UpstreamOutcome, reason)
	}
	if live.Refusal == nil {
		return
	}
	last := v.Findings[len(v.Findings)-1]
	if diff := cmp.Diff(asJSON(t, live.Refusal), asJSON(t, last.Refusal)); diff != "" {
		t.Errorf("refusal (-live +judged):\n%s", diff)
	}
}

// asJSON returns v as its JSON says it.
func asJSON(t *testing.T, v any) (plain any) {
	t.Helper()
	b, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(b, &plain)
	}
	if err != nil {
		t.Fatal(err)
	}
	return plain
}

func readWant(t *testing.T, path string) *want {
	t.Helper()
	b, err := os.ReadFile(path + ".want.json")
	if err != nil {
		t.Fatal(err)
	}
	w := &want{}
	if err := json.Unmarshal(b, w); err != nil {
		t.Fatal(err)
	}
	return w
}

// onlyFolder opens the one turn that was recorded in dir.
func onlyFolder(t *testing.T, dir string) *transcript.Folder {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Fatalf("%d recorded turns, want 1; %v", len(entries), err)
	}
	f, err := transcript.Open(filepath.Join(dir, entries[0].Name()))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestJudgeRecordedFaults is TestJudgeRecorded for what happens without an
// answer.
func TestJudgeRecordedFaults(t *testing.T) {
	body := func(t *testing.T) []byte { return requestBody(t, "one-tool", true) }
	for _, tc := range []struct {
		name      string
		configure func(*Config)
		turn      mock.Turn
		body      func(*testing.T) []byte
		header    map[string]string
	}{
		{"reset before the head", nil, mock.Turn{Fault: mock.Reset, At: -1}, body, nil},
		{"no head in time", func(c *Config) { c.HeaderTimeout = 50e6 }, mock.Turn{Fault: mock.Stall, At: -1}, body, nil},
		{"wrong request", nil, mock.Turn{}, func(*testing.T) []byte { return []byte(`{"model":`) }, nil},
		{"too large", func(c *Config) { c.MaxRequestBytes = 10 }, mock.Turn{}, body, nil},
		{"no upstream", func(c *Config) { c.Upstreams[0].Models = []string{"other"} }, mock.Turn{}, body, nil},
		{"unknown encoding", nil, mock.Turn{}, body, map[string]string{"Content-Encoding": "br"}},
		{"unreadable answer", nil, mock.Turn{Body: []byte("xx"), Header: http.Header{"Content-Encoding": {"gzip"}}}, body, nil},
		{"event over the limit", func(c *Config) { c.MaxEventBytes = 200 }, new(mock.Stream).Created().Completed().Turn(), body, nil},
		{"key not accepted", func(c *Config) { c.Upstreams[0].Key = "sk-operator-1234567890" }, mock.Turn{Status: 401, Body: []byte(`{"error":{}}`)}, body, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			rig := newRig(t, func(c *Config) {
				if tc.configure != nil {
					tc.configure(c)
				}
				c.Record, c.RecordMaxBytes = dir, 1<<30
			}, tc.turn)
			rig.post(tc.body(t), tc.header)
			live := rig.lastTurn()
			sameVerdict(t, onlyFolder(t, dir), live)
		})
	}
}

// TestJudgeExpanded records a turn whose tool was declared earlier in its chain:
// what went upstream authorises it, in the folder as in the live turn (R14).
func TestJudgeExpanded(t *testing.T) {
	store := memory.New(memory.Options{})
	defer store.Close()
	dir := t.TempDir()
	first := new(mock.Stream).Created().Text("hi").Completed().Turn()
	second := &mock.Stream{ID: "resp_2"}
	rig := newRig(t, func(c *Config) {
		c.Record, c.RecordMaxBytes = dir, 1<<30
		c.Upstreams[0].Replay, c.Store = true, store
	}, first, second.Created().Call(0, mock.FC("read_file", `{"path":"a"}`)).Completed().Turn())
	rig.post([]byte(`{"model":"m","stream":true,"input":[{"type":"additional_tools","tools":[{"type":"function","name":"read_file"}]},
		{"role":"user","content":"hi"}]}`), nil)
	rig.post([]byte(`{"model":"m","stream":true,"input":"go on","previous_response_id":"resp_1","tools":[{"type":"function","name":"other"}]}`), nil)
	live := rig.lastTurn()
	if live.Outcome != string(outcomeCompleted) {
		t.Fatalf("the live turn ended as %s", live.Outcome)
	}
	folders, err := filepath.Glob(filepath.Join(dir, "*-"+live.RequestID))
	if err != nil || len(folders) != 1 {
		t.Fatal(folders, err)
	}
	f, err := transcript.Open(folders[0])
	if err != nil {
		t.Fatal(err)
	}
	sameVerdict(t, f, live)
	asked, err := f.RequestBody()
	if err != nil {
		t.Fatal(err)
	}
	sent, err := f.SentBody()
	if err != nil || bytes.Contains(asked, []byte("additional_tools")) || !bytes.Contains(sent, []byte("additional_tools")) {
		t.Errorf("kept as asked %s, as sent %s; %v", asked, sent, err)
	}
}
