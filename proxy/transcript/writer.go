package transcript

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"
)

// errTooLarge is a turn that alone is over the limit.
var errTooLarge = errors.New("the turn alone is over the size limit")

// logInterval is the least time between two lines of the log about turns that
// could not be written.
const logInterval = time.Minute

// writer writes folders. It belongs to the recorder's goroutine.
type writer struct {
	opt   Options
	shelf shelf

	unlogged int // turns that could not be written since the log said so
	loggedAt time.Time
}

func newWriter(opt Options) *writer {
	if opt.Logger == nil {
		opt.Logger = slog.New(slog.DiscardHandler)
	}
	if opt.Count == nil {
		opt.Count = func(string) {}
	}
	return &writer{opt: opt, shelf: shelf{dir: opt.Dir, max: opt.MaxBytes}}
}

// scan finds what earlier runs have left.
func (w *writer) scan() {
	if err := w.shelf.scan(); err != nil {
		w.opt.Logger.Warn("recorded turns cannot be listed", "dir", w.opt.Dir, "error", err)
	}
}

// do writes one entry of the queue.
func (w *writer) do(o *op) {
	t := o.turn
	if t.out.err == nil && !t.lost.Load() {
		t.out.err = w.write(o)
	}
	if o.kind == opEnd {
		w.end(t)
	}
}

func (w *writer) write(o *op) error {
	out := &o.turn.out
	if out.dir == "" {
		out.dir = filepath.Join(w.opt.Dir, o.turn.name)
		if err := os.MkdirAll(out.dir, 0o700); err != nil {
			return err
		}
	}
	switch o.kind {
	case opRequest, opSent:
		out.secrets = out.secrets.add(bodySecrets(o.data)...)
		name := fileRequest
		if o.kind == opSent {
			name = fileSent
		}
		if err := out.file(name, o.data); err != nil {
			return err
		}
	case opResponse:
		if err := out.arrive(o.data, o.at); err != nil {
			return err
		}
	case opClient:
		if err := out.append(&out.client, fileClient, o.data, out.secrets); err != nil {
			return err
		}
	case opEnd:
		text, err := json.MarshalIndent(o.meta, "", "  ")
		if err != nil {
			return err
		}
		if err := errors.Join(out.close(), out.file(fileMeta, append(text, '\n'))); err != nil {
			return err
		}
	}
	return w.shelf.fit(out)
}

// end counts a turn that is over, and removes what there is of one that could
// not be written whole.
func (w *writer) end(t *Turn) {
	out := &t.out
	switch {
	case t.lost.Load():
		out.err = errors.New("the disk does not keep up")
		w.opt.Count(Dropped)
	case out.err != nil:
		w.opt.Count(Failed)
	default:
		w.opt.Count(Written)
		w.shelf.keep(t.name, out)
		return
	}
	w.log(out.err)
	out.close()
	w.shelf.abandon(out)
}

// log says, once in a while, that turns are not kept, and why.
func (w *writer) log(err error) {
	w.unlogged++
	now := time.Now()
	if now.Sub(w.loggedAt) < logInterval {
		return
	}
	w.opt.Logger.Warn("turns could not be recorded", "turns", w.unlogged, "dir", w.opt.Dir, "error", err)
	w.unlogged, w.loggedAt = 0, now
}

// output is the folder of a turn while it is written.
type output struct {
	secrets secrets
	dir     string // "": not made yet
	err     error  // what ended it early

	response, times, client *sink
	received                int64 // bytes of the upstream's answer

	size    int64 // bytes written
	charged int64 // of them, those that the shelf knows of
}

// file writes a whole file.
func (o *output) file(name string, data []byte) error {
	o.size += int64(len(data))
	return os.WriteFile(filepath.Join(o.dir, name), o.secrets.covered(data), 0o600)
}

// arrive appends to the upstream's answer and to its index.
func (o *output) arrive(data []byte, at time.Duration) error {
	line := fmt.Appendf(nil, "%d %d\n", o.received, at.Microseconds())
	o.received += int64(len(data))
	return errors.Join(o.append(&o.response, fileResponse, data, o.secrets), o.append(&o.times, fileTimes, line, nil))
}

// append writes to one of the files that grow, but for what is hidden.
func (o *output) append(s **sink, name string, data []byte, hidden secrets) error {
	if *s == nil {
		file, err := newSink(filepath.Join(o.dir, name), hidden)
		if err != nil {
			return err
		}
		*s = file
	}
	o.size += int64(len(data))
	_, err := (*s).Write(data)
	return err
}

// close ends the files that grow.
func (o *output) close() error {
	var err error
	for _, s := range []**sink{&o.response, &o.times, &o.client} {
		if *s != nil {
			err = errors.Join(err, (*s).Close())
			*s = nil
		}
	}
	return err
}
