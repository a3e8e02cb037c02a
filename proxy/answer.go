package proxy

import (
	"net/http"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"turngate/guard"
	"turngate/sse"
)

// codexFatal is the code that Codex shows once, with its message, and does not
// retry. Codes it does not know it sends five more times (S4).
const codexFatal = "invalid_prompt"

// errorBody is the error object of an HTTP answer.
type errorBody struct {
	Message   string         `json:"message"`
	Type      string         `json:"type"`
	Param     *string        `json:"param"`
	Code      string         `json:"code"`
	RequestID string         `json:"request_id"`
	Refusal   *guard.Refusal `json:"refusal,omitzero"`
}

// streamError is the error object of a response.failed.
type streamError struct {
	Code      string         `json:"code"`
	Type      string         `json:"type"`
	Message   string         `json:"message"`
	RequestID string         `json:"request_id"`
	Refusal   *guard.Refusal `json:"refusal,omitzero"`
}

// fail answers with f in the client's dialect. The response head must not have
// gone out.
func (ex *exchange) fail(f *failure) {
	h := ex.w.Header()
	h[headerError] = []string{f.code}
	if ex.codex && ex.turn && !ex.plain && (!f.final || f.stream == codexFatal) {
		h["Content-Type"] = []string{"text/event-stream; charset=utf-8"}
		ex.w.WriteHeader(http.StatusOK)
		ex.w.Write(ex.failureEvents(&guard.Turn{}, f))
		return
	}
	status, e := f.status, errorBody{Message: f.message, Type: f.httpType(), Code: f.code, RequestID: ex.id, Refusal: f.refusal}
	if f.param != "" {
		e.Param = &f.param
	}
	if ex.codex && ex.turn && f.final {
		status, e.Type, e.Code = http.StatusBadRequest, f.code, codexFatal
	}
	if f.final {
		h["X-Should-Retry"] = []string{"false"}
	}
	if f.after > 0 {
		h["Retry-After"] = []string{strconv.Itoa(int(f.after.Seconds()))}
	}
	ex.writeError(status, e)
}

// httpType is the error's type in an HTTP answer: the API's own words, and the
// reason itself for a refusal.
func (f *failure) httpType() string {
	switch {
	case f.refusal != nil:
		return f.code
	case f.status >= 500:
		return "server_error"
	}
	return "invalid_request_error"
}

// writeError answers with an error object.
func (ex *exchange) writeError(status int, e errorBody) {
	b, err := json.Marshal(struct {
		Error errorBody `json:"error"`
	}{e}, jsontext.AllowInvalidUTF8(true))
	if err != nil { // only types of ours come here
		ex.log.Error("cannot encode an answer", "request_id", ex.id, "error", err)
		status, b = http.StatusInternalServerError, nil
	}
	ex.writeRaw(status, b)
}

// writeRaw answers with JSON as it is.
func (ex *exchange) writeRaw(status int, b []byte) {
	h := ex.w.Header()
	h["Content-Type"] = []string{"application/json"}
	h["Content-Length"] = []string{strconv.Itoa(len(b))}
	ex.w.WriteHeader(status)
	ex.w.Write(b)
}

// streamCode is the code that a failure carries inside a stream.
func (ex *exchange) streamCode(f *failure) string {
	switch {
	case ex.codex && (f.refusal != nil || f.final):
		return codexFatal
	case f.stream != "":
		return f.stream
	}
	return f.code
}

// failureEvents encodes the end of a turn that failed (S3): a response.created
// if the client has not had an event yet, one response.failed, [DONE].
func (ex *exchange) failureEvents(turn *guard.Turn, f *failure) []byte {
	e := streamError{Code: ex.streamCode(f), Type: f.code, Message: f.message, RequestID: ex.id, Refusal: f.refusal}
	cause, err := json.Marshal(e, jsontext.AllowInvalidUTF8(true))
	if err != nil {
		cause = []byte(`{"code":"server_error","message":"turngate: cannot encode the error."}`)
	}
	snapshot := turn.Snapshot
	if snapshot == nil {
		snapshot = ex.blankResponse(turn.ID)
	}
	snapshot = guard.Restore(snapshot, ex.asked)
	var out []byte
	seq := turn.NextSequence()
	if turn.Events == 0 {
		out = appendEvent(out, "response.created", seq, snapshot)
		seq++
	}
	failed := guard.AppendEdited(nil, snapshot,
		guard.Edit{Key: "status", Value: []byte(`"failed"`)},
		guard.Edit{Key: "output", Value: joinItems(turn.Items)},
		guard.Edit{Key: "error", Value: cause})
	out = appendEvent(out, "response.failed", seq, failed)
	return sse.AppendEvent(out, "", []byte("[DONE]"))
}

// blankResponse is a response object for a turn of which the upstream has given
// none.
func (ex *exchange) blankResponse(id string) []byte {
	if id == "" {
		id = "resp_" + ex.id
	}
	b, err := json.Marshal(struct {
		ID         string           `json:"id"`
		Object     string           `json:"object"`
		CreatedAt  int64            `json:"created_at"`
		Status     string           `json:"status"`
		Error      *struct{}        `json:"error"`
		Incomplete *struct{}        `json:"incomplete_details"`
		Instr      *string          `json:"instructions"`
		Metadata   map[string]any   `json:"metadata"`
		Model      string           `json:"model"`
		Output     []jsontext.Value `json:"output"`
		Parallel   bool             `json:"parallel_tool_calls"`
		ToolChoice string           `json:"tool_choice"`
		Tools      []jsontext.Value `json:"tools"`
		Temp       *float64         `json:"temperature"`
		TopP       *float64         `json:"top_p"`
		Usage      *struct{}        `json:"usage"`
	}{ID: id, Object: "response", CreatedAt: ex.start.Unix(), Status: "in_progress", Model: ex.model, Parallel: true, ToolChoice: "auto"},
		jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return []byte(`{"object":"response"}`)
	}
	return b
}

// appendEvent appends a lifecycle event around a response object.
func appendEvent(dst []byte, typ string, seq int64, response []byte) []byte {
	data := append([]byte(`{"type":"`+typ+`","sequence_number":`), strconv.FormatInt(seq, 10)...)
	data = append(data, `,"response":`...)
	data = append(append(data, response...), '}')
	v := jsontext.Value(data)
	if v.Compact(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)) == nil {
		data = v
	}
	return sse.AppendEvent(dst, typ, data)
}

func joinItems(items [][]byte) []byte {
	out := []byte{'['}
	for i, item := range items {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, item...)
	}
	return append(out, ']')
}
