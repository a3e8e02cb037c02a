package proxy

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"

	"turngate/guard"
	"turngate/proxy/transcript"
)

// JudgeFolder judges a recorded turn as the proxy did that recorded it. change,
// if set, may alter the upstream's settings before.
func JudgeFolder(f *transcript.Folder, change func(*Upstream)) (*Verdict, error) {
	u, maxEventBytes, err := recordedSettings(f.Upstream)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Path, err)
	}
	if change != nil {
		change(&u)
	}
	rec, err := readRecorded(f)
	if err != nil {
		return nil, err
	}
	return Judge(u, maxEventBytes, rec)
}

func readRecorded(f *transcript.Folder) (rec Recorded, err error) {
	rec = Recorded{ID: f.RequestID, Header: f.Request.Header, End: f.End}
	if f.UpstreamRequest == nil {
		var verdict struct{ Error string }
		if err := json.Unmarshal(f.Verdict, &verdict); err != nil || verdict.Error == "" {
			return rec, fmt.Errorf("%s: nothing was sent, and the verdict does not say why: %w", f.Path, err)
		}
		rec.Local = verdict.Error
		return rec, nil
	}
	if rec.Request, err = f.RequestBody(); err != nil {
		return rec, err
	}
	if rec.Sent, err = f.SentBody(); err != nil || f.UpstreamResponse == nil {
		return rec, err
	}
	rec.Response = &http.Response{
		StatusCode: f.UpstreamResponse.Status, Status: http.StatusText(f.UpstreamResponse.Status),
		Header: f.UpstreamResponse.Header, ContentLength: -1, Body: http.NoBody,
	}
	if rec.Response.Header == nil {
		rec.Response.Header = http.Header{}
	}
	file, err := f.OpenResponse()
	if errors.Is(err, fs.ErrNotExist) {
		rec.Response.Body = io.NopCloser(http.NoBody) // its end may still be another than a clean one
		return rec, nil
	}
	if err == nil {
		rec.Response.Body = file
	}
	return rec, err
}

// standIn takes the place of the credential that turngate had added, so that an
// answer is read as one to it.
const standIn = "a credential that was not recorded"

// recordedSettings returns what decided about a turn.
func recordedSettings(r *transcript.Upstream) (u Upstream, maxEventBytes int64, err error) {
	u = Upstream{Name: noUpstream, BaseURL: &url.URL{Scheme: "http", Host: "recorded.invalid", Path: "/v1"}}
	if r == nil { // the turn ended before
		return u, 0, nil
	}
	u.Name, u.HostedCalls, u.PassMissingEnd = r.Name, r.HostedCalls, r.MissingTerminal == "pass"
	if r.InjectsKey {
		u.Key = standIn
	}
	for _, m := range []struct {
		to   *guard.Mode
		from string
	}{{&u.Undeclared, r.Undeclared}, {&u.Arguments, r.Arguments}, {&u.Approvals, r.Approvals}} {
		if *m.to, err = guard.ParseMode(m.from); err != nil {
			return u, 0, err
		}
	}
	return u, r.MaxEventBytes, nil
}
