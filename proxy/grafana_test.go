package proxy

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

// dashboardQueries returns every query of docs/grafana.json.
func dashboardQueries(t *testing.T) []string {
	t.Helper()
	board, err := os.ReadFile("../docs/grafana.json")
	if err != nil {
		t.Fatal(err)
	}
	if !gjson.ValidBytes(board) {
		t.Fatal("docs/grafana.json is not JSON")
	}
	var all []string
	for _, panel := range gjson.GetBytes(board, "panels.#.targets.#.expr").Array() {
		for _, q := range panel.Array() {
			all = append(all, q.String())
		}
	}
	if len(all) < 20 {
		t.Fatalf("%d queries", len(all))
	}
	return all
}

// TestDashboard holds the queries of the dashboard to the metrics that exist and
// to their labels.
func TestDashboard(t *testing.T) {
	registered := registeredMetrics()
	name := regexp.MustCompile(`turngate_\w+`)
	labels := regexp.MustCompile(`(?:by \(([^)]*)\)|\{([^}]*)\})`)
	matcher := regexp.MustCompile(`(=~|!~|!=|=)"[^"]*"`)
	for _, q := range dashboardQueries(t) {
		known := []string{}
		for _, n := range name.FindAllString(q, -1) {
			base := strings.TrimSuffix(n, "_bucket")
			have, ok := registered[base]
			if !ok {
				t.Errorf("%s does not exist: %s", n, q)
			}
			known = append(known, strings.Split(have, ",")...)
			if base != n {
				known = append(known, "le")
			}
		}
		for _, m := range labels.FindAllStringSubmatch(q, -1) {
			for l := range strings.SplitSeq(m[1]+matcher.ReplaceAllString(m[2], ""), ",") {
				if !slices.Contains(known, strings.TrimSpace(l)) {
					t.Errorf("no label %q: %s", l, q)
				}
			}
		}
	}
}
