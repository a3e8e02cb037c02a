package config

import (
	"net/url"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"turngate/guard"
	"turngate/proxy"
)

// TestUpstreams reads a list with every key, and one with none but the needed:
// the settings of the flags stand in for what an entry does not say.
func TestUpstreams(t *testing.T) {
	path := write(t, `
idle_timeout: 1m
upstreams:
  - name: all
    base_url: https://all.example/v1
    key_env: KEY_ALL
    models: ["a-*", b]
    state: native
    undeclared: report
    arguments: refuse
    approvals: off
    drop_headers: [x-one, x-two]
    hosted_calls: ["x_*"]
    idle_timeout: 2m
    missing_terminal: fail
    replay_reasoning: true
  - name: none
    base_url: https://u:p@none.example/v1
`)
	env := home()
	env["KEY_ALL"] = "k\n"
	env["TURNGATE_MISSING_TERMINAL"] = "pass"
	s, err := Load([]string{"--config", path, "--arguments", "off", "--undeclared=report"}, lookup(env))
	if err != nil {
		t.Fatal(err)
	}
	want := []proxy.Upstream{
		{
			Name:            "all",
			BaseURL:         parse(t, "https://all.example/v1"),
			Key:             "k",
			Models:          []string{"a-*", "b"},
			Undeclared:      guard.Report,
			Arguments:       guard.Refuse,
			Approvals:       guard.Off,
			DropHeaders:     []string{"x-one", "x-two"},
			HostedCalls:     []string{"x_*"},
			ReplayReasoning: true,
			IdleTimeout:     2 * time.Minute,
		},
		{
			Name:           "none",
			BaseURL:        parse(t, "https://u:p@none.example/v1"),
			Undeclared:     guard.Report,
			Arguments:      guard.Off,
			Approvals:      guard.Refuse,
			Replay:         true,
			PassMissingEnd: true,
			IdleTimeout:    time.Minute,
		},
	}
	if diff := cmp.Diff(want, s.Upstreams, cmp.AllowUnexported(url.Userinfo{})); diff != "" {
		t.Errorf("upstreams (-want +got):\n%s", diff)
	}
}

// TestUpstreamKeys checks that each line of the table can be set and is
// explained.
func TestUpstreamKeys(t *testing.T) {
	for _, k := range UpstreamKeys() {
		if (k.scalar == nil) == (k.list == nil) {
			t.Errorf("%s: must be either a scalar or a list", k.Name)
		}
		if k.Help == "" || k.Arg == "" || k.Default == "" {
			t.Errorf("%s: not explained", k.Name)
		}
	}
}

// TestAliases reads values that YAML refers to by name.
func TestAliases(t *testing.T) {
	path := write(t, `
upstreams:
  - name: a
    base_url: &url https://a.example/v1
    models: &models [x]
    drop_headers: *models
  - name: b
    base_url: *url
`)
	s, err := Load([]string{"--config", path}, lookup(home()))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := s.Upstreams[1].BaseURL.String(), "https://a.example/v1"; got != want {
		t.Errorf("base URL %s, want %s", got, want)
	}
	if diff := cmp.Diff([]string{"x"}, s.Upstreams[0].DropHeaders); diff != "" {
		t.Errorf("headers (-want +got):\n%s", diff)
	}
}

func parse(t *testing.T, s string) *url.URL {
	t.Helper()
	u, err := url.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return u
}
