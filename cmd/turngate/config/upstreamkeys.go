package config

import (
	"errors"
	"flag"
	"net/url"
	"path"
	"strings"
	"time"

	"turngate/guard"
)

// UpstreamKey is one key of an entry in the file's list of upstreams.
type UpstreamKey struct {
	Name    string
	Arg     string // what stands for the value in the reference
	Default string // what holds when it is not there, in words
	Help    string

	scalar func(*draft) flag.Value // the field of a key with a single value
	list   func(*draft) listValue  // the field of a key with a list
}

// UpstreamKeys returns the table of them.
func UpstreamKeys() []UpstreamKey {
	return []UpstreamKey{
		{Name: "name", Arg: "NAME", Default: "required",
			Help:   "what it is called in logs, metrics and refusals",
			scalar: func(d *draft) flag.Value { return (*labelName)(&d.name) }},
		{Name: "base_url", Arg: "URL", Default: "required",
			Help:   "where it is; a user and password in it are sent as Basic authentication",
			scalar: func(d *draft) flag.Value { return baseURL{&d.baseURL} }},
		{Name: "key_env", Arg: "NAME", Default: "the client's credentials are forwarded",
			Help:   "environment variable with the key to send in place of the client's credentials",
			scalar: func(d *draft) flag.Value { return (*envName)(&d.keyEnv) }},
		{Name: "models", Arg: "[GLOB, ...]", Default: "the models that no other takes",
			Help: "models that it serves; the first upstream that matches is used, and only one may be without",
			list: func(d *draft) listValue { return listValue{&d.models, checkGlob} }},
		{Name: "state", Arg: "MODE", Default: "`state` above",
			Help:   "auto, replay or native",
			scalar: func(d *draft) flag.Value { return choice{&d.state, states()} }},
		{Name: "undeclared", Arg: "MODE", Default: "`undeclared` above",
			Help:   "auto, refuse, report or off",
			scalar: func(d *draft) flag.Value { return choice{&d.undeclared, undeclaredModes()} }},
		{Name: "arguments", Arg: "MODE", Default: "`arguments` above",
			Help:   "refuse, report or off",
			scalar: func(d *draft) flag.Value { return mode{&d.arguments} }},
		{Name: "approvals", Arg: "MODE", Default: "`approvals` above",
			Help:   "refuse, report or off",
			scalar: func(d *draft) flag.Value { return mode{&d.approvals} }},
		{Name: "drop_headers", Arg: "[NAME, ...]", Default: "none",
			Help: "headers of the client that it does not get",
			list: func(d *draft) listValue { return listValue{&d.dropHeaders, checkHeader} }},
		{Name: "hosted_calls", Arg: "[GLOB, ...]", Default: "none",
			Help: "names of custom tool calls that it runs itself, so that they need no declaration; patterns as in models",
			list: func(d *draft) listValue { return listValue{&d.hostedCalls, checkGlob} }},
		{Name: "idle_timeout", Arg: "D", Default: "`idle_timeout` above",
			Help:   "how long it may be silent within an answer; 0: for ever",
			scalar: func(d *draft) flag.Value { return duration{to: &d.idleTimeout} }},
		{Name: "missing_terminal", Arg: "fail|pass", Default: "`missing_terminal` above",
			Help:   "a stream that ends without a terminal event: fail or pass",
			scalar: func(d *draft) flag.Value { return choice{&d.missingTerminal, ends()} }},
		{Name: "replay_reasoning", Arg: "true|false", Default: "false",
			Help:   "whether it is asked for encrypted reasoning, without which earlier reasoning cannot be sent to it again",
			scalar: func(d *draft) flag.Value { return (*toggle)(&d.replayReasoning) }},
	}
}

// draft is an upstream as it was written, with the defaults of the other
// options in the places of what was not.
type draft struct {
	where   string // where faults of the whole entry are
	whereIs map[string]string

	name            string
	baseURL         *url.URL
	keyEnv          string
	models          []string
	state           string
	undeclared      string
	arguments       guard.Mode
	approvals       guard.Mode
	dropHeaders     []string
	hostedCalls     []string
	idleTimeout     time.Duration
	missingTerminal string
	replayReasoning bool
}

// at returns where the key is, or the entry if it is not there.
func (d *draft) at(key string) string {
	if where, ok := d.whereIs[key]; ok {
		return where
	}
	return d.where
}

// listValue is a list of words that all pass a check.
type listValue struct {
	to    *[]string
	check func(string) error
}

// labelName is a name that can be a label and a word of a log line.
type labelName string

func (v *labelName) String() string { return string(*v) }

func (v *labelName) Set(s string) error {
	const most = 64
	if s == "" || len(s) > most {
		return errors.New("must have 1 to 64 characters")
	}
	for _, r := range s {
		if !isAlnum(r) && !strings.ContainsRune("._-", r) {
			return errors.New("may hold letters, digits, dots, dashes and underscores only")
		}
	}
	*v = labelName(s)
	return nil
}

func checkGlob(s string) error {
	if s == "" {
		return errors.New("is empty")
	}
	if _, err := path.Match(s, ""); err != nil {
		return errors.New(quote(s) + " is not a pattern: a [ or \\ is not finished")
	}
	return nil
}

func checkHeader(s string) error {
	for _, r := range s {
		if !isAlnum(r) && !strings.ContainsRune("!#$%&'*+-.^_`|~", r) {
			return errors.New(quote(s) + " is not the name of a header")
		}
	}
	if s == "" {
		return errors.New("is empty")
	}
	return nil
}

func isAlnum(r rune) bool {
	return '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
}
