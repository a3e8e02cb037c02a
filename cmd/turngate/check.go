package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"

	"turngate/cmd/turngate/config"
	"turngate/guard"
	"turngate/proxy"
	"turngate/proxy/transcript"
)

const checkUsage = `usage: turngate check [flags] --request REQ.json RESPONSE
       turngate check [flags] FOLDER

Judges a recorded turn as the proxy would have: one line per finding, and a last
line "accepted" or "refused: REASON". RESPONSE is what an upstream sent to the
request in REQ.json, an event stream or JSON, - for stdin. FOLDER is a turn that
"turngate serve --record" has kept; it brings its request and the settings that
were in force, which the flags override. --undeclared auto refuses, wherever the
answer is from.

The exit code is 0 for accepted, 1 for refused, 2 for input that cannot be read.

flags:
`

// checkOptions is what the command line of "turngate check" asks for.
type checkOptions struct {
	request  string
	response string // a file, a folder, or -
	json     bool
	settings config.Settings
	given    map[string]bool // flags
}

// runCheck is the command "turngate check".
func runCheck(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	verdict, opt, err := check(args, stdin, stdout)
	if errors.Is(err, flag.ErrHelp) {
		return exitOK
	}
	if err == nil {
		err = writeVerdict(stdout, verdict, opt.json)
	}
	switch {
	case err != nil:
		fmt.Fprintf(stderr, "turngate check: %v\n", err)
		return exitUsage
	case verdict.Refused():
		return exitFailed
	}
	return exitOK
}

func check(args []string, stdin io.Reader, stdout io.Writer) (*proxy.Verdict, *checkOptions, error) {
	opt, err := parseCheck(args, stdout)
	if err != nil {
		return nil, nil, err
	}
	if opt.request == "" {
		f, err := transcript.Open(opt.response)
		if err != nil {
			return nil, nil, err
		}
		v, err := proxy.JudgeFolder(f, opt.override)
		return v, opt, err
	}
	v, err := opt.judgeFiles(stdin)
	return v, opt, err
}

// parseCheck reads the command line; flags may stand behind the argument. Help
// goes to stdout.
func parseCheck(args []string, stdout io.Writer) (*checkOptions, error) {
	o := &checkOptions{given: map[string]bool{}}
	fs := flag.NewFlagSet("check", flag.ContinueOnError)
	fs.SetOutput(io.Discard) // errors are shown by the caller, once
	fs.StringVar(&o.request, "request", "", "`REQ.json` to which RESPONSE is the answer")
	fs.BoolVar(&o.json, "json", false, "print one JSON object")
	config.Register(fs, &o.settings, "undeclared", "arguments", "approvals", "missing-terminal", "max-event-bytes")
	var paths []string
	for {
		if err := fs.Parse(args); err != nil {
			if errors.Is(err, flag.ErrHelp) {
				fmt.Fprint(stdout, checkUsage)
				config.WriteFlags(stdout, fs)
			}
			return nil, err
		}
		if args = fs.Args(); len(args) == 0 {
			break
		}
		paths, args = append(paths, args[0]), args[1:]
	}
	if len(paths) != 1 {
		return nil, errors.New("one RESPONSE or FOLDER is needed; see turngate check --help")
	}
	o.response = paths[0]
	fs.Visit(func(f *flag.Flag) { o.given[f.Name] = true })
	switch folder := o.response != "-" && isFolder(o.response); {
	case folder && o.request != "":
		return nil, errors.New("a folder brings its own request: no --request beside it")
	case !folder && o.request == "":
		return nil, errors.New("--request is needed beside a RESPONSE")
	}
	return o, nil
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// judgeFiles judges a request and an answer that lie in files.
func (o *checkOptions) judgeFiles(stdin io.Reader) (*proxy.Verdict, error) {
	request, err := os.ReadFile(o.request)
	if err != nil {
		return nil, err
	}
	if _, err := guard.ReadRequest(request); err != nil {
		return nil, fmt.Errorf("%s: %w", o.request, err)
	}
	body := io.NopCloser(stdin)
	if o.response != "-" {
		if body, err = os.Open(o.response); err != nil {
			return nil, err
		}
	}
	// What it is, its bytes say; the type only helps where they could be either.
	contentType := "text/event-stream"
	if filepath.Ext(o.response) == ".json" {
		contentType = "application/json"
	}
	source := &watched{ReadCloser: body}
	verdict, err := proxy.Judge(o.upstream(), o.settings.MaxEventBytes, proxy.Recorded{
		Request: request, End: transcript.EndClean,
		Response: &http.Response{
			StatusCode: http.StatusOK, Status: "200 OK", ContentLength: -1,
			Header: http.Header{"Content-Type": {contentType}}, Body: source,
		},
	})
	if source.err != nil { // the verdict would be on half the answer
		return nil, source.err
	}
	return verdict, err
}

// watched remembers how reading an answer failed, which to the proxy is the
// upstream's fault.
type watched struct {
	io.ReadCloser
	err error
}

func (w *watched) Read(p []byte) (int, error) {
	n, err := w.ReadCloser.Read(p)
	if err != nil && err != io.EOF {
		w.err = err
	}
	return n, err
}

// upstream returns an upstream with the settings of the command line. "auto"
// refuses: where the answer is from is not known.
func (o *checkOptions) upstream() proxy.Upstream {
	u := proxy.Upstream{Name: "default", BaseURL: &url.URL{Scheme: "http", Host: "recorded.invalid", Path: "/v1"}}
	for _, name := range []string{"undeclared", "arguments", "approvals", "missing-terminal"} {
		o.set(&u, name)
	}
	return u
}

// override changes the recorded settings of an upstream to what was given.
func (o *checkOptions) override(u *proxy.Upstream) {
	for name := range o.given {
		o.set(u, name)
	}
}

// set takes one setting of the command line.
func (o *checkOptions) set(u *proxy.Upstream, name string) {
	switch name {
	case "undeclared":
		u.Undeclared = config.UndeclaredMode(o.settings.Undeclared, false)
	case "arguments":
		u.Arguments = o.settings.Arguments
	case "approvals":
		u.Approvals = o.settings.Approvals
	case "missing-terminal":
		u.PassMissingEnd = o.settings.MissingTerminal == "pass"
	}
}
