package main_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/tidwall/gjson"

	"turngate/proxy/mock"
)

// stateless is an upstream that keeps nothing, as most do. It says in its answer
// how many input items it got, and adds as many bytes of noise as the request's
// "user" asks for.
type stateless struct{ turns atomic.Int64 }

func (u *stateless) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	req := gjson.ParseBytes(body)
	if err != nil || req.Get("previous_response_id").Exists() || req.Get("store").Bool() {
		http.Error(w, `{"error":{"message":"I keep no state."}}`, http.StatusBadRequest)
		return
	}
	items := 1
	if input := req.Get("input"); input.IsArray() {
		items = int(input.Get("#").Int())
	}
	noise := make([]byte, req.Get("user").Int()/2)
	_, _ = rand.Read(noise) // never fails, by its contract
	s := &mock.Stream{ID: "resp_" + strconv.FormatInt(u.turns.Add(1), 10) + "_" + rand.Text()}
	s.Created().Text(strconv.Itoa(items), " items ", hex.EncodeToString(noise)).Completed()
	if !req.Get("stream").Bool() {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(s.JSON()) // a client that left needs no more
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = w.Write(s.Bytes())
}

// startStateless starts such an upstream and returns its base URL.
func startStateless(t *testing.T) string {
	t.Helper()
	srv := httptest.NewServer(&stateless{})
	t.Cleanup(srv.Close)
	return srv.URL + "/v1"
}

// told is what a client learned of a turn.
type told struct {
	id    string // of the response
	items int    // that the upstream got
}

// errUnknown is the answer to an id that cannot be continued.
type errUnknown struct{ id string }

func (e errUnknown) Error() string { return e.id + " is unknown" }

// continueTurn sends a turn that continues previous ("": none) to a turngate and
// returns as soon as its terminal event was read, with the rest of the answer
// still on its way. more is further members of the request.
func continueTurn(ctx context.Context, client *http.Client, url, previous, more string) (told, error) {
	body := `{"model":"m","stream":true,"input":"go on"` + more
	if previous != "" {
		body += `,"previous_response_id":"` + previous + `"`
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/v1/responses", strings.NewReader(body+"}"))
	if err != nil {
		return told{}, err
	}
	resp, err := client.Do(req)
	if err != nil {
		return told{}, err
	}
	if resp.StatusCode != http.StatusOK {
		defer resp.Body.Close()
		text, _ := io.ReadAll(resp.Body)
		if gjson.GetBytes(text, "error.code").Str == "previous_response_not_found" {
			return told{}, errUnknown{previous}
		}
		return told{}, fmt.Errorf("status %d: %s", resp.StatusCode, text)
	}
	lines := bufio.NewReader(resp.Body)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			resp.Body.Close()
			return told{}, fmt.Errorf("no terminal event: %w", err)
		}
		data, ok := bytes.CutPrefix(line, []byte(`data: {"type":"response.completed"`))
		if !ok {
			continue
		}
		go func() { // the connection can be used again
			defer resp.Body.Close()
			_, _ = io.Copy(io.Discard, lines)
		}()
		response := gjson.ParseBytes(append([]byte(`{"a":0`), data...)).Get("response")
		said := told{id: response.Get("id").Str}
		_, err = fmt.Sscan(response.Get("output.0.content.0.text").Str, &said.items)
		return said, err
	}
}

// keepAlive is a client that does not run out of ports.
func keepAlive(t *testing.T) *http.Client {
	t.Helper()
	transport := &http.Transport{MaxIdleConnsPerHost: 256}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// times returns what an environment variable says, for tests that do more where
// there is time for it.
func times(t *testing.T, name string, usually int) int {
	t.Helper()
	v := os.Getenv(name)
	if v == "" {
		return usually
	}
	n, err := strconv.Atoi(v)
	if err != nil || n < 1 {
		t.Fatalf("%s is %q, want a number", name, v)
	}
	return n
}
