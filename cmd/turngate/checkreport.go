package main

import (
	"encoding/json"
	"fmt"
	"io"

	"turngate/guard"
	"turngate/proxy"
)

// report is the JSON form of a verdict.
type report struct {
	Verdict         string          `json:"verdict"` // accepted or refused
	Reason          *string         `json:"reason"`
	Outcome         string          `json:"outcome"`
	UpstreamOutcome string          `json:"upstream_outcome"`
	Refusals        []reportFinding `json:"refusals"`
	Events          int             `json:"events"`
	Catalog         []string        `json:"catalog"`
}

// reportFinding is a refusal, or what would have been one in mode report.
type reportFinding struct {
	Mode string `json:"mode"`
	*guard.Refusal
}

func writeVerdict(w io.Writer, v *proxy.Verdict, asJSON bool) error {
	if !asJSON {
		return writeVerdictText(w, v)
	}
	r := report{
		Verdict: "accepted", Outcome: v.Outcome, UpstreamOutcome: v.UpstreamOutcome,
		Refusals: []reportFinding{}, Events: v.Events, Catalog: append([]string{}, v.Catalog...),
	}
	if v.Refused() {
		r.Verdict, r.Reason = "refused", &v.Reason
	}
	for _, f := range v.Findings {
		r.Refusals = append(r.Refusals, reportFinding{f.Mode.String(), f.Refusal})
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(r)
}

func writeVerdictText(w io.Writer, v *proxy.Verdict) error {
	text := ""
	for _, f := range v.Findings {
		text += fmt.Sprintf("%s %s %s: %s\n", f.Mode, f.Reason, f.ItemType, f.Refusal.Message())
	}
	switch refusals := len(v.Findings); {
	case !v.Refused():
		text += "accepted\n"
	case refusals > 0 && v.Findings[refusals-1].Mode == guard.Refuse:
		text += "refused: " + v.Reason + "\n"
	default: // turngate ended the turn for what is no call
		text += fmt.Sprintf("%s: %s\nrefused: %s\n", v.Reason, v.Message, v.Reason)
	}
	_, err := io.WriteString(w, text)
	return err
}
