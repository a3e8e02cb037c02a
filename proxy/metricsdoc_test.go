package proxy

import (
	"maps"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
)

// TestMetricsPage holds docs/metrics.md to the metrics that are registered, with
// their labels.
func TestMetricsPage(t *testing.T) {
	page, err := os.ReadFile("../docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	documented := map[string]string{}
	for _, m := range regexp.MustCompile("(?m)^\\| `(turngate_\\w+)` \\| (.*?) \\|").FindAllStringSubmatch(string(page), -1) {
		documented[m[1]] = strings.NewReplacer("`", "", " ", "", "-", "").Replace(m[2])
	}

	registered := registeredMetrics()
	if len(registered) == 0 {
		t.Fatal("no metric found in the registry")
	}
	if diff := cmp.Diff(registered, documented); diff != "" {
		t.Errorf("metrics and their labels (-registered +docs/metrics.md):\n%s", diff)
	}
}

// registeredMetrics returns the labels of each of turngate's own metrics by its name.
func registeredMetrics() map[string]string {
	all := describedMetrics()
	maps.DeleteFunc(all, func(name, _ string) bool { return !strings.HasPrefix(name, "turngate_") })
	return all
}

// describedMetrics is like registeredMetrics, with the go_* and process_* metrics.
func describedMetrics() map[string]string {
	descriptions := make(chan *prometheus.Desc)
	go func() {
		newMetrics("test").registry.Describe(descriptions)
		close(descriptions)
	}()
	all := map[string]string{}
	for d := range descriptions {
		if m := regexp.MustCompile(`fqName: "(\w+)".*variableLabels: \{(.*?)\}`).FindStringSubmatch(d.String()); m != nil {
			all[m[1]] = m[2]
		}
	}
	return all
}
