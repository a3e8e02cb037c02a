package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"turngate/proxy/mock"
)

// startMock runs the command in this process and returns its base URL and a
// function that ends it and returns its exit code and what it said on stderr.
func startMock(t *testing.T, args ...string) (url string, stop func() (int, string)) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	stdout, out := io.Pipe()
	var stderr bytes.Buffer
	code := make(chan int, 1)
	go func() {
		defer out.Close()
		code <- runMock(ctx, append([]string{"--listen", "127.0.0.1:0"}, args...), out, &stderr)
	}()
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatalf("no first line: %v; stderr: %s", err, stderr.String())
	}
	url, ok := strings.CutPrefix(strings.TrimSpace(line), "turngate mock listening on ")
	if !ok {
		t.Fatalf("first line is %q", line)
	}
	stopped := false
	stop = func() (int, string) {
		stopped = true
		cancel()
		return <-code, stderr.String()
	}
	t.Cleanup(func() {
		if !stopped {
			stop()
		}
	})
	return url + "/v1/responses", stop
}

func writeFile(t *testing.T, path string, data []byte) string {
	t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// send posts a turn for model with credentials in every place they may be in.
func send(t *testing.T, url, model string) (*http.Response, string, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"?api-key=hush-1&trace=on", strings.NewReader(`{"model":"`+model+`"}`))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{
		"Authorization": "Bearer hush-2", "Cookie": "id=hush-3", "X-Api-Key": "hush-4", "X-Kept": "kept",
	} {
		req.Header.Set(name, value)
	}
	tr := &http.Transport{DisableKeepAlives: true}
	resp, err := tr.RoundTrip(req)
	if err != nil {
		return nil, "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return resp, string(body), err
}

func TestMockServesFiles(t *testing.T) {
	dir := t.TempDir()
	stream := new(mock.Stream).Created().Text("hello").Completed().Bytes()
	writeFile(t, filepath.Join(dir, "alpha.sse"), stream)
	writeFile(t, filepath.Join(dir, "beta.json"), []byte(`{"object":"response"}`))
	url, stop := startMock(t, "--chunk", "7", dir)

	resp, body, err := send(t, url, "alpha")
	if err != nil || body != string(stream) || resp.Header.Get("Content-Type") != "text/event-stream" {
		t.Errorf("alpha: %v, %q, %v", resp.Header, body, err)
	}
	resp, body, err = send(t, url, "beta")
	if err != nil || body != `{"object":"response"}` || resp.Header.Get("Content-Type") != "application/json" {
		t.Errorf("beta: %v, %q, %v", resp.Header, body, err)
	}
	code, stderr := stop()
	if code != exitOK {
		t.Errorf("exit code %d, want %d", code, exitOK)
	}
	for _, want := range []string{`model "alpha", answered by "alpha"`, `model "beta", answered by "beta"`} {
		if !strings.Contains(stderr, want) {
			t.Errorf("stderr does not say %q:\n%s", want, stderr)
		}
	}
}

func TestMockKnobs(t *testing.T) {
	file := writeFile(t, filepath.Join(t.TempDir(), "m.sse"), []byte("data: one\n\ndata: two\n\n"))
	t.Run("cut", func(t *testing.T) {
		url, _ := startMock(t, "--cut", "4", "--interval", "1ms", "--status", "503", "--content-type", "text/plain", file)
		resp, body, err := send(t, url, "m")
		if err != nil || body != "data" || resp.StatusCode != 503 || resp.Header.Get("Content-Type") != "text/plain" {
			t.Errorf("got %s, %v, %q, %v", resp.Status, resp.Header, body, err)
		}
	})
	t.Run("reset", func(t *testing.T) {
		url, _ := startMock(t, "--reset", "4", file)
		if _, body, err := send(t, url, "m"); err == nil || body != "data" {
			t.Errorf("got %q, %v, want an error after 4 bytes", body, err)
		}
	})
	t.Run("stall ends with the command", func(t *testing.T) {
		url, stop := startMock(t, "--stall", "11", file)
		resp, err := http.Post(url, "application/json", strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		got := make([]byte, 11)
		if _, err := io.ReadFull(resp.Body, got); err != nil || string(got) != "data: one\n\n" {
			t.Fatalf("got %q, %v", got, err)
		}
		if code, _ := stop(); code != exitOK {
			t.Errorf("exit code %d, want %d", code, exitOK)
		}
	})
}

func TestMockRecordsWithoutCredentials(t *testing.T) {
	file := writeFile(t, filepath.Join(t.TempDir(), "m.json"), []byte(`{}`))
	kept := filepath.Join(t.TempDir(), "kept")
	for range 2 { // the second run must not overwrite what the first one kept
		url, stop := startMock(t, "--record", kept, file)
		if _, _, err := send(t, url, "m"); err != nil {
			t.Fatal(err)
		}
		stop()
	}
	entries, err := os.ReadDir(kept)
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	var names []string
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v, want 0600", e.Name(), info.Mode())
		}
		data, err := os.ReadFile(filepath.Join(kept, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, e.Name())
		all.Write(data)
	}
	if got, want := strings.Join(names, " "), "0001.head.json 0001.request.json 0002.head.json 0002.request.json"; got != want {
		t.Errorf("files are %s, want %s", got, want)
	}
	if strings.Contains(all.String(), "hush") {
		t.Errorf("a credential was kept:\n%s", all.String())
	}
	for _, want := range []string{`{"model":"m"}`, "trace=on", "X-Kept", "/v1/responses"} {
		if !strings.Contains(all.String(), want) {
			t.Errorf("%s is not kept:\n%s", want, all.String())
		}
	}
}

func TestMockUsage(t *testing.T) {
	for _, tc := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"--help"}, exitOK, "usage: turngate mock"},
		{nil, exitUsage, "no PATH given"},
		{[]string{"absent.sse"}, exitUsage, "absent.sse"},
		{[]string{"--cut", "-1", "x"}, exitUsage, "not a number of bytes"},
		{[]string{"--cut", "1", "--stall", "2", "x"}, exitUsage, "not beside --cut"},
		{[]string{"--status", "99", "x"}, exitUsage, "--status 99"},
		{[]string{"--chunk", "-1", "x"}, exitUsage, "negative"},
		{[]string{"--interval", "-1s", "x"}, exitUsage, "not a duration"},
		{[]string{t.TempDir()}, exitUsage, "no recorded turn"},
		{[]string{"--listen", "127.0.0.1:x", "mock_test.go"}, exitFailed, "unknown port"},
	} {
		var out bytes.Buffer
		if code := runMock(t.Context(), tc.args, &out, &out); code != tc.code || !strings.Contains(out.String(), tc.says) {
			t.Errorf("%q: exit code %d, %q; want %d, %q", tc.args, code, out.String(), tc.code, tc.says)
		}
	}
}
