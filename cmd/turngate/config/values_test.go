package config

import (
	"math"
	"net/url"
	"testing"

	"turngate/guard"
)

func TestParseSize(t *testing.T) {
	tests := []struct {
		in   string
		want int64 // -1: fault
	}{
		{"4096", 4096},
		{"0", 0},
		{"64MiB", 64 << 20},
		{"1GiB", 1 << 30},
		{"2TiB", 2 << 40},
		{"1 KiB", 1 << 10},
		{"500kB", 500_000},
		{"3mb", 3_000_000},
		{"7B", 7},
		{"9223372036854775807", math.MaxInt64},
		{"9223372036854775808", -1},
		{"9007199254740992KiB", -1},
		{"", -1},
		{"-1", -1},
		{"+1", -1},
		{"1.5GiB", -1},
		{"1_000", -1},
		{"GiB", -1},
		{"1KiBi", -1},
		{"1m", -1},
		{"1 e3", -1},
	}
	for _, tt := range tests {
		got, err := parseSize(tt.in)
		if err != nil {
			got = -1
		}
		if got != tt.want {
			t.Errorf("parseSize(%q) = %d (%v), want %d", tt.in, got, err, tt.want)
		}
	}
}

func TestAddress(t *testing.T) {
	tests := map[string]bool{
		"127.0.0.1:0": true, ":8787": true, "[::1]:80": true, "localhost:65535": true,
		"off": false, "127.0.0.1": false, "h:65536": false, "h:http": false, "::1:80": false, "": false,
	}
	for in, ok := range tests {
		var s string
		if err := (address{to: &s}).Set(in); (err == nil) != ok {
			t.Errorf("%q: error %v, want ok %v", in, err, ok)
		}
	}
	var s string
	if err := (address{to: &s, off: true}).Set(Off); err != nil || s != Off {
		t.Errorf("off: %q, %v", s, err)
	}
}

func TestStoreURL(t *testing.T) {
	tests := map[string]bool{
		"memory:":                               true,
		"bolt:/var/lib/x.db":                    true,
		"redis://127.0.0.1:6379":                true,
		"redis://u:p@h/3":                       true,
		"rediss://h.example/0":                  true,
		"redis+cluster://h1:6379,h2:6379":       true,
		"redis+cluster://u:p@h1:6379,[::1]:639": true,
		"memory":                                false,
		"memory:x":                              false,
		"bolt:x.db":                             false,
		"redis://h/x":                           false,
		"redis://":                              false,
		"redis+cluster://h1,h2":                 false,
		"postgres://h/x":                        false,
		"":                                      false,
	}
	for in, ok := range tests {
		var s string
		if err := (storeURL{&s}).Set(in); (err == nil) != ok {
			t.Errorf("%q: error %v, want ok %v", in, err, ok)
		}
	}
}

func TestRedact(t *testing.T) {
	for in, want := range map[string]string{
		"https://h.example/v1":        "https://h.example/v1",
		"https://u:p@h.example/v1":    "https://redacted@h.example/v1",
		"https://sk-key@h.example/v1": "https://redacted@h.example/v1",
	} {
		u, err := url.Parse(in)
		if err != nil {
			t.Fatal(err)
		}
		if got := Redact(u); got != want {
			t.Errorf("Redact(%q) = %q, want %q", in, got, want)
		}
		if got := (baseURL{&u}).String(); got != want {
			t.Errorf("String of %q = %q, want %q", in, got, want)
		}
	}
}

// TestAuto resolves "auto" as rule G9 says: an upstream that speaks its own
// protocol is native, and not guarded while the client's own credentials pass.
func TestAuto(t *testing.T) {
	tests := map[string]struct {
		args   []string
		replay bool
		want   guard.Mode
	}{
		"OpenAI":                 {nil, false, guard.Off},
		"OpenAI, any case":       {[]string{"--upstream", "https://API.OpenAI.com/v1"}, false, guard.Off},
		"ChatGPT":                {[]string{"--upstream", "https://chatgpt.com/backend-api/codex"}, false, guard.Off},
		"OpenAI with a key":      {[]string{"--upstream-key-env", "KEY"}, false, guard.Refuse},
		"OpenAI with a user":     {[]string{"--upstream", "https://u:p@api.openai.com/v1"}, false, guard.Refuse},
		"OpenAI, guarded":        {[]string{"--undeclared", "report"}, false, guard.Report},
		"OpenAI, replayed":       {[]string{"--state", "replay"}, true, guard.Off},
		"another":                {[]string{"--upstream", "https://p.example/v1"}, true, guard.Refuse},
		"another, native":        {[]string{"--upstream", "https://p.example/v1", "--state", "native"}, false, guard.Refuse},
		"a name that looks like": {[]string{"--upstream", "https://api.openai.com.example/v1"}, true, guard.Refuse},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			env := home()
			env["KEY"] = "k"
			s, err := Load(tt.args, lookup(env))
			if err != nil {
				t.Fatal(err)
			}
			u := s.Upstreams[0]
			if u.Replay != tt.replay || u.Undeclared != tt.want {
				t.Errorf("replay %v, undeclared %v, want %v, %v", u.Replay, u.Undeclared, tt.replay, tt.want)
			}
			if s.ReplaysAny() != tt.replay {
				t.Errorf("ReplaysAny is %v, want %v", s.ReplaysAny(), tt.replay)
			}
		})
	}
}
