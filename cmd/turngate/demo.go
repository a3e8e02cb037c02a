package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"

	"turngate/proxy"
	"turngate/proxy/mock"
	"turngate/testdata"
)

const demoUsage = `usage: turngate demo

Runs an upstream that plays recorded answers, turngate and a client in one
process, on free ports of the loopback interface, and shows what each of them
sends. It needs no key and no network, and ends by itself.
`

// runDemo is the command "turngate demo".
func runDemo(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	fs := flag.NewFlagSet("demo", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	switch err := fs.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(stdout, demoUsage)
		return exitOK
	case err != nil || fs.NArg() > 0:
		fmt.Fprint(stderr, "turngate demo: takes no arguments\n")
		return exitUsage
	}
	if err := playDemo(ctx, stdout); err != nil {
		fmt.Fprintf(stderr, "turngate demo: %v\n", err)
		return exitFailed
	}
	return exitOK
}

// playDemo plays all scenes. An error is also that one did not show what it is
// there to show.
func playDemo(ctx context.Context, out io.Writer) error {
	d := &demo{out: out, ctx: ctx}
	defer d.close()
	if err := d.start(); err != nil {
		return err
	}
	d.printf("turngate demo: an upstream, turngate and a client in one process.\n\n"+
		"  upstream  %s  plays recorded answers\n"+
		"  turngate  %s  what a client has for its base URL\n"+
		"  admin     %s     for operators\n\n"+
		"Every request declares one tool: read_file.\n", d.upstream+"/v1", d.gate+"/v1", d.admin)
	for i, s := range scenes() {
		d.printf("\n%d. %s\n", i+1, s.title)
		if err := d.play(s); err != nil {
			return fmt.Errorf("scene %d: %w", i+1, err)
		}
	}
	return d.showOperator(len(scenes()) + 1)
}

// demo is the stage: the servers, and the client that asks them.
type demo struct {
	ctx     context.Context
	out     io.Writer
	proxy   *proxy.Proxy
	servers []*http.Server
	client  http.Client

	upstream, gate, admin string // URLs
}

// start brings up the upstream, and turngate as "serve" would.
func (d *demo) start() (err error) {
	d.client.Transport = new(http.Transport)
	var turns []mock.Turn
	for _, s := range scenes() {
		body, err := testdata.Demo.ReadFile("streams/" + s.answer)
		if err != nil {
			return err
		}
		turns = append(turns, mock.Turn{Body: body})
	}
	if d.upstream, err = d.listen(mock.New(turns...)); err != nil {
		return err
	}
	settings, _, err := loadServe([]string{"--upstream", d.upstream + "/v1", "--state", "native"}, noEnvironment)
	if err != nil {
		return err
	}
	if d.proxy, err = proxy.New(proxyConfig(settings, slog.New(slog.DiscardHandler), nil)); err != nil {
		return err
	}
	if d.gate, err = d.listen(d.proxy.Handler()); err != nil {
		return err
	}
	d.admin, err = d.listen(d.proxy.AdminHandler())
	return err
}

// noEnvironment is the look-up of an environment without variables: the user's
// own settings must not change the demo.
func noEnvironment(string) (string, bool) { return "", false }

// listen serves h on a free port and returns its URL.
func (d *demo) listen(h http.Handler) (string, error) {
	var lc net.ListenConfig
	ln, err := lc.Listen(d.ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	srv := newHTTPServer(h, slog.New(slog.DiscardHandler))
	d.servers = append(d.servers, srv)
	go func() { _ = srv.Serve(ln) }() // ends with close
	return "http://" + ln.Addr().String(), nil
}

func (d *demo) close() {
	d.client.CloseIdleConnections()
	for _, srv := range d.servers {
		_ = srv.Close() // nothing is running any more
	}
}

// answer is what the client got.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// ask sends a scene's request to turngate and reads the answer to its end.
func (d *demo) ask(s scene) (answer, error) {
	body, err := testdata.Demo.ReadFile("requests/one-tool.json")
	if err != nil {
		return answer{}, err
	}
	if s.json {
		body = bytes.Replace(body, []byte(`"stream": true`), []byte(`"stream": false`), 1)
	}
	req, err := http.NewRequestWithContext(d.ctx, http.MethodPost, d.gate+"/v1/responses", bytes.NewReader(body))
	if err != nil {
		return answer{}, err
	}
	req.Header.Set("Content-Type", "application/json")
	if s.codex {
		req.Header.Set("Originator", "codex_exec")
	}
	return d.do(req)
}

// get reads a page of the admin listener.
func (d *demo) get(path string) ([]byte, error) {
	req, err := http.NewRequestWithContext(d.ctx, http.MethodGet, d.admin+path, nil)
	if err != nil {
		return nil, err
	}
	got, err := d.do(req)
	if err == nil && got.status != http.StatusOK {
		err = fmt.Errorf("GET %s: status %d", path, got.status)
	}
	return got.body, err
}

func (d *demo) do(req *http.Request) (answer, error) {
	resp, err := d.client.Do(req)
	if err != nil {
		return answer{}, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return answer{resp.StatusCode, resp.Header, body}, err
}

func (d *demo) printf(format string, args ...any) { fmt.Fprintf(d.out, format, args...) }
