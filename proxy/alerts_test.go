package proxy

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
)

// alertTests are the unit tests of docs/alerts.yml, which promtool runs.
const alertTests = "testdata/alerts.test.yml"

// alerts are expressions by the names of their alerts.
type alerts map[string]string

func (a alerts) queries() []string { return slices.Collect(maps.Values(a)) }

// alertRules reads docs/alerts.yml.
func alertRules(t *testing.T) alerts {
	t.Helper()
	var file struct {
		Groups []struct {
			Rules []struct{ Alert, Expr string }
		}
	}
	readYAML(t, "../docs/alerts.yml", &file)
	all := alerts{}
	for _, g := range file.Groups {
		for _, r := range g.Rules {
			all[r.Alert] = r.Expr
		}
	}
	if len(all) < 10 {
		t.Fatalf("%d alerts", len(all))
	}
	return all
}

func readYAML(t *testing.T, path string, v any) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err == nil {
		err = yaml.Unmarshal(b, v)
	}
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

// TestAlertRules holds the alerts to the metrics that exist.
func TestAlertRules(t *testing.T) { checkQueries(t, alertRules(t).queries()) }

// TestAlertsAreExplainedAndTested: each alert has its line in docs/operating.md, and
// a unit test in which it fires.
func TestAlertsAreExplainedAndTested(t *testing.T) {
	want := slices.Sorted(maps.Keys(alertRules(t)))
	page, err := os.ReadFile("../docs/operating.md")
	if err != nil {
		t.Fatal(err)
	}
	var explained []string
	for _, m := range regexp.MustCompile("(?m)^\\| `(Turngate\\w+)` \\|").FindAllStringSubmatch(string(page), -1) {
		explained = append(explained, m[1])
	}
	slices.Sort(explained)
	if diff := cmp.Diff(want, explained); diff != "" {
		t.Errorf("docs/operating.md (-alerts.yml +explained):\n%s", diff)
	}

	var tests struct {
		Tests []struct {
			AlertRuleTest []struct {
				Alertname string
				ExpAlerts []any `yaml:"exp_alerts"`
			} `yaml:"alert_rule_test"`
		}
	}
	readYAML(t, alertTests, &tests)
	fired := map[string]bool{}
	for _, group := range tests.Tests {
		for _, r := range group.AlertRuleTest {
			if len(r.ExpAlerts) > 0 {
				fired[r.Alertname] = true
			}
		}
	}
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(fired))); diff != "" {
		t.Errorf("%s (-alerts.yml +fires):\n%s", alertTests, diff)
	}
}
