package mock

import (
	"encoding/json"
	"os"
	"path/filepath"

	"turngate/proxy/transcript"
)

// loadRecorded reads the recorded turn at path, or those in it, the oldest
// first; none if path is something else.
func loadRecorded(path string) ([]Turn, error) {
	folders := []string{path}
	if !transcript.Is(path) {
		folders = nil
		entries, err := os.ReadDir(path) // sorted by name, which begins with the time
		if err != nil {
			return nil, nil // a file, or what Load is going to complain of
		}
		for _, e := range entries {
			if folder := filepath.Join(path, e.Name()); transcript.Is(folder) {
				folders = append(folders, folder)
			}
		}
	}
	var turns []Turn
	for _, folder := range folders {
		f, err := transcript.Open(folder)
		if err != nil {
			return nil, err
		}
		if f.UpstreamRequest == nil {
			continue // the upstream was not asked
		}
		t, err := recordedTurn(f)
		if err != nil {
			return nil, err
		}
		turns = append(turns, t)
	}
	return turns, nil
}

// recordedTurn returns a turn that answers as the recorded upstream did: its
// status, headers and bytes, and how they ended.
func recordedTurn(f *transcript.Folder) (Turn, error) {
	request, err := f.SentBody()
	if err != nil {
		return Turn{}, err
	}
	var asked struct{ Model string }
	_ = json.Unmarshal(request, &asked) // without a model, any request fits
	t := Turn{Name: asked.Model}
	if f.UpstreamResponse == nil {
		t.Fault, t.At = Reset, -1
		if f.End == transcript.EndHeaderTimeout {
			t.Fault = Stall
		}
		return t, nil
	}
	if t.Body, err = f.ResponseBody(); err != nil {
		return Turn{}, err
	}
	t.Status, t.Header = f.UpstreamResponse.Status, f.UpstreamResponse.Header.Clone()
	t.ContentType = t.Header.Get("Content-Type")
	if t.ContentType == "" {
		t.ContentType = NoContentType
	}
	for _, own := range []string{"Content-Type", "Content-Length", "Date"} {
		t.Header.Del(own)
	}
	t.At = len(t.Body)
	switch f.End {
	case transcript.EndReset:
		t.Fault = Reset
	case transcript.EndStalled, transcript.EndDrained: // it was still open
		t.Fault = Stall
	}
	arrivals, err := f.Arrivals()
	for _, a := range arrivals {
		t.Arrivals = append(t.Arrivals, Arrival{Offset: int(a.Offset), At: a.At})
	}
	return t, err
}
