package proxy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"turngate/proxy/mock"
)

// chunkSizes are the sizes of the upstream's writes; 0 is the whole at once.
var chunkSizes = []int{1, 2, 3, 7, 64, 1000, 0}

// chunked returns the turn once for each chunk size.
func chunked(turn mock.Turn, sizes []int) []mock.Turn {
	var turns []mock.Turn
	for _, n := range sizes {
		turn.Chunk = n
		if n == 0 {
			turn.Chunk = max(len(turn.Body), 1)
		}
		turns = append(turns, turn)
	}
	return turns
}

// TestS1CatalogueVerbatimInAnyChunking sends each case of the catalogue that is
// to pass untouched in pieces of all sizes.
func TestS1CatalogueVerbatimInAnyChunking(t *testing.T) {
	paths, err := filepath.Glob("../testdata/streams/*.want.json")
	if err != nil {
		t.Fatal(err)
	}
	cases := 0
	for _, path := range paths {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var w want
		if err := json.Unmarshal(b, &w); err != nil {
			t.Fatal(err)
		}
		if w.Client != "verbatim" {
			continue
		}
		cases++
		path = strings.TrimSuffix(path, ".want.json")
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			body, turn := w.turn(t, path)
			sizes := chunkSizes
			switch {
			case turn.Fault == mock.Reset:
				sizes = []int{0} // a reset can overtake many small writes
			case raceDetector:
				sizes = []int{1, 7, 0} // which is slow
			}
			rig := newRig(t, w.configure(t), chunked(turn, sizes)...)
			request := requestBody(t, w.Request, w.Stream == nil || *w.Stream)
			for _, n := range sizes {
				got := rig.post(request, w.Headers)
				if got.err != nil || got.status != w.ClientStatus || !bytes.Equal(got.body, body) {
					t.Errorf("chunks of %d: status %d, error %v, body\n%q, want\n%q", n, got.status, got.err, got.body, body)
				}
			}
		})
	}
	if cases < 100 {
		t.Errorf("the catalogue has only %d cases that pass untouched", cases)
	}
}

// cleanStreams are streams that nothing is to be changed in, beside those of
// the catalogue.
func cleanStreams() map[string][]byte {
	call := mock.FC("read_file", `{"path":"a"}`)
	usual := new(mock.Stream).Created().InProgress().Text("hel", "lo 👋🏽").Call(1, call).Completed().Marker().Bytes()
	noise := new(mock.Stream).Created()
	for i := range 30 {
		noise.Raw(": comment\n\n").Event("response.brand_new.thing", fmt.Sprintf(`"nested":{"a":[%d,1e400,-0.0,{"b":null}]}`, i)).
			Raw("event: ping\n\n").Raw("id: 7\nretry: 10\n\n").Raw("data: not JSON at all\n\n").
			Raw("data\n\n").Raw("unknown: field\ndata:  [1, 2 ,3 ]\n\n").Raw("\n\n\n").Raw(":\n").
			Raw(`data: {"type" : "keepalive" ,` + "\ndata:\t\"x\":\"\\ud83d\"}\n\n")
	}
	return map[string][]byte{
		"usual":       usual,
		"CRLF":        bytes.ReplaceAll(usual, []byte("\n"), []byte("\r\n")),
		"CR":          bytes.ReplaceAll(usual, []byte("\n"), []byte("\r")),
		"noise":       noise.Completed().Bytes(),
		"CRLF noise":  bytes.ReplaceAll(noise.Bytes(), []byte("\n"), []byte("\r\n")),
		"long event":  new(mock.Stream).Created().Text(strings.Repeat("x", 300_000)).Completed().Bytes(),
		"BOM":         append([]byte("\xEF\xBB\xBF"), usual...),
		"blank lines": append([]byte("\n\n\n"), usual...),
	}
}

func TestS1VerbatimInAnyChunking(t *testing.T) {
	for name, body := range cleanStreams() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sizes := chunkSizes
			switch {
			case len(body) > 100_000:
				sizes = []int{64, 1000, 0}
			case raceDetector:
				sizes = []int{1, 7, 0}
			}
			rig := newRig(t, nil, chunked(mock.Turn{Body: body}, sizes)...)
			for _, n := range sizes {
				got := rig.post(requestBody(t, "one-tool", true), nil)
				if got.err != nil || got.status != 200 || !bytes.Equal(got.body, body) {
					t.Errorf("chunks of %d: status %d, error %v, %d bytes, want %d", n, got.status, got.err, len(got.body), len(body))
				}
			}
			if got := rig.lastTurn().Outcome; got != "completed" {
				t.Errorf("outcome %s", got)
			}
		})
	}
}

// TestS1TwentyThousandDeltas passes a stream much longer than any buffer, and
// counts what it relayed.
func TestS1TwentyThousandDeltas(t *testing.T) {
	s := new(mock.Stream).Created().Added(0, mock.Message(""))
	for i := range 20_000 {
		s.TextDelta(0, fmt.Sprint("word ", i, " "))
	}
	body := s.Completed().Bytes()
	sizes := []int{113, 4099, 0}
	rig := newRig(t, nil, chunked(mock.Turn{Body: body}, sizes)...)
	for _, n := range sizes {
		if got := rig.post(requestBody(t, "one-tool", true), nil); got.err != nil || !bytes.Equal(got.body, body) {
			t.Errorf("chunks of %d: error %v, %d bytes, want %d", n, got.err, len(got.body), len(body))
		}
	}
	rig.stop()
	if got := rig.metric("turngate_events_total"); got != 3*20_003 {
		t.Errorf("%v events counted, want %d", got, 3*20_003)
	}
	if got := rig.metric("turngate_stream_bytes_total"); got != float64(3*len(body)) {
		t.Errorf("%v bytes counted, want %d", got, 3*len(body))
	}
}
