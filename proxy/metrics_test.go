package proxy

import (
	"fmt"
	"net"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"turngate/guard"
	"turngate/proxy/mock"
)

// series returns everything that /metrics shows of turngate, as
// "name{label=value ...}" without the prefix; of histograms, how much they saw.
func (r *rig) series() map[string]float64 {
	r.Helper()
	rec := r.admin("GET", "/metrics")
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(rec.Body)
	if err != nil {
		r.Fatal(err)
	}
	if families["go_goroutines"] == nil || families["process_start_time_seconds"] == nil {
		r.Error("nothing of the process is shown")
	}
	all := map[string]float64{}
	for name, f := range families {
		name, ours := strings.CutPrefix(name, "turngate_")
		if !ours {
			continue
		}
		if f.GetHelp() == "" {
			r.Errorf("%s has no help", name)
		}
		for _, m := range f.GetMetric() {
			all[name+labels(m)] = m.GetCounter().GetValue() + m.GetGauge().GetValue() + float64(m.GetHistogram().GetSampleCount())
		}
	}
	return all
}

func labels(m *dto.Metric) string {
	var all []string
	for _, l := range m.GetLabel() {
		all = append(all, l.GetName()+"="+l.GetValue())
	}
	return "{" + strings.Join(all, " ") + "}"
}

// measured is one turn of a known set: what is asked for and what comes back.
type measured struct {
	model   string // begins with the upstream's name
	request string // of the catalogue; "" is no JSON
	json    bool
	turn    mock.Turn
}

// measuredTurns is a turn for every outcome, and for every label that a metric
// can have; what clients do is tested elsewhere.
func measuredTurns() []measured {
	call := func(item mock.Item) *mock.Stream {
		return new(mock.Stream).Created().Added(0, item).Done(0, item).Completed()
	}
	odd := new(mock.Stream).Created().
		Done(0, mock.CTC("read_file", "x")).
		Done(1, mock.Item(`{"type":"new_call","call_id":"c"}`)).
		Completed().Event("response.output_text.delta", `"delta":"late"`)
	refused := new(mock.Stream).Created().Added(0, mock.FC("rm_all", ""))
	return []measured{
		{"main-text", "one-tool", false, textTurn()},
		{"main-json", "one-tool", true, new(mock.Stream).Completed().JSONTurn()},
		{"main-incomplete", "one-tool", false, new(mock.Stream).Created().Incomplete("max_output_tokens").Turn()},
		{"main-failed", "one-tool", true, new(mock.Stream).Created().Failed("server_error", "x").JSONTurn()},
		{"main-refused", "one-tool", false, call(mock.FC("rm_all", "{}")).Turn()},
		{"main-refused-json", "one-tool", true, call(mock.CTC("rm_all", "")).JSONTurn()},
		{"main-unreadable", "one-tool", false, new(mock.Stream).Created().Raw("data: {\"type\":\"response.output_item.done\",\"item\":{\"type\":\"function_call\"\n\n").Completed().Turn()},
		{"main-truncated", "one-tool", false, new(mock.Stream).Created().Turn()},
		{"main-429", "one-tool", false, mock.Turn{Status: 429, Body: []byte(`{"error":{}}`)}},
		{"main-500", "one-tool", false, mock.Turn{Status: 500, Body: []byte(`{"error":{}}`)}},
		{"main-no-tools", "no-tools", false, textTurn()},
		{"main-odd", "one-tool", false, odd.Turn()},
		{"main-drained", "one-tool", false, mock.Turn{Body: refused.Bytes(), At: refused.Len(), Fault: mock.Stall}},
		{"main-page", "one-tool", false, mock.Turn{Body: []byte("<html>"), ContentType: "text/html"}},
		{"main-broken", "", false, mock.Turn{}},
		{"nobody", "one-tool", false, mock.Turn{}},
		{"free-call", "one-tool", false, call(mock.FC("rm_all", "{}")).Turn()},
		{"report-call", "one-tool", false, call(mock.FC("rm_all", "{}")).Turn()},
		{"slow", "one-tool", false, mock.Turn{Body: new(mock.Stream).Created().Bytes(), At: 1 << 20, Fault: mock.Stall}},
		{"dead", "one-tool", false, mock.Turn{}},
	}
}

// TestO2Metrics plays a known set of turns and holds all that is shown of them,
// to the last series, to what it must be.
func TestO2Metrics(t *testing.T) {
	set := measuredTurns()
	var turns []mock.Turn
	for i := range set {
		set[i].turn.Name = set[i].model
		turns = append(turns, set[i].turn)
	}
	r := newRig(t, func(c *Config) {
		c.Version, c.DrainTimeout = "v7", time.Second
		base := c.Upstreams[0]
		c.Upstreams = nil
		for _, u := range []Upstream{{Name: "main"}, {Name: "free", Undeclared: guard.Off}, {Name: "report", Undeclared: guard.Report}, {Name: "slow", IdleTimeout: 50 * time.Millisecond}, {Name: "dead"}} {
			u.BaseURL, u.Models = base.BaseURL, []string{u.Name + "*"}
			if u.IdleTimeout == 0 {
				u.IdleTimeout = base.IdleTimeout
			}
			if u.Name == "dead" {
				ln, err := net.Listen("tcp", "127.0.0.1:0")
				if err != nil {
					t.Fatal(err)
				}
				dead := *base.BaseURL
				dead.Host, u.BaseURL = ln.Addr().String(), &dead
				ln.Close()
			}
			c.Upstreams = append(c.Upstreams, u)
		}
	}, turns...)
	relayed := map[string]int{}
	for _, m := range set {
		body := []byte("{")
		if m.request != "" {
			body = []byte(strings.Replace(string(requestBody(t, m.request, !m.json)), `"m"`, `"`+m.model+`"`, 1))
		}
		got := r.post(body, nil)
		if strings.HasPrefix(got.header.Get("Content-Type"), "text/event-stream") {
			upstream, _, _ := strings.Cut(m.model, "-")
			// What turngate says itself comes after this and is not counted.
			body, _, _ := strings.Cut(string(got.body), "event: response.failed\n")
			relayed[upstream] += len(body)
			relayed[upstream+" events"] += strings.Count(body, "\n\n")
		}
	}
	r.stop()
	if diff := cmp.Diff(wantSeries(relayed), r.series()); diff != "" {
		t.Errorf("metrics (-want +got):\n%s", diff)
	}
}

func wantSeries(relayed map[string]int) map[string]float64 {
	want := map[string]float64{
		"build_info{goversion=" + runtime.Version() + " version=v7}": 1,

		"turns_total{outcome=completed transport=sse upstream=main}":      3, // text, no-tools, odd
		"turns_total{outcome=completed transport=json upstream=main}":     1,
		"turns_total{outcome=incomplete transport=sse upstream=main}":     1,
		"turns_total{outcome=failed transport=json upstream=main}":        1,
		"turns_total{outcome=refused transport=sse upstream=main}":        3, // refused, unreadable, drained
		"turns_total{outcome=refused transport=json upstream=main}":       1,
		"turns_total{outcome=truncated transport=sse upstream=main}":      1,
		"turns_total{outcome=upstream_error transport=sse upstream=main}": 3, // 429, 500, page
		"turns_total{outcome=local_error transport=json upstream=none}":   1,
		"turns_total{outcome=local_error transport=sse upstream=none}":    1,
		"turns_total{outcome=completed transport=sse upstream=free}":      1,
		"turns_total{outcome=completed transport=sse upstream=report}":    1,
		"turns_total{outcome=timeout transport=sse upstream=slow}":        1,
		"turns_total{outcome=upstream_error transport=sse upstream=dead}": 1,

		"refusals_total{item_type=function_call mode=refuse reason=undeclared_tool_call upstream=main}":    2,
		"refusals_total{item_type=custom_tool_call mode=refuse reason=undeclared_tool_call upstream=main}": 1,
		"refusals_total{item_type=event mode=refuse reason=unreadable_event upstream=main}":                1,
		"refusals_total{item_type=function_call mode=report reason=undeclared_tool_call upstream=report}":  1,

		"guard_total{state=enforced upstream=main}":   13,
		"guard_total{state=stood_down upstream=main}": 1,
		"guard_total{state=exempt upstream=free}":     1,
		"guard_total{state=enforced upstream=report}": 1,
		"guard_total{state=enforced upstream=slow}":   1,
		"guard_total{state=enforced upstream=dead}":   1,

		"upstream_outcomes_total{outcome=completed upstream=main}":   7, // text, json, no-tools, odd, refused ones, unreadable
		"upstream_outcomes_total{outcome=incomplete upstream=main}":  1,
		"upstream_outcomes_total{outcome=failed upstream=main}":      1,
		"upstream_outcomes_total{outcome=truncated upstream=main}":   1,
		"upstream_outcomes_total{outcome=http_error upstream=main}":  3,
		"upstream_outcomes_total{outcome=cancelled upstream=main}":   1,
		"upstream_outcomes_total{outcome=completed upstream=free}":   1,
		"upstream_outcomes_total{outcome=completed upstream=report}": 1,
		"upstream_outcomes_total{outcome=timeout upstream=slow}":     1,
		"upstream_outcomes_total{outcome=unreachable upstream=dead}": 1,

		"unusual_total{kind=kind_mismatch upstream=main}": 1,
		"unusual_total{kind=unknown_call upstream=main}":  1,
		"unusual_total{kind=late_event upstream=main}":    1,

		"upstream_errors_total{kind=truncated upstream=main}": 1,
		"upstream_errors_total{kind=http_4xx upstream=main}":  1,
		"upstream_errors_total{kind=http_5xx upstream=main}":  1,
		"upstream_errors_total{kind=protocol upstream=main}":  1,
		"upstream_errors_total{kind=timeout upstream=slow}":   1,
		"upstream_errors_total{kind=connect upstream=dead}":   1,
	}
	spent := map[string]float64{"main": 9, "free": 1, "report": 1} // turns with a terminal snapshot
	seen := map[string][2]float64{"main": {14, 11}, "free": {1, 1}, "report": {1, 1}, "slow": {1, 1}, "dead": {1, 0}}
	for upstream, n := range seen {
		label := "{upstream=" + upstream + "}"
		want["turn_duration_seconds"+label], want["first_event_seconds"+label] = n[0], n[1]
		want["events_total"+label], want["stream_bytes_total"+label] = float64(relayed[upstream+" events"]), float64(relayed[upstream])
		want["active_streams"+label] = 0
		for kind, tokens := range map[string]float64{"input": mock.InputTokens, "cached_input": mock.CachedTokens, "output": mock.OutputTokens, "reasoning": mock.ReasoningTokens} {
			if spent[upstream] > 0 {
				want[fmt.Sprintf("tokens_total{kind=%s upstream=%s}", kind, upstream)] = tokens * spent[upstream]
			}
		}
	}
	return want
}

// TestO7LabelsAreBounded: whatever upstreams and clients invent, no series is
// named after it.
func TestO7LabelsAreBounded(t *testing.T) {
	strange := new(mock.Stream).Created().Done(0, mock.FC("INVENTED", "{}").With("type", "INVENTED_call")).
		Event("INVENTED", "").Error("INVENTED", "INVENTED").Failed("INVENTED", "INVENTED")
	r := newRig(t, nil, strange.Turn(), mock.Turn{Body: []byte(`{"error":{"code":"INVENTED","type":"INVENTED"}}`)},
		mock.Turn{Status: 499, Body: []byte(`{"error":{"code":"INVENTED"}}`)})
	body := strings.Replace(string(requestBody(t, "one-tool", true)), `"m"`, `"INVENTED"`, 1)
	for range 3 {
		r.post([]byte(body), nil)
	}
	r.do("INVENTED", "/INVENTED", nil, nil)
	r.stop()
	all := r.series()
	if n := all["turns_total{outcome=upstream_error transport=sse upstream=default}"] + all["turns_total{outcome=upstream_error transport=json upstream=default}"]; n != 2 {
		t.Errorf("%v upstream errors in %v", n, all)
	}
	for s := range all {
		if strings.Contains(strings.ToUpper(s), "INVENTED") {
			t.Errorf("series %s", s)
		}
	}
	if kinds := []string{itemTypeLabel("INVENTED_call"), itemTypeLabel("")}; !slices.Equal(kinds, []string{"other", "other"}) {
		t.Errorf("labels %q", kinds)
	}
}
