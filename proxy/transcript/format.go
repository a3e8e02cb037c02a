package transcript

import (
	"encoding/json"
	"net/http"
	"time"
)

// The files of a folder. A body that there was none of has no file.
const (
	fileMeta     = "turn.json"               // Meta, written last: a folder without it is of a turn that never ended
	fileRequest  = "request.json"            // the client's body, its content encoding undone
	fileSent     = "upstream-request.json"   // the body that went upstream
	fileResponse = "upstream-response.raw"   // what the upstream sent, byte for byte
	fileTimes    = "upstream-response.times" // a line "OFFSET MICROSECONDS" per read of it, since the turn began
	fileClient   = "client-response.raw"     // what the client was sent
)

// version is the format that this package writes, and the only one it reads.
const version = 1

// Meta is everything of a turn but its bodies.
type Meta struct {
	Version   int       `json:"version"`
	RequestID string    `json:"request_id"`
	Started   time.Time `json:"started"`

	Request          RequestHead   `json:"request"`
	Upstream         *Upstream     `json:"upstream"`         // nil: the turn ended before one was chosen
	UpstreamRequest  *RequestHead  `json:"upstream_request"` // nil: nothing was sent
	UpstreamResponse *ResponseHead `json:"upstream_response"`
	End              End           `json:"upstream_end"`
	ClientResponse   *ResponseHead `json:"client_response"`

	// Verdict is the turn as the list of recent turns shows it.
	Verdict json.RawMessage `json:"verdict"`
}

// Upstream is what of an upstream's settings decides about a turn.
type Upstream struct {
	Name            string   `json:"name"`
	BaseURL         string   `json:"base_url"` // without user info
	Undeclared      string   `json:"undeclared"`
	Arguments       string   `json:"arguments"`
	Approvals       string   `json:"approvals"`
	HostedCalls     []string `json:"hosted_calls,omitempty"`
	MissingTerminal string   `json:"missing_terminal"`
	InjectsKey      bool     `json:"injects_key"` // turngate authenticated with a credential of its own
	MaxEventBytes   int64    `json:"max_event_bytes"`
}

// RequestHead is a request without its body and without credentials.
type RequestHead struct {
	Method string      `json:"method"`
	URL    string      `json:"url"` // a client's begins with the path
	Header http.Header `json:"headers"`
}

// ResponseHead is a response without its body and without cookies.
type ResponseHead struct {
	Status int         `json:"status"`
	Header http.Header `json:"headers"`
	// Decoded is the content encoding that was undone before the body was kept.
	Decoded string `json:"decoded,omitempty"`
}

// End says how an upstream's answer ended, or why there is none.
type End string

const (
	EndNone          End = ""               // nothing was asked of the upstream
	EndClean         End = "eof"            // with its last byte
	EndUnread        End = "unread"         // turngate read no further: its client left, or it had seen enough
	EndReset         End = "reset"          // the connection broke
	EndStalled       End = "stalled"        // silent for longer than the idle timeout
	EndDrained       End = "drained"        // cut by turngate: the turn was over
	EndClientGone    End = "client_gone"    // cut because the client had left
	EndShutdown      End = "shutdown"       // cut because turngate was stopped
	EndUnreachable   End = "unreachable"    // no response head came
	EndHeaderTimeout End = "header_timeout" // no response head came in time
)

// Arrival is one read of an upstream's answer.
type Arrival struct {
	Offset int64         // of its first byte
	At     time.Duration // since the turn began
}
