package main_test

import (
	"bufio"
	"encoding/json"
	"io"
	"strings"
)

// soakLog is what is kept of a log while it is read: it may have millions of
// lines.
type soakLog struct {
	turns    map[string]map[string]int // by kind and outcome
	last     map[string]string         // the last line of a kind and outcome
	reloads  int
	unproven []string // lines that tell of a fault and not of its cause
}

// readSoakLog reads a log to its end.
func readSoakLog(r io.Reader) *soakLog {
	l := &soakLog{turns: map[string]map[string]int{}, last: map[string]string{}}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var line struct {
			Level, Msg, Model, Outcome, Error, Cause, Fault, Refusal string
		}
		if json.Unmarshal(lines.Bytes(), &line) != nil {
			l.unproven = append(l.unproven, lines.Text()) // a panic, for one
			continue
		}
		switch line.Msg {
		case "turn":
			kind := strings.TrimPrefix(line.Model, "soak-")
			if l.turns[kind] == nil {
				l.turns[kind] = map[string]int{}
			}
			l.turns[kind][line.Outcome]++
			l.last[kind+" "+line.Outcome] = lines.Text()
		case "configuration reloaded":
			l.reloads++
		}
		told := line.Error != "" || line.Fault != "" || line.Cause != ""
		switch line.Outcome {
		case "truncated", "timeout", "client_gone":
			told = line.Cause != ""
		}
		if line.Level != "INFO" && !told || line.Outcome == "refused" && line.Refusal == "" {
			l.unproven = append(l.unproven, lines.Text())
		}
	}
	_, _ = io.Copy(io.Discard, r)
	return l
}
