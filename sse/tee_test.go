package sse

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// wire is a Sink that keeps what it gets, in copies.
type wire struct {
	writes []string
	events []int
	err    error
	onSend func([]byte)
}

func (w *wire) Relay(frames []byte, events int) error {
	if w.onSend != nil {
		w.onSend(frames)
	}
	w.writes = append(w.writes, string(frames))
	w.events = append(w.events, events)
	return w.err
}

func pass(f *Frame, _ func() error) ([]byte, error) { return f.Raw, nil }

// S1: whole frames, all that arrived together in one write, before reading on.
func TestTeeBatches(t *testing.T) {
	for name, tt := range map[string]struct {
		reads   []string
		inspect Inspect
		writes  []string
		events  []int
		err     error
	}{
		"one frame a read": {
			[]string{"data: x\n\n", "data: y\n\n"}, pass,
			[]string{"data: x\n\n", "data: y\n\n"}, []int{1, 1}, io.EOF},
		"several frames a read": {
			[]string{":c\ndata: x\n\ndata: y\n\nda", "ta: z\n\n"}, pass,
			[]string{":c\ndata: x\n\ndata: y\n\n", "data: z\n\n"}, []int{2, 1}, io.EOF},
		"comments alone": {[]string{":c\n\n"}, pass, []string{":c\n\n"}, []int{0}, io.EOF},
		"the tail is closed, S7": {
			[]string{"data: x\n\ndata: y"}, pass,
			[]string{"data: x\n\n", "data: y\n\n"}, []int{1, 1}, io.EOF},
		"a replaced tail is not": {
			[]string{"data: y"}, func(*Frame, func() error) ([]byte, error) { return []byte("other"), nil },
			[]string{"other"}, []int{1}, io.EOF},
		"dropped": {
			[]string{"data: a\n\ndata: drop\n\ndata: b\n\n", "data: drop\n\n", "data: c\n\n"}, drop("drop"),
			[]string{"data: a\n\ndata: b\n\n", "data: c\n\n"}, []int{2, 1}, io.EOF},
		"dropped first": {
			[]string{"data: drop\n\ndata: a\n\ndata: b\n\n"}, drop("drop"),
			[]string{"data: a\n\ndata: b\n\n"}, []int{2}, io.EOF},
		"an error sends what came before it": {
			[]string{"data: a\n\ndata: b\n\ndata: stop\n\ndata: c\n\n"}, stop(nil),
			[]string{"data: a\n\ndata: b\n\n"}, []int{2}, errStop},
		"and what comes with it": {
			[]string{"data: a\n\n", "data: stop\n\ndata: c\n\n"}, stop([]byte("data: failed\n\n")),
			[]string{"data: a\n\n", "data: failed\n\n"}, []int{1, 1}, errStop},
		"an error on the first frame": {[]string{"data: stop\n\n"}, stop(nil), nil, nil, errStop},
	} {
		t.Run(name, func(t *testing.T) {
			src := &chunks{err: io.EOF}
			for _, s := range tt.reads {
				src.parts = append(src.parts, []byte(s))
			}
			w := &wire{}
			err := Tee(NewReader(src, &Buffers{}, 0), tt.inspect, nil, w)
			if err != tt.err {
				t.Errorf("error = %v, want %v", err, tt.err)
			}
			if diff := cmp.Diff(tt.writes, w.writes); diff != "" {
				t.Errorf("writes (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.events, w.events); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
		})
	}
}

func drop(data string) Inspect {
	return func(f *Frame, _ func() error) ([]byte, error) {
		if string(f.Data) == data {
			return nil, nil
		}
		return f.Raw, nil
	}
}

var errStop = errors.New("stop")

func stop(with []byte) Inspect {
	return func(f *Frame, _ func() error) ([]byte, error) {
		if string(f.Data) == "stop" {
			return with, errStop
		}
		return f.Raw, nil
	}
}

func TestTeeErrors(t *testing.T) {
	gone := errors.New("client is gone")
	if err := Tee(NewReader(whole("data: x\n\n"), &Buffers{}, 0), pass, nil, &wire{err: gone}); err != gone {
		t.Errorf("error = %v, want the sink's", err)
	}
	if err := Tee(NewReader(&chunks{err: errBroken}, &Buffers{}, 0), pass, nil, &wire{}); err != errBroken {
		t.Errorf("error = %v, want the source's", err)
	}
	if err := Tee(NewReader(whole("data: x\n\n"), &Buffers{}, 4), pass, nil, &wire{}); err != ErrFrameTooLong {
		t.Errorf("error = %v, want ErrFrameTooLong", err)
	}
}

// Everything is judged before anything of its read is relayed, and relayed
// before the source is asked again.
func TestTeeOrder(t *testing.T) {
	var log []string
	src := &watched{Reader: split("data: x\n\ndata: y\n\ndata: z\n\n", 18), before: func() { log = append(log, "read") }}
	inspect := func(f *Frame, _ func() error) ([]byte, error) {
		log = append(log, "judge "+string(f.Data))
		return f.Raw, nil
	}
	w := &wire{onSend: func(b []byte) { log = append(log, "send") }}
	Tee(NewReader(src, &Buffers{}, 0), inspect, nil, w)
	want := "read,judge x,judge y,send,read,judge z,send,read"
	if got := strings.Join(log, ","); got != want {
		t.Errorf("order = %s, want %s", got, want)
	}
}

// An inspection may return bytes that it overwrites for its next answer.
func TestTeeCopiesReplacements(t *testing.T) {
	var scratch []byte
	inspect := func(f *Frame, _ func() error) ([]byte, error) {
		scratch = append(append(scratch[:0], "data: new "...), f.Raw[6:]...)
		return scratch, nil
	}
	w := &wire{}
	Tee(NewReader(whole("data: x\n\ndata: y\n\n"), &Buffers{}, 0), inspect, nil, w)
	if got, want := strings.Join(w.writes, "|"), "data: new x\n\ndata: new y\n\n"; got != want {
		t.Errorf("relayed %q, want %q", got, want)
	}
}

// A part of the frame is not the frame, also where it begins with it.
func TestTeePartOfAFrame(t *testing.T) {
	inspect := func(f *Frame, _ func() error) ([]byte, error) {
		_, rest, found := bytes.Cut(f.Raw, []byte("id: 1\n"))
		if found {
			return rest, nil
		}
		return f.Raw[:len(f.Raw)-1], nil
	}
	w := &wire{}
	Tee(NewReader(whole("id: 1\ndata: x\n\ndata: y\n\n"), &Buffers{}, 0), inspect, nil, w)
	if got, want := strings.Join(w.writes, "|"), "data: x\n\ndata: y\n"; got != want {
		t.Errorf("relayed %q, want %q", got, want)
	}
}

func (w *wire) all() string { return strings.Join(w.writes, "") }

// An inspection that takes time has what came before its frame relayed first.
func TestTeeFlush(t *testing.T) {
	w := &wire{}
	var before int
	err := Tee(NewReader(whole("data: a\n\ndata: b\n\ndata: slow\n\ndata: c\n\n"), &Buffers{}, 0), func(f *Frame, flush func() error) ([]byte, error) {
		if string(f.Data) == "slow" {
			for range 2 { // the second has nothing to send
				if err := flush(); err != nil {
					t.Error(err)
				}
			}
			before = len(w.writes)
		}
		return f.Raw, nil
	}, nil, w)
	if before != 1 || err != io.EOF {
		t.Errorf("%d writes before the slow frame, error %v", before, err)
	}
	if diff := cmp.Diff([]string{"data: a\n\ndata: b\n\n", "data: slow\n\ndata: c\n\n"}, w.writes); diff != "" {
		t.Errorf("writes (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]int{2, 2}, w.events); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}
