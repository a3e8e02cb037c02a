package transcript

import (
	"net/http"
	"net/url"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCleanHeader(t *testing.T) {
	h := http.Header{
		"Authorization": {"Bearer k"}, "Proxy-Authorization": {"Basic k"}, "Cookie": {"a=b"}, "Set-Cookie": {"a=b"},
		"Api-Key": {"k"}, "X-Api-Key": {"k"}, "X-Goog-Api-Key": {"k"}, "Openai-Organization": {"org"}, "Openai-Project": {"p"},
		"Chatgpt-Account-Id": {"id"}, "X-Amz-Security-Token": {"t"}, "X-Signature": {"s"}, "Www-Authenticate": {"Bearer"},
		"X-Odd": {"bearer abc"}, "X-Jwt": {"eyJhbGciOiJI.eyJzdWIiOiIx.c2ln"}, "X-Plain": {"sk-proj-0123456789abcdef"},
		"Referer": {"https://user:pass@host/"},

		"User-Agent": {"codex"}, "X-Codex-Window-Id": {"w"}, "X-Codex-Turn-Metadata": {"{}"}, "Content-Type": {"application/json"},
		"X-Ratelimit-Remaining-Tokens": {"9"}, "X-Request-Id": {"r"}, "Retry-After": {"1"},
	}
	got := CleanHeader(h)
	want := http.Header{
		"User-Agent": {"codex"}, "X-Codex-Window-Id": {"w"}, "X-Codex-Turn-Metadata": {"{}"}, "Content-Type": {"application/json"},
		"X-Ratelimit-Remaining-Tokens": {"9"}, "X-Request-Id": {"r"}, "Retry-After": {"1"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestCleanURL(t *testing.T) {
	u, err := url.Parse("https://user:pass@host/v1/responses?api-key=k&sig=1&access_token=t&trace=on")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := CleanURL(u), "https://host/v1/responses?sig=1&trace=on"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestHeadSecrets(t *testing.T) {
	h := http.Header{
		"Authorization": {"Bearer the-token"}, "Proxy-Authorization": {"Basic dXNlcjpodXNoLWh1c2g="},
		"Cookie": {"mode=response; session=0123456789abcdef"}, "X-Auth-Mode": {"default"},
	}
	got := headSecrets(h, "api-key=query-key&limit=10")
	for _, want := range []string{"the-token", "hush-hush", "0123456789abcdef", "query-key"} {
		if !slices.Contains(got, want) {
			t.Errorf("%q is not among %q", want, got)
		}
	}
	for _, word := range []string{"Bearer", "Basic", "response", "default"} {
		if slices.Contains(got, word) {
			t.Errorf("%q would be covered wherever a body has it", word)
		}
	}
}

func TestBodySecrets(t *testing.T) {
	body := `{"tools":[{"type":"mcp","authorization":"oauth-token-1","headers":{"X-Key":"mcp\u002dkey-2"},"server_url":"https://u:url-password@h/"}],
		"input":["x",{"type":"additional_tools","tools":[{"authorization":"oauth-token-3"}]}]}`
	got := bodySecrets([]byte(body))
	for _, want := range []string{"oauth-token-1", "mcp-key-2", `mcp\u002dkey-2`, "url-password", "oauth-token-3"} {
		if !slices.Contains(got, want) {
			t.Errorf("%q is not among %q", want, got)
		}
	}
	if got := bodySecrets([]byte(`{"tools":`)); got != nil {
		t.Errorf("%q of what is not JSON", got)
	}
}
