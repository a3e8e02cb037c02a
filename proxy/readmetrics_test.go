package proxy

import (
	"net/http"
	"net/http/httptest"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// metric returns the sum of a metric's values, as /metrics shows them, over the
// series that have all of these labels (name, value, name, value ...). A metric
// that no series was made of is 0; that it is known at all is for the caller to
// show with another value.
func (r *rig) metric(name string, labels ...string) float64 {
	r.Helper()
	rec := httptest.NewRecorder()
	r.proxy.AdminHandler().ServeHTTP(rec, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(rec.Body)
	if err != nil {
		r.Fatal(err)
	}
	sum := 0.0
	for _, m := range families[name].GetMetric() {
		if hasLabels(m, labels) {
			sum += m.GetCounter().GetValue() + m.GetGauge().GetValue()
		}
	}
	return sum
}

func hasLabels(m *dto.Metric, want []string) bool {
	for i := 0; i < len(want); i += 2 {
		found := false
		for _, l := range m.GetLabel() {
			found = found || l.GetName() == want[i] && l.GetValue() == want[i+1]
		}
		if !found {
			return false
		}
	}
	return true
}
