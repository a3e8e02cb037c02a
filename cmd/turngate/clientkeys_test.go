package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"turngate/proxy/mock"
)

// askWith makes a turn with a key and returns the status and the body.
func (in *instance) askWith(t *testing.T, key string) (int, string) {
	t.Helper()
	req, err := http.NewRequest(http.MethodPost, in.url+"/v1/responses", strings.NewReader(`{"model":"m"}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+key)
	return do(t, req)
}

// do sends a request and returns the status and the body of the answer.
func do(t *testing.T, req *http.Request) (int, string) {
	t.Helper()
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(body)
}

// TestClientKeys gives out keys, and takes them back without a restart (rule O6).
func TestClientKeys(t *testing.T) {
	const alice, bob = "tg-alice-4711-4711", "tg-bob-0815-0815-0815"
	upstream := httptest.NewServer(mock.New(new(mock.Stream).Text("hello").Completed().JSONTurn()))
	t.Cleanup(upstream.Close)
	path := filepath.Join(t.TempDir(), "keys.yaml")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("alice: " + alice + "\n")
	in := startServe(t, nil, "--upstream", upstream.URL+"/v1", "--client-keys", path)
	want := func(what string, statusOfAlice, statusOfBob int) {
		t.Helper()
		for key, want := range map[string]int{alice: statusOfAlice, bob: statusOfBob} {
			if got, body := in.askWith(t, key); got != want {
				t.Errorf("%s: status %d for %s, want %d: %s", what, got, key, want, body)
			}
		}
	}
	want("at first", http.StatusOK, http.StatusUnauthorized)

	write("bob: " + bob + "\n")
	in.reload(t)
	want("after the reload", http.StatusUnauthorized, http.StatusOK)

	write("bob: " + bob + "\nalice: too-short\n")
	in.reload(t)
	want("after one that went wrong", http.StatusUnauthorized, http.StatusOK)
	if !strings.Contains(in.log.String(), "keys.yaml:2") {
		t.Error("the log does not say what is wrong with the file")
	}

	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	write("alice: " + alice + "\nbob: " + bob + "\n")
	in.reload(t)
	want("after one with a warning", http.StatusOK, http.StatusOK)
	if !strings.Contains(in.log.String(), "may be read by everyone") {
		t.Error("the log does not say that everyone may read the file")
	}

	resp, err := http.Get(in.admin + "/turns")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	turns, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{string(turns), in.log.String()} {
		if !strings.Contains(text, `"client":"alice"`) || !strings.Contains(text, `"client":"bob"`) {
			t.Errorf("no names in %s", text)
		}
		if strings.Contains(text, alice) || strings.Contains(text, bob) {
			t.Errorf("a key in %s", text)
		}
	}
}
