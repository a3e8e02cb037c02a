package proxy

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"time"

	"turngate/proxy/transcript"
)

// flushTime is what the disk gets at the end to take the last recorded turns.
const flushTime = 5 * time.Second

// startRecorder gives next the recorder that it asks for: the one at work, if
// that is the same.
func (p *Proxy) startRecorder(next *settings) error {
	if next.Record == "" {
		return nil
	}
	if old := p.settings.Load(); old != nil && old.recorder != nil && old.Record == next.Record && old.RecordMaxBytes == next.RecordMaxBytes {
		next.recorder = old.recorder
		return nil
	}
	r, err := transcript.NewRecorder(transcript.Options{
		Dir: next.Record, MaxBytes: next.RecordMaxBytes, Logger: next.Logger,
		Count: func(result string) { p.metrics.recorded.WithLabelValues(result).Inc() },
	})
	if err != nil {
		return err
	}
	next.recorder = r
	p.writers.Go(r.Run)
	return nil
}

// stopRecorder ends the recorder of s, unless next goes on with it, as soon as
// the turns that it has begun have ended.
func (s *settings) stopRecorder(next *settings) {
	if s.recorder != nil && (next == nil || s.recorder != next.recorder) {
		s.recorder.Close()
	}
}

// flushRecordings waits for a bounded time until all that was recorded is on
// disk. All turns have ended.
func (p *Proxy) flushRecordings() error {
	p.settings.Load().stopRecorder(nil)
	done := make(chan struct{})
	go func() {
		p.writers.Wait()
		close(done)
	}()
	late := time.NewTimer(flushTime)
	defer late.Stop()
	select {
	case <-done:
		return nil
	case <-late.C:
		return errors.New("recorded turns are not all on disk")
	}
}

// recording is a turn that is being recorded. A nil recording does nothing: so
// a turn that is not recorded pays for a comparison here and there.
type recording struct {
	t    *turn
	out  *transcript.Turn
	meta transcript.Meta
}

// startRecording begins to record the turn, if that is asked for.
func (t *turn) startRecording() {
	if t.cfg.recorder == nil {
		return
	}
	out := t.cfg.recorder.Begin(t.id, t.start, t.r.Header, t.r.URL.RawQuery, t.cfg.secrets())
	if out == nil { // the recorder was replaced a moment ago
		return
	}
	url := *t.r.URL
	url.Scheme, url.Host = "", ""
	t.recording = &recording{t: t, out: out, meta: transcript.Meta{
		RequestID: t.id,
		Request:   transcript.RequestHead{Method: t.r.Method, URL: transcript.CleanURL(&url), Header: transcript.CleanHeader(t.r.Header)},
	}}
	t.w = &recordedWriter{ResponseWriter: t.w, recording: t.recording}
}

// secrets returns the credentials of all upstreams.
func (s *settings) secrets() [][]byte {
	var all [][]byte
	for _, r := range s.routes {
		all = append(all, r.secrets...)
	}
	return all
}

// request keeps the client's body.
func (r *recording) request(b *body) {
	if r != nil {
		r.out.Request(b.bytes)
	}
}

// sent keeps the request that goes upstream.
func (r *recording) sent(req *http.Request, b *body) {
	if r == nil {
		return
	}
	r.meta.UpstreamRequest = &transcript.RequestHead{
		Method: req.Method, URL: transcript.CleanURL(req.URL), Header: transcript.CleanHeader(req.Header),
	}
	r.out.Sent(b.bytes)
}

// answer keeps the head of an answer and puts a tap on its body. A content
// encoding is undone before: credentials could not be found under it.
func (r *recording) answer(resp *http.Response) {
	if r == nil {
		return
	}
	head := &transcript.ResponseHead{Status: resp.StatusCode}
	r.meta.UpstreamResponse, r.meta.End = head, transcript.EndUnread
	encoding := resp.Header.Get("Content-Encoding")
	body, ok := decoded(resp)
	if !ok { // nobody else shall try with what is left of it
		r.meta.End = r.t.endOf(io.ErrUnexpectedEOF)
		head.Header = transcript.CleanHeader(resp.Header)
		resp.Body = struct {
			io.Reader
			io.Closer
		}{http.NoBody, resp.Body}
		return
	}
	if encoding != "" {
		resp.Header.Del("Content-Encoding")
		head.Decoded = encoding
	}
	head.Header = transcript.CleanHeader(resp.Header)
	resp.Body = &tap{ReadCloser: body, recording: r}
}

// tap keeps what is read of an upstream's answer.
type tap struct {
	io.ReadCloser
	recording *recording
}

func (t *tap) Read(p []byte) (int, error) {
	n, err := t.ReadCloser.Read(p)
	if n > 0 {
		t.recording.out.Response(p[:n])
	}
	if err != nil {
		t.recording.meta.End = t.recording.t.endOf(err)
	}
	return n, err
}

// endOf names what an upstream's answer ended with.
func (t *turn) endOf(err error) transcript.End {
	switch cause := context.Cause(t.ctx); {
	case err == io.EOF:
		return transcript.EndClean
	case errors.Is(cause, errClientGone):
		return transcript.EndClientGone
	case errors.Is(cause, errShutdown):
		return transcript.EndShutdown
	case errors.Is(cause, errIdle):
		return transcript.EndStalled
	case cause != nil:
		return transcript.EndDrained
	}
	return transcript.EndReset
}

// end ends the recording with the verdict. The turn is over.
func (r *recording) end() {
	if r == nil {
		return
	}
	t := r.t
	name := noUpstream
	if t.route != nil {
		name = t.route.Name
		r.meta.Upstream = t.recordedUpstream()
	}
	if r.meta.UpstreamRequest != nil && r.meta.UpstreamResponse == nil {
		r.meta.End = unansweredEnd(t.failure)
	}
	verdict, err := json.Marshal(t.record(name, t.ended))
	if err != nil { // only types of ours come here
		t.log.Error("cannot encode a turn", "request_id", t.id, "error", err)
	}
	r.meta.Verdict = verdict
	r.out.End(&r.meta)
}

// unansweredEnd says why a request got no answer.
func unansweredEnd(f *failure) transcript.End {
	switch {
	case f == nil:
		return transcript.EndUnreachable
	case f.outcome == outcomeClientGone:
		return transcript.EndClientGone
	case f.outcome == outcomeTimeout:
		return transcript.EndHeaderTimeout
	case f.code == codeShutdown:
		return transcript.EndShutdown
	}
	return transcript.EndUnreachable
}

// recordedUpstream returns the settings that decide about the turn.
func (t *turn) recordedUpstream() *transcript.Upstream {
	u := t.route
	end := "fail"
	if u.PassMissingEnd {
		end = "pass"
	}
	return &transcript.Upstream{
		Name: u.Name, BaseURL: transcript.CleanURL(u.BaseURL),
		Undeclared: u.Undeclared.String(), Arguments: u.Arguments.String(), Approvals: u.Approvals.String(),
		HostedCalls: slices.Clone(u.HostedCalls), MissingTerminal: end, InjectsKey: u.injects,
		MaxEventBytes: t.cfg.MaxEventBytes,
	}
}

// recordedWriter keeps what a client is sent.
type recordedWriter struct {
	http.ResponseWriter
	recording *recording
}

// Unwrap lets http.ResponseController find the connection.
func (w *recordedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *recordedWriter) WriteHeader(status int) {
	w.recording.meta.ClientResponse = &transcript.ResponseHead{Status: status, Header: transcript.CleanHeader(w.Header())}
	w.ResponseWriter.WriteHeader(status)
}

func (w *recordedWriter) Write(b []byte) (int, error) {
	n, err := w.ResponseWriter.Write(b)
	if n > 0 {
		w.recording.out.Client(b[:n])
	}
	return n, err
}
