package config

import (
	"crypto/sha256"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"turngate/proxy"
)

// upstreamArgs name an upstream that needs no key.
func upstreamArgs(more ...string) []string {
	return append([]string{"--upstream", "http://127.0.0.1:9/v1"}, more...)
}

func TestClientKeys(t *testing.T) {
	const plain = "tg-0123456789abcdef"
	path := write(t, "# who may come in\nalice: "+plain+"\n"+
		"bob: sha256:9F86D081884C7D659A2FEAA0C55AD015A3BF4F1B2B0B822CD15D6C15B0F00A08 # of \"test\"\n"+
		"ci.build_1: 1234567890123456\ncarol: 'AZaz09-._~+/AZ=='\n")
	s, err := Load(upstreamArgs("--client-keys", path), lookup(home()))
	if err != nil {
		t.Fatal(err)
	}
	want := []proxy.ClientKey{
		{Name: "alice", Hash: sha256.Sum256([]byte(plain))},
		{Name: "bob", Hash: sha256.Sum256([]byte("test"))},
		{Name: "ci.build_1", Hash: sha256.Sum256([]byte("1234567890123456"))},
		{Name: "carol", Hash: sha256.Sum256([]byte("AZaz09-._~+/AZ=="))},
	}
	if diff := cmp.Diff(want, s.Proxy().ClientKeys); diff != "" {
		t.Errorf("client keys (-want +got):\n%s", diff)
	}
	if len(s.Warnings) > 0 {
		t.Errorf("warnings: %v", s.Warnings)
	}
}

// TestClientKeyFaults looks for the line of each fault, and for keys in what is
// reported. FILE stands for the path of the file.
func TestClientKeyFaults(t *testing.T) {
	const hash = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
	for name, tt := range map[string]struct {
		file string
		want []string
	}{
		"all at once": {
			file: "alice: secret\nbob:\ncarol: [secret-secret-secret]\na b: secret-secret-secret\n" +
				"alice: secret-secret-other\ndave: secret-secret:secret\nerin: secret-secret-secret\n" +
				"frank: sha256:secret\ngrace: $2b$12$secretsecretsecret\nheidi: SHA256:" + hash[:60] + "\n",
			want: []string{
				`FILE:5: this name is set already in line 1`,
				`FILE:1: a client's key has less than 16 characters, which could be guessed`,
				`FILE:2: a client's key has no value`,
				`FILE:3: a client's key must be a single value`,
				`FILE:4: a client's name may hold letters, digits, dots, dashes and underscores only`,
				`FILE:6: a client's key may hold letters, digits and -._~+/= only`,
				`FILE:7: the key is that of line 4`,
				`FILE:8: a client's key is not sha256: and 64 hexadecimal digits`,
				`FILE:9: a client's key may hold letters, digits and -._~+/= only`,
				`FILE:10: a client's key is not sha256: and 64 hexadecimal digits`,
			},
		},
		"the hash of another's key": {
			file: "alice: sha256:" + hash + "\nbob: sha256:" + strings.ToUpper(hash) + "\n",
			want: []string{`FILE:2: the key is that of line 1`},
		},
		"keys only": {
			file: "secret-secret-secret\n",
			want: []string{`FILE:1: the file must be a mapping of keys to values`},
		},
		"keys in place of names": {
			file: "secret-secret-secret: alice\n",
			want: []string{`FILE:1: a client's key has less than 16 characters, which could be guessed`},
		},
		"no YAML": {
			file: "alice: *secret-secret\n",
			want: []string{`FILE: is not YAML: what is wrong is not shown, as it may be a key`},
		},
		"no YAML in a line": {
			file: "alice: secret-secret-secret\nbob secret-secret-secret\ncarol: x\n",
			want: []string{`FILE:2: is not YAML: what is wrong is not shown, as it may be a key`},
		},
		"empty":         {file: "", want: []string{`FILE: holds no key, so that nobody could get in`}},
		"comments only": {file: "# nobody\n", want: []string{`FILE: holds no key, so that nobody could get in`}},
	} {
		t.Run(name, func(t *testing.T) {
			path := write(t, tt.file)
			_, err := Load(upstreamArgs("--client-keys", path), lookup(home()))
			if err == nil {
				t.Fatal("no fault")
			}
			text := strings.ReplaceAll(err.Error(), path, "FILE")
			if diff := cmp.Diff(tt.want, strings.Split(text, "\n")); diff != "" {
				t.Errorf("faults (-want +got):\n%s", diff)
			}
			if strings.Contains(text, "secret") {
				t.Errorf("a key is shown:\n%s", text)
			}
		})
	}
}

// TestClientKeyFileMode gives others rights to the file.
func TestClientKeyFileMode(t *testing.T) {
	const plain, hashed = "alice: secret-secret-secret\n", "alice: sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08\n"
	for name, tt := range map[string]struct {
		text           string
		mode           os.FileMode
		warning, fault string
	}{
		"owner":                  {plain, 0o600, "", ""},
		"group":                  {plain, 0o640, "", ""},
		"everyone":               {plain, 0o644, "FILE: holds keys and may be read by everyone (mode 0644)", ""},
		"everyone, but hashes":   {hashed, 0o644, "", ""},
		"written by everyone":    {hashed, 0o662, "", "FILE: may be written by everyone (mode 0662)"},
		"everyone does anything": {plain, 0o666, "", "FILE: may be written by everyone (mode 0666)"},
	} {
		path := write(t, tt.text)
		if err := os.Chmod(path, tt.mode); err != nil {
			t.Fatal(err)
		}
		warning, fault := "", ""
		s, err := Load(upstreamArgs("--client-keys", path), lookup(home()))
		if err != nil {
			fault = err.Error()
		} else {
			warning = s.Warnings.Error()
		}
		if got := strings.ReplaceAll(warning, path, "FILE"); got != tt.warning {
			t.Errorf("%s: warning %q, want %q", name, got, tt.warning)
		}
		if got := strings.ReplaceAll(fault, path, "FILE"); got != tt.fault {
			t.Errorf("%s: fault %q, want %q", name, got, tt.fault)
		}
	}
}

// TestClientKeysAndUpstreams has an upstream that takes nobody without a key get
// neither the clients' credentials nor a key.
func TestClientKeysAndUpstreams(t *testing.T) {
	keys := write(t, "alice: secret-secret-secret\n")
	file := write(t, "client_keys: "+keys+"\nupstreams:\n"+
		"- {name: openai, base_url: https://api.openai.com/v1, models: [gpt-*]}\n"+
		"- {name: other, base_url: https://api.openai.com/v1, models: [o*], key_env: KEY}\n"+
		"- {name: local, base_url: http://127.0.0.1:9/v1}\n")
	env := home()
	env["KEY"] = "k"
	_, err := Load([]string{"--config", file}, lookup(env))
	want := file + ":3: api.openai.com needs a key of its own, as with client keys it does not get the clients' credentials"
	if err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}
