package proxy

import (
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

// registeredMetrics returns the labels of each metric by its name.
func registeredMetrics() map[string]string {
	descriptions := make(chan *prometheus.Desc)
	go func() {
		newMetrics("test").registry.Describe(descriptions)
		close(descriptions)
	}()
	registered := map[string]string{}
	for d := range descriptions {
		m := regexp.MustCompile(`fqName: "(turngate_\w+)".*variableLabels: \{(.*?)\}`).FindStringSubmatch(d.String())
		if m != nil {
			registered[m[1]] = m[2]
		}
	}
	return registered
}
