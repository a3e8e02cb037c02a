// Command turngate is a streaming reverse proxy for the OpenAI Responses API.
// It relays turns byte for byte, refuses calls that the request did not
// declare, and keeps responses for upstreams that do not.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// Exit codes.
const (
	exitOK     = 0
	exitFailed = 1 // the judged turn was refused, or the server failed
	exitUsage  = 2 // wrong usage, configuration or input
)

func main() {
	os.Exit(run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// command is one of the commands of turngate. It ends when ctx does and
// returns an exit code.
type command struct {
	name    string
	summary string
	run     func(ctx context.Context, args []string) int
}

// commands returns the table of them, over the given streams.
func commands(stdin io.Reader, stdout, stderr io.Writer) []command {
	return []command{
		{"serve", "run the proxy", func(ctx context.Context, args []string) int {
			return runServe(ctx, args, os.LookupEnv, stdout, stderr)
		}},
		{"check", "judge a recorded turn offline", func(_ context.Context, args []string) int {
			return runCheck(args, stdin, stdout, stderr)
		}},
		{"mock", "serve recorded turns as an upstream", func(ctx context.Context, args []string) int {
			ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
			defer stop()
			return runMock(ctx, args, stdout, stderr)
		}},
		{"demo", "show what turngate does, on recorded turns", func(ctx context.Context, args []string) int {
			return runDemo(ctx, args, stdout, stderr)
		}},
		{"version", "show version, commit and Go version", func(_ context.Context, args []string) int {
			return runVersion(args, stdout, stderr)
		}},
	}
}

// run does what the arguments say and returns the exit code.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	table := commands(stdin, stdout, stderr)
	if len(args) == 0 {
		writeUsage(stderr, table)
		return exitUsage
	}
	name, rest := args[0], args[1:]
	switch name {
	case "help", "-h", "-help", "--help":
		writeUsage(stdout, table)
		return exitOK
	case "-version", "--version":
		name = "version"
	}
	for _, c := range table {
		if c.name == name {
			return c.run(ctx, rest)
		}
	}
	fmt.Fprintf(stderr, "turngate: no command %q; see turngate --help\n", name)
	return exitUsage
}

func writeUsage(w io.Writer, table []command) {
	fmt.Fprint(w, "usage: turngate COMMAND [flags]\n\nA reverse proxy for the OpenAI Responses API that refuses undeclared calls.\n\ncommands:\n")
	for _, c := range table {
		fmt.Fprintf(w, "  %-9s %s\n", c.name, c.summary)
	}
	fmt.Fprint(w, "\nturngate COMMAND --help tells more.\n")
}
