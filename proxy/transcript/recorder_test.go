package transcript

import (
	"bytes"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// desk is a recorder at work, with what it has counted.
type desk struct {
	*Recorder
	t      *testing.T
	dir    string
	counts map[string]int
	log    bytes.Buffer
	writer sync.WaitGroup
}

func newDesk(t *testing.T, maxBytes int64) *desk { return newDeskIn(t, t.TempDir(), maxBytes) }

func newDeskIn(t *testing.T, dir string, maxBytes int64) *desk {
	d := &desk{t: t, dir: dir, counts: map[string]int{}}
	r, err := NewRecorder(Options{
		Dir: d.dir, MaxBytes: maxBytes, Logger: slog.New(slog.NewTextHandler(&d.log, nil)),
		Count: func(result string) { d.counts[result]++ },
	})
	if err != nil {
		t.Fatal(err)
	}
	d.Recorder = r
	return d
}

func (d *desk) start() { d.writer.Go(d.Run) }

// stop waits until all is written.
func (d *desk) stop() {
	d.Close()
	d.writer.Wait()
}

// turn records a turn with an answer of n bytes that began n seconds after
// another time.
func (d *desk) turn(id string, second, n int) *Turn {
	t := d.Begin("req_"+id, time.Unix(int64(second), 0), http.Header{}, "", nil)
	t.Request([]byte(`{"model":"m"}`))
	t.Response(bytes.Repeat([]byte("x"), n))
	return t
}

func (d *desk) folders() string {
	d.t.Helper()
	entries, err := os.ReadDir(d.dir)
	if err != nil {
		d.t.Fatal(err)
	}
	var ids []string
	for _, e := range entries {
		_, id, _ := strings.Cut(e.Name(), "-req_")
		ids = append(ids, id)
	}
	return strings.Join(ids, " ")
}

func (d *desk) want(folders string, counts map[string]int) {
	d.t.Helper()
	if got := d.folders(); got != folders {
		d.t.Errorf("folders %q, want %q", got, folders)
	}
	for result, n := range counts {
		if d.counts[result] != n {
			d.t.Errorf("%d turns %s, want %d; all: %v", d.counts[result], result, n, d.counts)
		}
	}
}

func TestFolder(t *testing.T) {
	d := newDesk(t, 0)
	d.start()
	turn := d.Begin("req_a", time.Unix(1, 0), http.Header{"Authorization": {"Bearer hush-hush"}}, "", [][]byte{[]byte("upstream-key")})
	turn.Request([]byte("request hush-hush"))
	turn.Sent([]byte("sent"))
	turn.Response([]byte("one "))
	turn.Response([]byte("upstream-"))
	turn.Response([]byte("key"))
	turn.Client([]byte("client"))
	turn.End(&Meta{RequestID: "req_a", End: EndClean, Verdict: []byte(`{"error":"hush-hush"}`)})
	d.stop()
	d.want("a", map[string]int{Written: 1})

	path := filepath.Join(d.dir, "19700101T000001.000Z-req_a")
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, body := range map[string]func() ([]byte, error){
		"request *********": f.RequestBody, "sent": f.SentBody, "one ************": f.ResponseBody, "client": f.ClientBody,
	} {
		if got, err := body(); string(got) != name || err != nil {
			t.Errorf("got %q, %v, want %q", got, err, name)
		}
	}
	if f.RequestID != "req_a" || f.End != EndClean || strings.Contains(string(f.Verdict), "hush") {
		t.Errorf("head is %+v", f.Meta)
	}
	arrivals, err := f.Arrivals()
	if err != nil || len(arrivals) != 3 || arrivals[2].Offset != 13 || arrivals[2].At < arrivals[1].At {
		t.Errorf("arrivals %v, %v", arrivals, err)
	}
	modes(t, d.dir)
}

// modes wants all that is in dir to be for its owner alone.
func modes(t *testing.T, dir string) {
	t.Helper()
	err := filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		switch {
		case err != nil || path == dir:
			return err
		case info.IsDir() && info.Mode().Perm() != 0o700, !info.IsDir() && info.Mode().Perm() != 0o600:
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// TestLimit lets the oldest turns go, those of an earlier run first, and
// nothing that is no turn.
func TestLimit(t *testing.T) {
	d := newDesk(t, 10_000)
	other := filepath.Join(d.dir, "other")
	if err := os.MkdirAll(other, 0o700); err != nil {
		t.Fatal(err)
	}
	d.start()
	d.turn("a", 1, 4000).End(&Meta{})
	d.turn("b", 2, 4000).End(&Meta{})
	d.stop()
	d.want("a b ", map[string]int{Written: 2})

	again := newDeskIn(t, d.dir, 10_000)
	again.start()
	again.turn("c", 3, 4000).End(&Meta{})
	again.stop()
	again.want("b c ", nil)
}

func TestTurnOverTheLimit(t *testing.T) {
	d := newDesk(t, 10_000)
	d.start()
	d.turn("a", 1, 20_000).End(&Meta{})
	d.turn("b", 2, 20).End(&Meta{})
	d.stop()
	d.want("b", map[string]int{Written: 1, Failed: 1})
	if !strings.Contains(d.log.String(), errTooLarge.Error()) {
		t.Errorf("the log does not say why:\n%s", &d.log)
	}
}

// TestQueueFull gives the writer no time at all: nothing waits, what is too
// much is dropped with its turn, and the next turn is written.
func TestQueueFull(t *testing.T) {
	d := newDesk(t, 0)
	lost := d.turn("a", 1, maxQueued/2)
	lost.Response(bytes.Repeat([]byte("x"), maxQueued))
	lost.Response([]byte("not even this"))
	lost.End(&Meta{})
	kept := d.turn("b", 2, 20)
	kept.End(&Meta{})
	d.start()
	d.stop()
	d.want("b", map[string]int{Written: 1, Dropped: 1})
}

// TestNoDisk takes the folder away while turns are written. Each is counted, the
// log has one line, and turns are written again when the folder is back.
func TestNoDisk(t *testing.T) {
	d := newDesk(t, 0)
	if err := os.Remove(d.dir); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(d.dir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	d.turn("a", 1, 20).End(&Meta{})
	d.turn("b", 2, 20).End(&Meta{})
	d.start()
	d.stop()
	if d.counts[Failed] != 2 {
		t.Errorf("counted %v, want 2 failed", d.counts)
	}
	if got := strings.Count(d.log.String(), "could not be recorded"); got != 1 {
		t.Errorf("%d lines in the log, want 1:\n%s", got, &d.log)
	}
}

func TestBeginAfterClose(t *testing.T) {
	d := newDesk(t, 0)
	d.start()
	open := d.turn("a", 1, 20)
	d.Close()
	if d.Begin("req_b", time.Unix(2, 0), nil, "", nil) != nil {
		t.Error("a turn began after Close")
	}
	open.End(&Meta{})
	d.stop()
	d.want("a", map[string]int{Written: 1})
}
