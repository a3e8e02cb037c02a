package proxy

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

// needTool returns the path of a program of Debian's package prometheus, without
// which the test is skipped, or fails if it is asked for.
func needTool(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err == nil {
		return path
	}
	if os.Getenv("TURNGATE_REQUIRE_PROMTOOL") == "1" {
		t.Fatal(err)
	}
	t.Skip(err)
	return ""
}

// TestPromtool: what /metrics says is what Prometheus' own linter accepts.
func TestPromtool(t *testing.T) {
	tool := needTool(t, "promtool")
	r := exercised(t)
	var ours bytes.Buffer
	for line := range strings.Lines(r.admin("GET", "/metrics").Body.String()) {
		if strings.Contains(line, "turngate_") {
			ours.WriteString(line)
		}
	}
	cmd := exec.Command(tool, "check", "metrics")
	cmd.Stdin = &ours
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("promtool: %v\n%s", err, out)
	}
}

// TestAlerts: Prometheus takes the alerts as they are, and each of them fires when
// it should and is silent when it should not.
func TestAlerts(t *testing.T) {
	tool := needTool(t, "promtool")
	for _, args := range [][]string{{"check", "rules", "../docs/alerts.yml"}, {"test", "rules", alertTests}} {
		if out, err := exec.Command(tool, args...).CombinedOutput(); err != nil {
			t.Errorf("promtool %s: %v\n%s", args, err, out)
		}
	}
}

// TestPrometheus has a real Prometheus scrape a turngate in which everything has
// happened, and asks it every question of the dashboard and of the alerts.
func TestPrometheus(t *testing.T) {
	bin := needTool(t, "prometheus")
	r := exercised(t)
	scrapes := make(chan struct{}, 100)
	admin := r.proxy.AdminHandler()
	target := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		scrapes <- struct{}{}
		admin.ServeHTTP(w, req)
	}))
	defer target.Close()
	base := startPrometheus(t, bin, strings.TrimPrefix(target.URL, "http://"))
	for range 3 { // when one begins, those before it were taken in
		<-scrapes
	}

	for name := range registeredMetrics() {
		got := promQuery(t, base, `count({__name__=~"`+name+`(_count)?"})`)
		if n := got.Get("data.result.0.value.1").Int(); n == 0 {
			t.Errorf("Prometheus has no %s: %s", name, got)
		}
	}
	for _, q := range append(dashboardQueries(t), alertRules(t).queries()...) {
		q = strings.NewReplacer("$__rate_interval", "1m", "$upstream", ".*").Replace(q)
		if got := promQuery(t, base, q); got.Get("status").String() != "success" {
			t.Errorf("%s: %s", q, got)
		}
	}
	if got := promQuery(t, base, `turngate_turns_total{upstream="main",outcome="refused",transport="sse"}`).Get("data.result.0.value.1").String(); got != "1" {
		t.Errorf("%s refused turns", got)
	}
}

func promQuery(t *testing.T, base, q string) gjson.Result {
	t.Helper()
	resp, err := http.Get(base + "/api/v1/query?query=" + url.QueryEscape(q))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return gjson.ParseBytes(body)
}

// startPrometheus runs Prometheus until the test ends and returns its base URL.
func startPrometheus(t *testing.T, bin, target string) string {
	t.Helper()
	dir := t.TempDir()
	config := filepath.Join(dir, "prometheus.yml")
	text := "global: {scrape_interval: 100ms, scrape_timeout: 100ms}\n" +
		"scrape_configs: [{job_name: turngate, static_configs: [{targets: ['" + target + "']}]}]\n"
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(bin, "--config.file="+config, "--storage.tsdb.path="+filepath.Join(dir, "data"), "--web.listen-address=127.0.0.1:0")
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(stderr)
	listening := regexp.MustCompile(`msg="Listening on" address=(\S+)`)
	ready := regexp.MustCompile(`Server is ready to receive web requests`)
	base, isReady := "", false
	var seen strings.Builder
	for (base == "" || !isReady) && lines.Scan() {
		seen.WriteString(lines.Text() + "\n")
		if m := listening.FindStringSubmatch(lines.Text()); m != nil {
			base = "http://" + m[1]
		}
		isReady = isReady || ready.MatchString(lines.Text())
	}
	copied := make(chan struct{})
	go func() {
		defer close(copied)
		_, _ = io.Copy(io.Discard, stderr) // an end by Wait is one as good
	}()
	t.Cleanup(func() {
		http.DefaultClient.CloseIdleConnections()
		_ = cmd.Process.Kill()
		<-copied
		_ = cmd.Wait()
	})
	if base == "" || !isReady {
		t.Fatalf("Prometheus does not run:\n%s", &seen)
	}
	return base
}
