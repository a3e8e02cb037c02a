package proxy

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"net/http"
	"runtime"
	"testing"

	"github.com/klauspost/compress/zstd"

	"turngate/proxy/mock"
)

// encode returns b in a content encoding.
func encode(t *testing.T, encoding string, b []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	switch encoding {
	case "gzip":
		w := gzip.NewWriter(&out)
		if _, err := w.Write(b); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	case "zstd":
		w, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close()
		return w.EncodeAll(b, nil)
	default:
		return b
	}
	return out.Bytes()
}

// TestKH2EncodedRequests reads what Codex with an OpenAI login sends: the
// upstream gets it decoded, and the guard knows its tools (O5).
func TestKH2EncodedRequests(t *testing.T) {
	declared := new(mock.Stream).Created().Call(0, mock.FC("read_file", `{"path":"a"}`)).Completed()
	body := requestBody(t, "one-tool", true)
	for _, header := range []string{"zstd", "gzip", "GZIP", " zstd ", "identity", ""} {
		t.Run(header, func(t *testing.T) {
			r := newRig(t, nil, declared.Turn())
			encoding := map[string]string{"GZIP": "gzip", " zstd ": "zstd"}[header]
			if encoding == "" {
				encoding = header
			}
			got := r.post(encode(t, encoding, body), map[string]string{"Content-Encoding": header})
			if got.status != http.StatusOK || !bytes.Equal(got.body, declared.Bytes()) {
				t.Errorf("the client got %d %s", got.status, got.body)
			}
			asked := r.asked()
			if !bytes.Equal(asked.Body, body) {
				t.Errorf("the upstream got %q", asked.Body)
			}
			if e, ok := asked.Header["Content-Encoding"]; ok {
				t.Errorf("the upstream was told %q", e)
			}
			if n := r.metric("turngate_guard_total", "state", "enforced"); n != 1 {
				t.Errorf("guarded %v turns", n)
			}
		})
	}
}

// TestKH2EncodedPassedRequest decodes what is not a turn too.
func TestKH2EncodedPassedRequest(t *testing.T) {
	r := newRig(t, withKey, mock.Turn{Route: "POST /v1/responses/compact", Body: []byte(`{"object":"response.compaction"}`)})
	got := r.do("POST", "/responses/compact", encode(t, "zstd", []byte(`{"model":"m"}`)), map[string]string{"Content-Encoding": "zstd"})
	if got.status != http.StatusOK || string(r.asked().Body) != `{"model":"m"}` {
		t.Errorf("%d %s: upstream got %q", got.status, got.body, r.asked().Body)
	}
}

func TestUnsupportedEncodings(t *testing.T) {
	for _, encoding := range []string{"br", "deflate", "gzip, zstd", "zstd,gzip", "x", "gzip;q=1"} {
		for _, path := range []string{"/responses", "/files"} {
			r := newRig(t, nil, textTurn())
			got := r.do("POST", path, []byte("x"), map[string]string{"Content-Encoding": encoding})
			r.wantError(got, http.StatusUnsupportedMediaType, "unsupported_content_encoding")
			r.wantHeader(got, "X-Should-Retry", "false")
			r.notAsked()
		}
	}
}

// TestBrokenEncodings: a body that is not in the encoding it says is the
// client's fault.
func TestBrokenEncodings(t *testing.T) {
	body := requestBody(t, "one-tool", true)
	window := bytes.Clone(zstdBomb(1))
	window[5] = 0xA0 // 1 GiB of memory for the decoder
	for name, tc := range map[string]struct {
		encoding string
		body     []byte
	}{
		"gzip not":       {"gzip", body},
		"zstd not":       {"zstd", body},
		"gzip empty":     {"gzip", nil},
		"gzip cut":       {"gzip", encode(t, "gzip", body)[:60]},
		"gzip header":    {"gzip", encode(t, "gzip", body)[:5]},
		"zstd cut":       {"zstd", encode(t, "zstd", body)[:60]},
		"gzip garbage":   {"gzip", append(encode(t, "gzip", body), "garbage"...)},
		"zstd of gzip":   {"zstd", encode(t, "gzip", body)},
		"zstd too large": {"zstd", window},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, nil, textTurn())
			r.wantError(r.post(tc.body, map[string]string{"Content-Encoding": tc.encoding}), http.StatusBadRequest, "invalid_json")
			r.notAsked()
			if got := r.lastTurn().Outcome; got != string(outcomeLocalError) {
				t.Errorf("outcome %s", got)
			}
		})
	}
}

// zstdBomb is a zstd frame of n blocks, each of which opens from 4 bytes to
// 128 KiB.
func zstdBomb(n int) []byte {
	b := []byte{0x28, 0xB5, 0x2F, 0xFD, 0x00, 0x50} // no content size, window of 1 MiB
	for i := range n {
		header := uint32(128<<10<<3 | 1<<1) // RLE
		if i == n-1 {
			header |= 1 // last
		}
		b = append(binary.LittleEndian.AppendUint32(b, header)[:len(b)+3], ' ')
	}
	return b
}

// gzipBomb is n gzip members, each of which opens from 1 KiB to 1 MiB.
func gzipBomb(t *testing.T, n int) []byte {
	return bytes.Repeat(encode(t, "gzip", bytes.Repeat([]byte{' '}, 1<<20)), n)
}

// TestKH2Bombs opens small files to half a GiB: they are refused as soon as
// they are over the limit, and take memory in proportion to it.
func TestKH2Bombs(t *testing.T) {
	const limit = 4 << 20
	for encoding, bomb := range map[string][]byte{"zstd": zstdBomb(4096), "gzip": gzipBomb(t, 512)} {
		r := newRig(t, func(c *Config) { c.MaxRequestBytes = limit }, textTurn())
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		got := r.post(bomb, map[string]string{"Content-Encoding": encoding})
		runtime.ReadMemStats(&after)
		r.wantError(got, http.StatusRequestEntityTooLarge, "request_too_large")
		r.notAsked()
		if used := after.TotalAlloc - before.TotalAlloc; used > 8*limit {
			t.Errorf("%s: a bomb of %d bytes took %d bytes of memory with a limit of %d", encoding, len(bomb), used, limit)
		}
	}
	// The bombs are none if they do not open.
	r := newRig(t, nil, textTurn())
	got := r.post(zstdBomb(9), map[string]string{"Content-Encoding": "zstd"})
	r.wantError(got, http.StatusBadRequest, "invalid_json")
	if got := r.lastTurn(); got.Error != "invalid_json" {
		t.Errorf("error %q", got.Error)
	}
}
