package main

import (
	"bytes"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestRecordCheckMock takes a turn the whole way round: a proxy records it, check
// judges the folder as the proxy did, mock serves it again, and a proxy in front
// of that comes to the same end.
func TestRecordCheckMock(t *testing.T) {
	const fixture = "../../testdata/streams/K-E1-undeclared.sse"
	request, err := os.ReadFile("../../testdata/requests/one-tool.json")
	if err != nil {
		t.Fatal(err)
	}
	stream, err := os.ReadFile(fixture)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "turns")
	upstream, _ := startMock(t, fixture)
	live := recordTurn(t, upstream, dir, request)
	if !bytes.Contains(live, []byte("undeclared_tool_call")) {
		t.Fatalf("the turn was not refused:\n%s", live)
	}

	folders, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(folders) != 1 {
		t.Fatal(folders, err)
	}
	var out bytes.Buffer
	if code := runCheck([]string{folders[0]}, nil, &out, &out); code != exitFailed || !strings.HasSuffix(out.String(), "\nrefused: undeclared_tool_call\n") {
		t.Errorf("check of the folder: exit code %d, %s", code, &out)
	}
	out.Reset()
	if code := runCheck([]string{folders[0], "--undeclared", "off"}, nil, &out, &out); code != exitOK || out.String() != "accepted\n" {
		t.Errorf("check without the guard: exit code %d, %s", code, &out)
	}

	for _, args := range [][]string{{folders[0]}, {dir}, {"--interval", "recorded", dir}, {"--chunk", "7", dir}} {
		again, stop := startMock(t, args...)
		if _, body, err := send(t, again, "m"); err != nil || body != string(stream) {
			t.Errorf("mock %s: %q, %v", args, body, err)
		}
		got := recordTurn(t, again, filepath.Join(t.TempDir(), "again"), request)
		if !bytes.Contains(got, []byte("undeclared_tool_call")) {
			t.Errorf("mock %s: the turn was not refused:\n%s", args, got)
		}
		if code, stderr := stop(); code != exitOK || strings.Count(stderr, "\n") != 2 {
			t.Errorf("mock %s: exit code %d, said of its requests: %s", args, code, stderr)
		}
	}
}

// recordTurn sends one request through a proxy that records in dir, stops the
// proxy, and returns what the client got.
func recordTurn(t *testing.T, upstream, dir string, request []byte) []byte {
	t.Helper()
	in := startServe(t, nil, "--upstream", strings.TrimSuffix(upstream, "/responses"), "--record", dir)
	resp, err := http.Post(in.url+"/v1/responses", "application/json", bytes.NewReader(request))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	http.DefaultClient.CloseIdleConnections()
	in.signals <- syscall.SIGTERM
	if code := <-in.exit; code != exitOK {
		t.Errorf("exit code %d", code)
	}
	return body
}
