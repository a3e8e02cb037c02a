package config

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// lookup stands in for os.LookupEnv.
func lookup(env map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) { v, ok := env[name]; return v, ok }
}

// home is an environment in which a default store is known.
func home() map[string]string { return map[string]string{"HOME": "/home/u"} }

// write puts text into a file turngate.yaml and returns its path.
func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "turngate.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// samples returns three values of an option, each other than its default and
// than the others.
func samples(t *testing.T, o Option) [3]string {
	t.Helper()
	switch o.Name {
	case "upstream":
		return [3]string{"http://a.example/v1", "http://b.example/v1", "http://c.example/v1"}
	case "store":
		return [3]string{"memory:", "bolt:/var/lib/a.db", "redis://r.example/1"}
	case "state":
		return [3]string{"replay", "native", "auto"}
	case "missing-terminal":
		return [3]string{"fail", "pass", "fail"}
	case "log-format":
		return [3]string{"json", "text", "json"}
	case "log-level":
		return [3]string{"debug", "warn", "error"}
	}
	switch o.Arg {
	case "":
		return [3]string{"true", "false", "true"}
	case "MODE":
		return [3]string{"refuse", "report", "off"}
	case "ADDR":
		return [3]string{"127.0.0.1:1", "127.0.0.1:2", "[::1]:3"}
	case "D":
		return [3]string{"1s", "2m", "3h"}
	case "N":
		return [3]string{"11", "12", "13"}
	case "URL":
		return [3]string{"http://a", "http://b", "off"}
	case "FILE", "DIR", "NAME":
		return [3]string{"KEY_A", "KEY_B", "KEY_C"}
	}
	t.Fatalf("--%s: no sample for a value %s", o.Name, o.Arg)
	return [3]string{}
}

// TestPrecedence sets every option of the table in each of its forms, alone and
// together with those that it must win over (O1).
func TestPrecedence(t *testing.T) {
	for _, o := range Options() {
		values := samples(t, o)
		for forms := 1; forms < 8; forms++ {
			inFile, inEnv, inFlag := forms&1 != 0, forms&2 != 0, forms&4 != 0
			if inFile && o.Where != Everywhere || inEnv && o.Where == FlagOnly {
				continue
			}
			var file, want string
			var args []string
			env := home()
			if inFile {
				want = values[0]
				file = o.Key() + `: "` + want + `"`
			}
			if inEnv {
				want = values[1]
				env[o.Env()] = want
			}
			if inFlag {
				want = values[2]
				args = []string{"--" + o.Name + "=" + want}
			}
			t.Run(o.Name+"/"+form(inFile, inEnv, inFlag), func(t *testing.T) {
				l := newLoader(lookup(env))
				given, err := l.parseFlags(args)
				if err != nil {
					t.Fatal(err)
				}
				if file != "" {
					l.applyFile("turngate.yaml", []byte(file))
				}
				l.applyEnv()
				l.applyFlags(given)
				if err := l.faults.err(); err != nil {
					t.Fatal(err)
				}
				var expected Settings
				if err := o.field(&expected).Set(want); err != nil {
					t.Fatal(err)
				}
				got, want := o.field(&l.settings).String(), o.field(&expected).String()
				if got != want {
					t.Errorf("--%s is %q, want %q", o.Name, got, want)
				}
			})
		}
	}
}

func form(inFile, inEnv, inFlag bool) string {
	var parts []string
	if inFile {
		parts = append(parts, "file")
	}
	if inEnv {
		parts = append(parts, "env")
	}
	if inFlag {
		parts = append(parts, "flag")
	}
	return strings.Join(parts, "+")
}

func TestDefaults(t *testing.T) {
	for _, o := range Options() {
		if o.Default == "" {
			continue
		}
		var s Settings
		if err := o.field(&s).Set(o.Default); err != nil {
			t.Errorf("--%s: default %q: %v", o.Name, o.Default, err)
		}
	}
	s, err := Load(nil, lookup(home()))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := s.StoreURL, "bolt:/home/u/.local/state/turngate/responses.db"; got != want {
		t.Errorf("store %q, want %q", got, want)
	}
	if got, want := s.MaxRequestBytes, int64(64<<20); got != want {
		t.Errorf("max-request-bytes %d, want %d", got, want)
	}
	if got, want := s.Proxy().HeaderTimeout, s.HeaderTimeout; got != want {
		t.Errorf("header-timeout %v, want %v", got, want)
	}
}

func TestStateDirectory(t *testing.T) {
	tests := map[string]struct {
		env   map[string]string
		want  string
		fault bool
	}{
		"state home":      {map[string]string{"XDG_STATE_HOME": "/s", "HOME": "/h"}, "bolt:/s/turngate/responses.db", false},
		"relative":        {map[string]string{"XDG_STATE_HOME": "s", "HOME": "/h"}, "bolt:/h/.local/state/turngate/responses.db", false},
		"neither":         {nil, "", true},
		"neither, unused": {map[string]string{"TURNGATE_STATE": "native"}, "", false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s, err := Load([]string{"--upstream", "http://u.example/v1"}, lookup(tt.env))
			if (err != nil) != tt.fault {
				t.Fatalf("error %v", err)
			}
			if err == nil && s.StoreURL != tt.want {
				t.Errorf("store %q, want %q", s.StoreURL, tt.want)
			}
		})
	}
}

func TestEmptyVariableIsUnset(t *testing.T) {
	env := home()
	env["TURNGATE_LISTEN"] = ""
	s, err := Load(nil, lookup(env))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := s.Listen, "127.0.0.1:8787"; got != want {
		t.Errorf("listen %q, want %q", got, want)
	}
}

func TestHelpWins(t *testing.T) {
	for _, args := range [][]string{{"--help"}, {"-h"}, {"--nonsense", "--listen", "x", "--help"}} {
		if _, err := Load(args, lookup(nil)); !errors.Is(err, flag.ErrHelp) {
			t.Errorf("%q: error %v, want flag.ErrHelp", args, err)
		}
	}
}

func TestRegister(t *testing.T) {
	var s Settings
	fs := flag.NewFlagSet("check", flag.ContinueOnError)
	Register(fs, &s, "undeclared", "arguments", "approvals", "max-event-bytes")
	if err := fs.Parse([]string{"--arguments", "refuse"}); err != nil {
		t.Fatal(err)
	}
	got := s.Undeclared + " " + s.Arguments.String() + " " + s.Approvals.String()
	if want := "auto refuse refuse"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	var help strings.Builder
	WriteFlags(&help, fs)
	for _, want := range []string{"  --arguments MODE\n", "(default: 32MiB)"} {
		if !strings.Contains(help.String(), want) {
			t.Errorf("no %q in help:\n%s", want, help.String())
		}
	}
}
