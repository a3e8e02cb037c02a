package mock_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"turngate/proxy/mock"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// serve starts an upstream with turns.
func serve(t *testing.T, turns ...mock.Turn) (*mock.Upstream, string) {
	t.Helper()
	u := mock.New(turns...)
	srv := httptest.NewServer(u)
	t.Cleanup(srv.Close)
	t.Cleanup(http.DefaultClient.CloseIdleConnections)
	return u, srv.URL + "/v1"
}

// post asks for a turn and returns the response; the test closes its body.
func post(t *testing.T, url, body string) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/responses", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-Seen", "yes")
	resp, err := http.DefaultTransport.RoundTrip(req) // follows no redirect
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	return resp
}

func read(t *testing.T, r io.Reader) string {
	t.Helper()
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// wait waits for the counts, for as long as the test may run.
func wait(t *testing.T, u *mock.Upstream, done func(mock.Counts) bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if err := u.Wait(ctx, done); err != nil {
		t.Fatalf("counts are %+v: %v", u.Counts(), err)
	}
}

func named(name, body string) mock.Turn { return mock.Turn{Name: name, Body: []byte(body)} }

func TestTurnIsChosenByRouteModelAndOrder(t *testing.T) {
	u, url := serve(t,
		named("one", "1"), named("two", "2a"), named("two", "2b"), named("", "3"),
		mock.Turn{Route: "GET /v1/models", Body: []byte(`{"models":[]}`)},
	)
	var got []string
	for _, model := range []string{"two", "two", "two", "x", "one", "x", "x", "x", "x"} {
		got = append(got, read(t, post(t, url, `{"model":"`+model+`"}`).Body))
	}
	want := []string{"2a", "2b", "2b", "1", "1", "2a", "2b", "3", "3"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("answers (-want +got):\n%s", diff)
	}

	for path, status := range map[string]int{"/models": 200, "/other": 404} {
		resp, err := http.Get(url + path)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != status {
			t.Errorf("GET %s: status %d, want %d", path, resp.StatusCode, status)
		}
	}
	if got := u.Counts(); got.Received != 11 {
		t.Errorf("received %d requests, want 11", got.Received)
	}
}

func TestRequestIsRecorded(t *testing.T) {
	u, url := serve(t, named("m", "{}"))
	var observed []mock.Request
	u.Observe(func(r mock.Request) { observed = append(observed, r) })
	post(t, url, `{"model":"m","input":"hi"}`)
	wait(t, u, func(c mock.Counts) bool { return c.Ended == 1 })

	got := u.Requests()
	if len(got) != 1 {
		t.Fatalf("%d requests, want 1", len(got))
	}
	r := got[0]
	if r.Method != "POST" || r.Path != "/v1/responses" || r.Model != "m" || r.Turn != "m" ||
		string(r.Body) != `{"model":"m","input":"hi"}` || r.Header.Get("X-Seen") != "yes" {
		t.Errorf("request is %+v", r)
	}
	if diff := cmp.Diff(got, observed); diff != "" {
		t.Errorf("observed other than recorded:\n%s", diff)
	}
}

func TestHead(t *testing.T) {
	for name, tc := range map[string]struct {
		turn   mock.Turn
		status int
		ctype  []string
		header map[string]string
	}{
		"event stream": {turn: named("", "data: x\n\n"), status: 200, ctype: []string{"text/event-stream"}},
		"json":         {turn: named("", " {}"), status: 200, ctype: []string{"application/json"}},
		"none":         {turn: mock.Turn{ContentType: mock.NoContentType}, status: 200},
		"given": {
			turn:   mock.Turn{ContentType: "text/html", Status: 503, Header: http.Header{"Retry-After": {"3"}}},
			status: 503, ctype: []string{"text/html"}, header: map[string]string{"Retry-After": "3"},
		},
		"redirect": {
			turn:   mock.Turn{Redirect: "http://elsewhere.invalid/v1"},
			status: 307, ctype: []string{"text/event-stream"}, header: map[string]string{"Location": "http://elsewhere.invalid/v1"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, url := serve(t, tc.turn)
			resp := post(t, url, "{}")
			if resp.StatusCode != tc.status {
				t.Errorf("status %d, want %d", resp.StatusCode, tc.status)
			}
			if diff := cmp.Diff(tc.ctype, resp.Header["Content-Type"]); diff != "" {
				t.Errorf("content type (-want +got):\n%s", diff)
			}
			for key, want := range tc.header {
				if got := resp.Header.Get(key); got != want {
					t.Errorf("%s: %q, want %q", key, got, want)
				}
			}
		})
	}
}

func TestPaceKeepsTheBytes(t *testing.T) {
	body := ": hello\r\n\r\ndata: one\n\ndata: two\r\rdata: three"
	for name, turn := range map[string]mock.Turn{
		"whole":             {},
		"bytes":             {Chunk: 1},
		"chunks":            {Chunk: 7},
		"interval":          {Interval: time.Millisecond},
		"chunks, interval":  {Chunk: 3, Interval: time.Millisecond},
		"fault at the end":  {Fault: mock.Cut, At: 1000},
		"stall that is let": {Fault: mock.Stall, At: 5, Resume: closed()},
	} {
		t.Run(name, func(t *testing.T) {
			turn.Body = []byte(body)
			_, url := serve(t, turn)
			if got := read(t, post(t, url, "{}").Body); got != body {
				t.Errorf("got %q, want %q", got, body)
			}
		})
	}
}

func closed() <-chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}

func TestFaults(t *testing.T) {
	for _, tc := range []struct {
		fault mock.Fault
		err   error
		want  mock.Counts
	}{
		{mock.Cut, nil, mock.Counts{Received: 1, Ended: 1}},
		{mock.Reset, syscall.ECONNRESET, mock.Counts{Received: 1, Ended: 1, Broken: 1}},
		{mock.Abort, io.ErrUnexpectedEOF, mock.Counts{Received: 1, Ended: 1, Broken: 1}},
	} {
		t.Run(tc.fault.String(), func(t *testing.T) {
			u, url := serve(t, mock.Turn{Body: []byte("data: one\n\ndata: two\n\n"), Fault: tc.fault, At: 15})
			got, err := io.ReadAll(post(t, url, "{}").Body)
			if !errors.Is(err, tc.err) {
				t.Errorf("read error %v, want %v", err, tc.err)
			}
			if string(got) != "data: one\n\ndata" {
				t.Errorf("got %q before the fault", got)
			}
			wait(t, u, func(c mock.Counts) bool { return c == tc.want })
		})
	}
}

func TestFaultBeforeTheHead(t *testing.T) {
	for _, fault := range []mock.Fault{mock.Cut, mock.Reset, mock.Abort} {
		t.Run(fault.String(), func(t *testing.T) {
			u, url := serve(t, mock.Turn{Fault: fault, At: -1})
			// A new connection: on one used before, the client would try again.
			tr := &http.Transport{DisableKeepAlives: true}
			resp, err := (&http.Client{Transport: tr}).Post(url+"/responses", "application/json", strings.NewReader("{}"))
			if err == nil {
				resp.Body.Close()
				t.Fatalf("status %s, want an error", resp.Status)
			}
			wait(t, u, func(c mock.Counts) bool { return c.Broken == 1 })
		})
	}
}

func TestStallEndsWhenTheClientLeaves(t *testing.T) {
	u, url := serve(t, mock.Turn{Body: []byte("data: one\n\ndata: two\n\n"), Fault: mock.Stall, At: 11})
	resp := post(t, url, "{}")
	line, err := bufio.NewReader(resp.Body).ReadString('\n')
	if err != nil || line != "data: one\n" {
		t.Fatalf("read %q, %v", line, err)
	}
	if got := u.Counts(); got.Ended != 0 {
		t.Fatalf("ended although the client is there: %+v", got)
	}
	resp.Body.Close()
	wait(t, u, func(c mock.Counts) bool { return c.Gone == 1 && c.Ended == 1 })
}

func TestWaitEndsWithItsContext(t *testing.T) {
	u := mock.New()
	ctx, cancel := context.WithCancelCause(t.Context())
	reason := errors.New("enough")
	cancel(reason)
	if err := u.Wait(ctx, func(mock.Counts) bool { return false }); !errors.Is(err, reason) {
		t.Errorf("got %v, want %v", err, reason)
	}
}
