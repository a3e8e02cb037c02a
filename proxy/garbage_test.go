package proxy

import (
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
)

// mutate returns a request that is broken somewhere: bytes changed, cut out,
// put twice, or another request's put in.
func mutate(rnd *rand.Rand, corpus [][]byte) []byte {
	b := slices.Clone(corpus[rnd.IntN(len(corpus))])
	for range 1 + rnd.IntN(4) {
		at := rnd.IntN(len(b) + 1)
		n := rnd.IntN(min(64, len(b)-at) + 1)
		switch rnd.IntN(6) {
		case 0:
			b = slices.Delete(b, at, at+n)
		case 1:
			b = slices.Insert(b, at, b[at:at+n]...)
		case 2:
			b = b[:at]
		case 3:
			b = slices.Insert(b, at, corpus[rnd.IntN(len(corpus))]...)
		case 4:
			for i := range b[at : at+n] {
				b[at+i] ^= byte(rnd.IntN(256))
			}
		case 5:
			b = slices.Insert(b, at, []byte(`{}[]",:\`)[rnd.IntN(8)])
		}
	}
	return b
}

// TestGarbageLeavesTheProxyHealthy sends 1,000 broken requests: each is
// answered, and what is right is served as before.
func TestGarbageLeavesTheProxyHealthy(t *testing.T) {
	files, err := filepath.Glob("../testdata/requests/*.json")
	if err != nil || len(files) == 0 {
		t.Fatal("no requests", err)
	}
	var corpus [][]byte
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		corpus = append(corpus, b)
	}
	turn := textTurn()
	r := newRig(t, nil, turn)
	r.client.Transport.(*http.Transport).MaxIdleConnsPerHost = 8
	const workers, each = 8, 125
	var passed, refused atomic.Int64
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			rnd := rand.New(rand.NewPCG(uint64(w), 1))
			for i := range each {
				header := map[string]string{}
				if enc := []string{"", "", "", "gzip", "zstd", "br"}[rnd.IntN(6)]; enc != "" {
					header["Content-Encoding"] = enc
				}
				got := r.post(mutate(rnd, corpus), header)
				switch {
				case got.err != nil || got.header.Get("X-Turngate-Request-Id") == "":
					t.Errorf("%d of %d: %v, %v", i, w, got.err, got.header)
				case got.status == http.StatusOK && string(got.body) == string(turn.Body):
					passed.Add(1)
				case got.status == http.StatusBadRequest, got.status == http.StatusUnsupportedMediaType:
					refused.Add(1)
				default:
					t.Errorf("%d of %d: %d %q", i, w, got.status, got.body)
				}
			}
		})
	}
	wg.Wait()
	if passed.Load() == 0 || refused.Load() < 100 {
		t.Errorf("%d passed, %d were refused: that is no garbage", passed.Load(), refused.Load())
	}
	if got := r.post(corpus[0], nil); got.status != http.StatusOK || string(got.body) != string(turn.Body) {
		t.Errorf("afterwards: %d %q", got.status, got.body)
	}
	r.stop()
	if n := r.metric("turngate_turns_total"); n != workers*each+1 {
		t.Errorf("%v turns were counted", n)
	}
	if n := r.metric("turngate_turns_total", "outcome", "local_error"); n != float64(refused.Load()) {
		t.Errorf("%v local errors were counted, want %d", n, refused.Load())
	}
	if n := r.metric("turngate_active_streams"); n != 0 {
		t.Errorf("%v turns are still running", n)
	}
}
