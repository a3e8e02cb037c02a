package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strconv"
	"time"

	"turngate/cmd/turngate/config"
	"turngate/proxy/mock"
)

const mockUsage = `usage: turngate mock [flags] PATH...

Serves recorded turns as an upstream. A PATH is a file, or a folder whose .sse
and .json files are taken in the order of their names: an .sse file is streamed
as it is, a .json file is a JSON answer. Or it is a turn that "turngate serve
--record" has kept, or a folder of those: it is answered with the status, the
headers, the bytes and the end that the upstream's answer had.

The file whose name, without ending, is the request's model answers, or the turn
that was recorded for that model; if there is none, all are served in order, and
the last one repeats. Each request is named on stderr.

flags:
`

// mockOptions is what the command line of "turngate mock" asks for.
type mockOptions struct {
	listen string
	record string
	paths  []string
	knobs  mock.Turn // every turn is sent like this one
	paced  bool      // recorded turns are sent at their own pace
}

// runMock is the command "turngate mock": it serves until ctx ends.
func runMock(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	log := log.New(stderr, "turngate mock: ", 0) // requests come at once; a logger takes turns
	opts, err := parseMock(args, stdout)
	if errors.Is(err, flag.ErrHelp) {
		return exitOK
	}
	var upstream *mock.Upstream
	if err == nil {
		upstream, err = opts.upstream(log)
	}
	if err != nil {
		log.Print(err)
		return exitUsage
	}
	if err := serveMock(ctx, opts.listen, upstream, stdout); err != nil {
		log.Print(err)
		return exitFailed
	}
	return exitOK
}

// upstream returns what the options ask for; it names each request in log.
func (o *mockOptions) upstream(log *log.Logger) (*mock.Upstream, error) {
	turns, err := mock.Load(o.paths...)
	if err != nil {
		return nil, err
	}
	for i := range turns {
		o.apply(&turns[i])
	}
	var keep *keeper
	if o.record != "" {
		if keep, err = newKeeper(o.record); err != nil {
			return nil, err
		}
	}
	u := mock.New(turns...)
	u.Observe(func(r mock.Request) {
		log.Printf("%s %s: %d bytes, model %q, answered by %q", r.Method, r.Path, len(r.Body), r.Model, r.Turn)
		if keep == nil {
			return
		}
		if err := keep.write(r); err != nil {
			log.Printf("request not recorded: %v", err)
		}
	})
	return u, nil
}

// serveMock serves h on addr until ctx ends, and says on stdout when it is ready.
// Streams still open at the end are cut: an upstream that stalls never ends.
func serveMock(ctx context.Context, addr string, h http.Handler, stdout io.Writer) error {
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	srv := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second}
	stop := context.AfterFunc(ctx, func() { srv.Close() })
	defer stop()
	fmt.Fprintf(stdout, "turngate mock listening on http://%s\n", ln.Addr())
	if err := srv.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// parseMock reads the command line. Help goes to stdout.
func parseMock(args []string, stdout io.Writer) (mockOptions, error) {
	var o mockOptions
	fs := flag.NewFlagSet("mock", flag.ContinueOnError)
	fs.SetOutput(io.Discard) // errors are shown by the caller, once
	fs.StringVar(&o.listen, "listen", "127.0.0.1:8788", "`ADDR` where to listen; port 0 picks one")
	fs.IntVar(&o.knobs.Chunk, "chunk", 0, "`N` bytes per write; 0 is an event a write")
	fs.Func("interval", "`D` between events, or \"recorded\": recorded turns come in the pieces and with the pauses that they had", o.interval)
	fs.Func("cut", "`N` bytes after which the answer ends cleanly", o.fault(mock.Cut))
	fs.Func("reset", "`N` bytes after which the connection is reset", o.fault(mock.Reset))
	fs.Func("stall", "`N` bytes after which nothing more comes", o.fault(mock.Stall))
	fs.StringVar(&o.knobs.ContentType, "content-type", "", "`T` in place of what the file's ending says")
	fs.IntVar(&o.knobs.Status, "status", 0, "`N` in place of 200")
	fs.StringVar(&o.record, "record", "", "`DIR` where what was received is kept, without credentials")

	if err := fs.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			fmt.Fprint(stdout, mockUsage)
			config.WriteFlags(stdout, fs)
		}
		return o, err
	}
	o.paths = fs.Args()
	if len(o.paths) == 0 {
		return o, errors.New("no PATH given; see turngate mock --help")
	}
	if s := o.knobs.Status; s != 0 && (s < 200 || s > 599) {
		return o, fmt.Errorf("--status %d is not between 200 and 599", s)
	}
	if o.knobs.Chunk < 0 {
		return o, errors.New("--chunk cannot be negative")
	}
	return o, nil
}

// interval sets --interval.
func (o *mockOptions) interval(s string) error {
	if o.paced = s == "recorded"; o.paced {
		return nil
	}
	d, err := time.ParseDuration(s)
	if err != nil || d < 0 {
		return errors.New("not a duration such as 20ms, nor \"recorded\"")
	}
	o.knobs.Interval = d
	return nil
}

// fault returns the setter of a flag that makes every turn go wrong.
func (o *mockOptions) fault(f mock.Fault) func(string) error {
	return func(s string) error {
		n, err := strconv.Atoi(s)
		if err != nil || n < 0 {
			return errors.New("not a number of bytes")
		}
		if o.knobs.Fault != mock.None && o.knobs.Fault != f {
			return fmt.Errorf("not beside --%s: a turn goes wrong in one way", o.knobs.Fault)
		}
		o.knobs.Fault, o.knobs.At = f, n
		return nil
	}
}

// apply gives t the knobs of the command line; those that were not given leave a
// recorded turn as it was.
func (o *mockOptions) apply(t *mock.Turn) {
	k := o.knobs
	t.Chunk, t.Interval = k.Chunk, k.Interval
	if !o.paced {
		t.Arrivals = nil
	}
	if k.Status != 0 {
		t.Status = k.Status
	}
	if k.Fault != mock.None {
		t.Fault, t.At = k.Fault, k.At
	}
	if k.ContentType != "" {
		t.ContentType = k.ContentType
	}
}
