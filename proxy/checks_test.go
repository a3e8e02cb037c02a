package proxy

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

// checkFailure holds the end of a client's stream to S3: one response.failed
// with this code, id and number, [DONE], and nothing else.
func checkFailure(t *testing.T, tail []byte, code, id string, sequence int64) gjson.Result {
	t.Helper()
	failed, rest, _ := strings.Cut(string(tail), "\n\n")
	data, ok := strings.CutPrefix(failed, "event: response.failed\ndata: ")
	if !ok || rest != "data: [DONE]\n\n" || !json.Valid([]byte(data)) {
		t.Fatalf("the stream does not end with one response.failed and [DONE]: %q", tail)
	}
	r := gjson.Parse(data)
	if got := r.Get("response.error.code").String(); got != code {
		t.Errorf("error code %q, want %q", got, code)
	}
	if got := r.Get("response.id").String(); got != id {
		t.Errorf("response id %q, want %q", got, id)
	}
	if got := r.Get("sequence_number").Int(); got != sequence {
		t.Errorf("sequence number %d, want %d", got, sequence)
	}
	if r.Get("type").String() != "response.failed" || r.Get("response.status").String() != "failed" {
		t.Errorf("not a failed response: %s", data)
	}
	return r
}
