package main_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync"
	"testing"
)

// exchange is one request that arrived at turngate, and its answer.
type exchange struct {
	Method   string
	Path     string
	Encoding string // the request's content encoding
	Status   int
	Body     string // the answer's, as far as the client read it
}

// tap is a transparent proxy that counts what goes through it.
type tap struct {
	url string

	mu   sync.Mutex
	seen []*exchange
}

// startTap starts a tap in front of target.
func startTap(t *testing.T, target string) *tap {
	t.Helper()
	to, err := url.Parse(target)
	if err != nil {
		t.Fatal(err)
	}
	tap := new(tap)
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(to)
			// Read whole before it is sent on: net/http closes a request's body when
			// its answer starts, and a transport that is not quite done with it then
			// closes the connection (golang/go#40747).
			body, err := io.ReadAll(r.In.Body)
			if err != nil {
				t.Errorf("tap: request body: %v", err)
			}
			r.Out.Body = io.NopCloser(bytes.NewReader(body))
		},
		FlushInterval: -1,
		ModifyResponse: func(resp *http.Response) error {
			resp.Body = tap.add(resp)
			return nil
		},
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			if r.Context().Err() == nil { // not because the client left
				t.Errorf("tap: %s %s: %v", r.Method, r.URL.Path, err)
			}
			w.WriteHeader(http.StatusBadGateway)
		},
	}
	srv := httptest.NewServer(proxy)
	t.Cleanup(srv.Close)
	tap.url = srv.URL
	return tap
}

// add remembers the exchange of resp and returns a body that fills it in.
func (tp *tap) add(resp *http.Response) io.ReadCloser {
	req := resp.Request
	e := &exchange{
		Method: req.Method, Path: req.URL.Path, Encoding: req.Header.Get("Content-Encoding"), Status: resp.StatusCode,
	}
	tp.mu.Lock()
	tp.seen = append(tp.seen, e)
	tp.mu.Unlock()
	return &tapBody{ReadCloser: resp.Body, tap: tp, to: e}
}

// exchanges returns what went through so far.
func (tp *tap) exchanges() []exchange {
	tp.mu.Lock()
	defer tp.mu.Unlock()
	all := make([]exchange, len(tp.seen))
	for i, e := range tp.seen {
		all[i] = *e
	}
	return all
}

// tapBody is a response body that remembers what was read of it.
type tapBody struct {
	io.ReadCloser
	tap *tap
	to  *exchange
}

func (b *tapBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.tap.mu.Lock()
	defer b.tap.mu.Unlock()
	b.to.Body += string(p[:n])
	return n, err
}
