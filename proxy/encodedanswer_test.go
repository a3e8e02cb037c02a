package proxy

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"testing"

	"turngate/proxy/mock"
)

// encoded returns a turn that is sent in a content encoding although the proxy
// asks for none.
func encoded(t *testing.T, encoding string, turn mock.Turn) mock.Turn {
	if turn.ContentType == "" {
		turn.ContentType = "application/json"
		if !bytes.HasPrefix(turn.Body, []byte("{")) {
			turn.ContentType = "text/event-stream"
		}
	}
	turn.Body = encode(t, encoding, turn.Body)
	turn.Header = http.Header{"Content-Encoding": {encoding}}
	return turn
}

// TestKX2EncodedAnswers decodes what was encoded in spite of identity, and
// judges it (G14).
func TestKX2EncodedAnswers(t *testing.T) {
	good := new(mock.Stream).Created().Call(0, mock.FC("read_file", `{"path":"a"}`)).Completed()
	bad := new(mock.Stream).Created().Call(0, mock.FC("rm_all", `{"secret":1}`)).Completed()
	for _, encoding := range []string{"gzip", "zstd"} {
		for _, stream := range []bool{true, false} {
			pick := func(s *mock.Stream) mock.Turn {
				if stream {
					return s.Turn()
				}
				return s.JSONTurn()
			}
			body := requestBody(t, "one-tool", stream)

			r := newRig(t, nil, encoded(t, encoding, pick(good)))
			got := r.post(body, nil)
			if got.status != http.StatusOK || !bytes.Equal(got.body, pick(good).Body) {
				t.Errorf("%s: the client got %d %q", encoding, got.status, got.body)
			}
			r.wantHeader(got, "Content-Encoding", "")

			r = newRig(t, nil, encoded(t, encoding, pick(bad)))
			got = r.post(body, nil)
			if bytes.Contains(got.body, []byte("secret")) || !bytes.Contains(got.body, []byte("undeclared_tool_call")) {
				t.Errorf("%s: the client got %d %q", encoding, got.status, got.body)
			}
			if o := r.lastTurn().Outcome; o != string(outcomeRefused) {
				t.Errorf("%s: outcome %s", encoding, o)
			}
		}
	}
}

// TestKX2EncodedStreamFlows shows that an event is relayed when it was flushed,
// not when the encoding's block or the stream ends.
func TestKX2EncodedStreamFlows(t *testing.T) {
	var body bytes.Buffer
	w := gzip.NewWriter(&body)
	first := new(mock.Stream).Created()
	w.Write(first.Bytes())
	w.Flush()
	at, size := body.Len(), first.Len()
	w.Write(first.Completed().Bytes()[size:])
	w.Close()
	resume := make(chan struct{})
	r := newRig(t, nil, mock.Turn{Body: body.Bytes(), ContentType: "text/event-stream",
		Header: http.Header{"Content-Encoding": {"gzip"}}, Fault: mock.Stall, At: at, Resume: resume})
	resp, err := r.client.Post(r.base+"/responses", "application/json", bytes.NewReader([]byte(`{"model":"m","stream":true}`)))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	client := bufio.NewReader(resp.Body)
	head := make([]byte, size)
	if _, err := io.ReadFull(client, head); err != nil {
		t.Fatal(err)
	}
	close(resume)
	rest, err := io.ReadAll(client)
	if err != nil || !bytes.Equal(append(head, rest...), first.Bytes()) {
		t.Errorf("the client got %q (%v)", append(head, rest...), err)
	}
}

// TestUnreadableEncodedAnswers are 502, and the client is not shown the bytes.
func TestUnreadableEncodedAnswers(t *testing.T) {
	json := new(mock.Stream).Completed().JSON()
	for name, tc := range map[string]struct {
		encoding string
		body     []byte
		code     string
	}{
		"br":       {"br", json, "upstream_protocol_error"},
		"deflate":  {"deflate", json, "upstream_protocol_error"},
		"twice":    {"gzip, gzip", encode(t, "gzip", encode(t, "gzip", json)), "upstream_protocol_error"},
		"not gzip": {"gzip", json, "upstream_protocol_error"},
		"not zstd": {"zstd", json, "upstream_unreachable"},
		"cut":      {"gzip", encode(t, "gzip", json)[:100], "upstream_unreachable"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, nil, mock.Turn{Body: tc.body, ContentType: "application/json", Header: http.Header{"Content-Encoding": {tc.encoding}}})
			got := r.post([]byte(`{"model":"m"}`), nil)
			r.wantError(got, http.StatusBadGateway, tc.code)
			if bytes.Contains(got.body, []byte("resp_1")) {
				t.Errorf("the client was shown %s", got.body)
			}
		})
	}
	// An error's status is kept when its body cannot be.
	r := newRig(t, nil, mock.Turn{Status: 429, Body: []byte("xx"), ContentType: "application/json", Header: http.Header{"Content-Encoding": {"br"}}})
	r.wantError(r.post([]byte(`{"model":"m"}`), nil), http.StatusTooManyRequests, "upstream_error")
}

// TestEncodedPassedAnswers decodes what is not a turn too; HEAD has an encoding
// without a body.
func TestEncodedPassedAnswers(t *testing.T) {
	r := newRig(t, nil, encoded(t, "gzip", mock.Turn{Route: "GET /v1/models", Body: []byte(`{"models":[]}`)}),
		mock.Turn{Route: "HEAD /v1/models", Header: http.Header{"Content-Encoding": {"gzip"}}},
		mock.Turn{Route: "GET /v1/files", Body: []byte("x"), Header: http.Header{"Content-Encoding": {"br"}}})
	if got := r.do("GET", "/models", nil, nil); string(got.body) != `{"models":[]}` || got.header.Get("Content-Encoding") != "" {
		t.Errorf("%d %q %v", got.status, got.body, got.header)
	}
	if got := r.do("HEAD", "/models", nil, nil); got.status != http.StatusOK {
		t.Errorf("HEAD: %d", got.status)
	}
	r.wantError(r.do("GET", "/files", nil, nil), http.StatusBadGateway, "upstream_protocol_error")
}
