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

// TestDashboard holds the queries of the dashboard to the metrics that exist.
func TestDashboard(t *testing.T) { checkQueries(t, dashboardQueries(t)) }

// What is in a query beside names of metrics and functions.
var (
	queryClause  = regexp.MustCompile(`\b(?:by|without|on|ignoring|group_left|group_right) ?\(([^)]*)\)|\{([^}]*)\}`)
	queryRange   = regexp.MustCompile(`\[[^\]]*\]`)
	queryMatcher = regexp.MustCompile(`(?:=~|!~|!=|=)"([^"]*)"`)
	queryName    = regexp.MustCompile(`\b[a-zA-Z]\w*_\w*(?: *\()?`)
)

// checkQueries holds queries to the metrics that are registered, to their labels, and
// to the values that docs/metrics.md gives for these. The labels of every target and
// names without an underscore, such as "up", are Prometheus' own.
func checkQueries(t *testing.T, queries []string) {
	t.Helper()
	page, err := os.ReadFile("../docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	registered := describedMetrics()
	for _, q := range queries {
		known := []string{"job", "instance"}
		for _, n := range queryName.FindAllString(queryRange.ReplaceAllString(queryClause.ReplaceAllString(q, " "), " "), -1) {
			if strings.HasSuffix(n, "(") {
				continue // a function
			}
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
		for _, m := range queryClause.FindAllStringSubmatch(q, -1) {
			for l := range strings.SplitSeq(m[1]+queryMatcher.ReplaceAllString(m[2], ""), ",") {
				if !slices.Contains(known, strings.TrimSpace(l)) {
					t.Errorf("no label %q: %s", l, q)
				}
			}
			for _, value := range queryMatcher.FindAllStringSubmatch(m[2], -1) {
				for v := range strings.SplitSeq(value[1], "|") {
					if v != "turngate" && !strings.HasPrefix(v, "$") && !strings.Contains(string(page), "`"+v+"`") {
						t.Errorf("no label has the value %q: %s", v, q)
					}
				}
			}
		}
	}
}
