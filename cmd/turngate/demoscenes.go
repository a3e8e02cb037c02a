package main

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/tidwall/gjson"
	gosse "github.com/tmaxmax/go-sse"

	"turngate/testdata"
)

// scene is one turn of the demo.
type scene struct {
	title  string
	answer string // what the upstream sends, a file of the catalogue
	json   bool   // asked without "stream": true
	codex  bool   // asked by Codex
	show   func(d *demo, sent []byte, got answer) error
}

// scenes returns the turns in the order in which they are played.
func scenes() []scene {
	return []scene{
		{title: "A turn that passes", answer: "G5-function-call-declared.sse", show: (*demo).showPassed},
		{title: "A call that the request did not declare", answer: "K-E1-undeclared.sse", show: (*demo).showRefused},
		{title: "The same without streaming", answer: "S6-json-custom.json", json: true, show: (*demo).showRefusedJSON},
		{title: "The stream of 2 again, and the client is Codex", answer: "K-E1-undeclared.sse", codex: true, show: (*demo).showCodex},
		{title: "A stream that breaks off", answer: "K-A1-truncated.sse", show: (*demo).showTruncated},
	}
}

// play asks for a scene's turn and shows it.
func (d *demo) play(s scene) error {
	sent, err := testdata.Demo.ReadFile("streams/" + s.answer)
	if err != nil {
		return err
	}
	got, err := d.ask(s)
	if err != nil {
		return err
	}
	return s.show(d, sent, got)
}

func (d *demo) showPassed(sent []byte, got answer) error {
	if err := d.events("upstream sent", sent); err != nil {
		return err
	}
	if !bytes.Equal(sent, got.body) {
		return errors.New("the client got other bytes than the upstream sent")
	}
	d.line("client got", "the same: %d bytes sent, %d bytes got, compared and equal", len(sent), len(got.body))
	return nil
}

func (d *demo) showRefused(sent []byte, got answer) error {
	if err := d.events("upstream sent", sent); err != nil {
		return err
	}
	if err := d.events("client got", got.body); err != nil {
		return err
	}
	return d.refusal(got.body, "undeclared_tool_call")
}

func (d *demo) showCodex(_ []byte, got answer) error {
	if err := d.events("client got", got.body); err != nil {
		return err
	}
	d.line("why", "Codex shows the message of an invalid_prompt and stops;")
	d.line("", "with a code that it does not know, it would ask five more times")
	return d.refusal(got.body, "invalid_prompt")
}

// refusal shows the error of a refused stream, and makes sure that nothing of
// the call's arguments is in it.
func (d *demo) refusal(body []byte, wantCode string) error {
	events, err := readEvents(body)
	if err != nil {
		return err
	}
	for _, e := range events {
		if failure := gjson.Get(e.Data, "response.error"); e.Type == "response.failed" {
			d.showError(failure)
			if got := failure.Get("code").String(); got != wantCode {
				return fmt.Errorf("the code is %q, want %q", got, wantCode)
			}
			return d.withheld(body, "/srv/dat", "force")
		}
	}
	return errors.New("the turn was not refused")
}

func (d *demo) showRefusedJSON(sent []byte, got answer) error {
	call := gjson.GetBytes(sent, "output.0")
	d.line("upstream sent", "200, a response whose output is a %s %q", call.Get("type"), call.Get("name").String())
	d.line("client got", "%d, x-should-retry: %s", got.status, got.header.Get("X-Should-Retry"))
	failure := gjson.GetBytes(got.body, "error")
	if got.status != 502 || !failure.Exists() {
		return errors.New("the answer was not refused")
	}
	d.showError(failure)
	return d.withheld(got.body, call.Get("input").String())
}

func (d *demo) showTruncated(sent []byte, got answer) error {
	if err := d.events("upstream sent", sent); err != nil {
		return err
	}
	d.line("", "and then nothing: the connection was closed")
	rest, ok := bytes.CutPrefix(got.body, sent)
	if !ok {
		return errors.New("what came before the break was changed")
	}
	d.line("client got", "those %d bytes, and an end that says what happened:", len(sent))
	events, err := readEvents(rest)
	if err != nil {
		return err
	}
	if len(events) == 0 {
		return errors.New("the stream has no end")
	}
	for _, e := range events {
		d.line("", "%s", describe(e))
	}
	d.showError(gjson.Get(events[0].Data, "response.error"))
	return nil
}

// showError shows what a program and what a person reads of an error.
func (d *demo) showError(failure gjson.Result) {
	d.line("code", "%s", failure.Get("code"))
	if refusal := failure.Get("refusal"); refusal.Exists() {
		d.line("reason", "%s", refusal.Get("reason"))
	}
	d.line("message", "%s", failure.Get("message"))
}

// withheld makes sure that no text of the call's arguments is in what the client
// got, and says so.
func (d *demo) withheld(body []byte, texts ...string) error {
	for _, text := range texts {
		if bytes.Contains(body, []byte(text)) {
			return fmt.Errorf("the client got %q, which is of the call's arguments", text)
		}
	}
	d.line("arguments", "nothing of them is in the client's %d bytes: looked for %q", len(body), texts)
	return nil
}

// showOperator shows what turngate tells operators of the scenes.
func (d *demo) showOperator(number int) error {
	// A refused turn is over for the client before the upstream's stream was read
	// to its end. When the proxy has shut down, everything is counted.
	if err := d.proxy.Shutdown(d.ctx); err != nil {
		return err
	}
	d.printf("\n%d. What the operator sees\n", number)
	metrics, err := d.get("/metrics")
	if err != nil {
		return err
	}
	d.printf("   GET /metrics, among others\n")
	for line := range strings.Lines(string(metrics)) {
		for _, name := range []string{"turngate_turns_total{", "turngate_refusals_total{", "turngate_upstream_outcomes_total{", "turngate_tokens_total{"} {
			if strings.HasPrefix(line, name) {
				d.printf("     %s", line)
			}
		}
	}
	turns, err := d.get("/turns?outcome=refused&limit=1")
	if err != nil {
		return err
	}
	turn := gjson.GetBytes(turns, "turns.0")
	d.printf("   GET /turns?outcome=refused&limit=1, in part\n")
	for _, key := range []string{"request_id", "response_id", "upstream", "model", "outcome", "upstream_outcome", "refusal.reason", "refusal.name", "tokens"} {
		d.printf("     %-17s %s\n", key, turn.Get(key))
	}
	return d.ctx.Err()
}

// line prints one line of a scene under its label.
func (d *demo) line(label, format string, args ...any) {
	d.printf("   %-15s %s\n", label, fmt.Sprintf(format, args...))
}

// events prints the events of a stream, one a line.
func (d *demo) events(label string, stream []byte) error {
	events, err := readEvents(stream)
	for _, e := range events {
		d.line(label, "%s", describe(e))
		label = ""
	}
	return err
}

// readEvents reads a stream as a client would.
func readEvents(stream []byte) ([]gosse.Event, error) {
	var events []gosse.Event
	for e, err := range gosse.Read(bytes.NewReader(stream), nil) {
		if err != nil {
			return events, err
		}
		events = append(events, e)
	}
	return events, nil
}

// describe names an event and what in it is worth a look.
func describe(e gosse.Event) string {
	if e.Data == "[DONE]" {
		return e.Data
	}
	event := gjson.Parse(e.Data)
	detail := ""
	switch item := event.Get("item"); {
	case item.Get("name").Exists():
		detail = item.Get("type").String() + " " + item.Get("name").String()
	case event.Get("delta").Exists():
		detail = event.Get("delta").String()
	}
	return strings.TrimRight(fmt.Sprintf("%-38s %s", event.Get("type"), detail), " ")
}
