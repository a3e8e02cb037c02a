package config

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestFaults gives configurations with faults and compares all that is
// reported (E8). FILE stands for the path of the file.
func TestFaults(t *testing.T) {
	tests := map[string]struct {
		file string
		env  map[string]string
		args []string
		want []string
	}{
		"every source": {
			file: "listen: 8787\nhearbeat: 1s\nstore_ttl: 0\n",
			env:  map[string]string{"TURNGATE_HEARTBEAT": "often", "TURNGATE_MAX_STREAMS": "-1"},
			args: []string{"--max-event-bytes", "big", "--state", "maybe", "--log-level=loud"},
			want: []string{
				`FILE:1: listen: "8787" is not an address such as 127.0.0.1:8787`,
				`FILE:2: unknown key "hearbeat"`,
				`FILE:3: store_ttl: must be more than 0`,
				`TURNGATE_HEARTBEAT: "often" is not a duration such as 90s, 5m or 720h`,
				`TURNGATE_MAX_STREAMS: "-1" is not a whole number from 0`,
				`--state: "maybe" is none of auto, replay, native`,
				`--max-event-bytes: "big" is not a size such as 64MiB, 1GiB or 4096`,
				`--log-level: "loud" is none of debug, info, warn, error`,
			},
		},
		"flags": {
			args: []string{"--nonsense", "value", "--wrong=value", "---", "stray", "--listen"},
			want: []string{
				`--nonsense: no such flag`,
				`--wrong: no such flag`,
				`arguments: "---" is no flag`,
				`arguments: flags only, not "stray"`,
				`--listen: needs a value`,
			},
		},
		"a wrong value in a source that another wins over": {
			file: "heartbeat: x\n",
			args: []string{"--heartbeat", "1s"},
			want: []string{`FILE:1: heartbeat: "x" is not a duration such as 90s, 5m or 720h`},
		},
		"keys that are written otherwise": {
			file: "store-ttl: 1h\nupstream: http://u.example\nupstream_key_env: K\nconfig: x\n",
			want: []string{
				`FILE:1: "store-ttl" is written store_ttl in the file`,
				`FILE:2: "upstream" is not a key of the file: write a list of upstreams`,
				`FILE:3: "upstream_key_env" is not a key of the file: write a list of upstreams`,
				`FILE:4: unknown key "config"`,
			},
		},
		"shapes": {
			file: "heartbeat:\nlisten: [a]\nlisten: b:1\n? [x]\n: 1\nupstreams: none\n",
			want: []string{
				`FILE:3: listen is set already in line 2`,
				`FILE:4: a key of the file must be a word`,
				`FILE:1: heartbeat has no value`,
				`FILE:2: listen must be a single value`,
				`FILE:6: upstreams must be a list`,
			},
		},
		"a list as file": {
			file: "- listen\n",
			want: []string{`FILE:1: the file must be a mapping of keys to values`},
		},
		"two documents": {
			file: "heartbeat: 1s\n---\nheartbeat: 2s\n",
			want: []string{`FILE:2: a second document, where one is expected`},
		},
		"upstreams": {
			file: `upstreams:
  - name: a
    base_url: ftp://a.example
    models: ["x["]
    key_env: MISSING
  - name: a
    base_url: http://b.example/v1?key=secret
    models: glob
    drop_headers: ["x y", ""]
    wrong: 1
  - base_url: http://user:secret@c.example:port
    name: "sp ace"
  -
  - models: []
    idle_timeout: -1s
    replay_reasoning: maybe
  - name: d
    base_url: http://user:secret@d.example
    key_env: PRESENT
`,
			env: map[string]string{"PRESENT": "k"},
			want: []string{
				`FILE:3: base_url: is not an http:// or https:// URL`,
				`FILE:4: models: "x[" is not a pattern: a [ or \ is not finished`,
				`FILE:7: base_url: is a URL with a query or a fragment, which a base URL cannot have`,
				`FILE:8: models must be a list`,
				`FILE:9: drop_headers: "x y" is not the name of a header`,
				`FILE:9: drop_headers: is empty`,
				`FILE:10: unknown key "wrong" of an upstream`,
				`FILE:11: base_url: is not a URL (it is not shown, as it may hold a password)`,
				`FILE:12: name: may hold letters, digits, dots, dashes and underscores only`,
				`FILE:13: an upstream must be a mapping of keys to values`,
				`FILE:14: models is an empty list`,
				`FILE:15: idle_timeout: "-1s" is negative`,
				`FILE:16: replay_reasoning: "maybe" is neither true nor false`,
				`FILE:14: an upstream needs name`,
				`FILE:14: an upstream needs base_url`,
				`FILE:6: another upstream is called a as well (FILE:2)`,
				`FILE:17: only one upstream may be without models, and the one in FILE:11 is`,
				`FILE:5: the environment variable MISSING is not set`,
				`FILE:19: cannot be set beside a user in the base URL`,
			},
		},
		"an upstream beside a list": {
			file: "upstreams:\n- {name: a, base_url: http://a.example}\n",
			env:  map[string]string{"TURNGATE_UPSTREAM_KEY_ENV": "K"},
			args: []string{"--upstream", "http://b.example"},
			want: []string{
				`--upstream: cannot be set beside the list of upstreams in FILE:1`,
				`TURNGATE_UPSTREAM_KEY_ENV: cannot be set beside the list of upstreams in FILE:1`,
			},
		},
		"an empty file": {
			file: "# nothing yet\n",
			want: []string{`FILE: the file sets nothing`},
		},
		"no upstreams": {
			file: "upstreams: []\n",
			want: []string{`FILE:1: upstreams is an empty list`},
		},
		"a key in the place of its name": {
			args: []string{"--upstream-key-env", "sk-secret"},
			want: []string{`--upstream-key-env: is not the name of an environment variable (the key itself does not belong here)`},
		},
		"keys": {
			env: map[string]string{"TURNGATE_UPSTREAM_KEY_ENV": "K", "K": "secret\r\nsecret"},
			want: []string{
				`TURNGATE_UPSTREAM_KEY_ENV: the environment variable K holds a character that cannot be part of a key`,
			},
		},
		"URLs with passwords": {
			env: map[string]string{
				"TURNGATE_UPSTREAM": "https://user:sec ret@host",
				"TURNGATE_STORE":    "redis://:secret@/x",
			},
			want: []string{
				`TURNGATE_UPSTREAM: is not a URL (it is not shown, as it may hold a password)`,
				`TURNGATE_STORE: is not a URL such as redis://127.0.0.1:6379/0`,
			},
		},
		"half of TLS": {
			env:  map[string]string{"TURNGATE_TLS_KEY": "k.pem"},
			want: []string{`TURNGATE_TLS_KEY: needs --tls-cert as well`},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			env := home()
			for k, v := range tt.env {
				env[k] = v
			}
			args, path := tt.args, ""
			if tt.file != "" {
				path = write(t, tt.file)
				args = append([]string{"--config", path}, args...)
			}
			s, err := Load(args, lookup(env))
			var faults Faults
			if s != nil || !errors.As(err, &faults) {
				t.Fatalf("settings %v, error %v, want faults", s, err)
			}
			text := strings.ReplaceAll(err.Error(), path, "FILE")
			if path == "" {
				text = err.Error()
			}
			if diff := cmp.Diff(tt.want, strings.Split(text, "\n")); diff != "" {
				t.Errorf("faults (-want +got):\n%s", diff)
			}
			if strings.Contains(text, "secret") {
				t.Errorf("a secret is shown:\n%s", text)
			}
		})
	}
}

// TestSyntaxLines checks the lines of YAML that cannot be read, which the
// library counts in two ways.
func TestSyntaxLines(t *testing.T) {
	tests := map[string]string{
		"a: b: c\n":              ":1: is not YAML: mapping values are not allowed in this context",
		"listen: x:1\na: b: c\n": ":2: is not YAML: mapping values are not allowed in this context",
		"a: 1\n\tb: 2\n":         ":2: is not YAML: found a tab character that violates indentation",
		"a: 1\nb: [\nc: 2\n":     ":2: is not YAML: did not find expected ',' or ']'",
		"a: 1\nb: {x: 1\nc: 2\n": ":2: is not YAML: did not find expected ',' or '}'",
		"a: 1\nb\n":              ":2: is not YAML: could not find expected ':'",
		"a: 1\nb: *x\n":          ": is not YAML: unknown anchor 'x' referenced",
		"a: \xff\n":              ": is not YAML: invalid leading UTF-8 octet",
		"listen: x:1\na: [}\n":   ":2: is not YAML: did not find expected node content",
	}
	for text, want := range tests {
		path := write(t, text)
		_, err := Load([]string{"--config", path}, lookup(home()))
		if err == nil {
			t.Errorf("%q: no fault", text)
			continue
		}
		if got := strings.TrimPrefix(err.Error(), path); got != want {
			t.Errorf("%q:\n got %s\nwant %s", text, got, want)
		}
	}
}

func TestFileCannotBeRead(t *testing.T) {
	path := t.TempDir() + "/none.yaml"
	_, err := Load([]string{"--config", path}, lookup(home()))
	if want := path + ": cannot be read: no such file or directory"; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

// FuzzLoad reads any file and arguments: it ends, with settings or with faults.
func FuzzLoad(f *testing.F) {
	f.Add("listen: a:1\nupstreams:\n- {name: a, base_url: http://a}\n", "--listen\nb:1")
	f.Add("upstreams: &a\n- *a\n- [*a]\n- models: *a\n", "---\n-=\n--=x\n-")
	f.Add("a: &a {b: *a}\n*a : *a\n", "--\n--\nx\n--state")
	f.Fuzz(func(t *testing.T, file, args string) {
		l := newLoader(lookup(home()))
		given, err := l.parseFlags(strings.Split(args, "\n"))
		if err != nil {
			return
		}
		list := l.applyFile("turngate.yaml", []byte(file))
		l.applyFlags(given)
		l.upstreams(list)
		l.crossCheck()
	})
}
