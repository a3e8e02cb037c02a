package sse

// Sink is where relayed bytes go. Tee calls it from its own goroutine only.
type Sink interface {
	// Relay takes whole frames that are to be sent on now, in one write. The
	// bytes belong to the caller again when Relay returns. events is the number
	// of frames among them that are events.
	Relay(frames []byte, events int) error
}

// Inspect judges a frame and returns what takes its place downstream: f.Raw
// itself, other bytes, or nothing to drop it. f is the reader's, and what is
// returned stays the inspection's, which may write over it when it is called
// again. flush relays at once what came
// before the frame; an inspection that takes time calls it first. Its error is
// the sink's, and to be returned.
type Inspect func(f *Frame, flush func() error) ([]byte, error)

// Skim looks for frames that need no inspection, as one that was inspected
// before has shown: many events differ from the one before in little. b begins
// with a frame. It returns the length of the whole frames that it knows there,
// and how many of them are events. They end in a line feed and have no carriage
// return in them; they pass untouched. b is the reader's and neither kept nor
// changed.
type Skim func(b []byte) (n, events int)

// Tee reads src to its end. Each frame is first shown to inspect, except those
// that skim has taken (nil takes none). What the frames of one read come to is
// then relayed together, before src is read again: so nothing is held back while
// the source is silent, except a frame that may end in half a CRLF.
//
// An error of inspect ends Tee at once; what came before the frame has been
// relayed by then, and bytes returned beside the error are relayed too. Tee
// returns the error of inspect, of the sink, or of src (io.EOF included) as it
// is, never nil.
func Tee(src *Reader, inspect Inspect, skim Skim, dst Sink) error {
	t := batch{dst: dst}
	flush := t.send
	for {
		f, err := src.Next()
		if err != nil {
			return err
		}
		out, verdict := inspect(f, flush)
		t.add(f, out)
		if verdict == nil && skim != nil {
			t.pass(src.skim(skim))
		}
		if verdict != nil || !src.Ready() {
			if err := t.send(); err != nil {
				return err
			}
		}
		if verdict != nil {
			return verdict
		}
	}
}

// batch collects what a read comes to. Frames that pass untouched lie side by
// side in the reader's buffer, so they are one slice without copying.
type batch struct {
	dst    Sink
	run    []byte // untouched frames that lie side by side
	events int
	copied []byte // everything so far, once what came did not lie behind it
}

func (t *batch) add(f *Frame, out []byte) {
	if len(out) == 0 {
		return
	}
	events := 0
	if f.IsEvent() {
		events = 1
	}
	same := len(out) == len(f.Raw) && &out[0] == &f.Raw[0]
	if same && !f.Cut {
		t.pass(out, events)
		return
	}
	if same {
		out = append(out[:len(out):len(out)], f.Closing()...)
	}
	t.events += events
	t.copy(out)
}

// pass adds bytes of the reader's.
func (t *batch) pass(raw []byte, events int) {
	t.events += events
	switch {
	case len(raw) == 0:
	case t.copied != nil:
		t.copied = append(t.copied, raw...)
	case t.run == nil:
		t.run = raw
	case adjacent(t.run, raw):
		t.run = t.run[: len(t.run)+len(raw) : cap(t.run)]
	default:
		t.copy(raw)
	}
}

// copy adds bytes that do not lie behind what is there.
func (t *batch) copy(b []byte) {
	if t.copied == nil {
		t.copied = append(make([]byte, 0, len(t.run)+len(b)), t.run...)
		t.run = nil
	}
	t.copied = append(t.copied, b...)
}

// adjacent reports whether b begins in memory where a ends.
func adjacent(a, b []byte) bool {
	return cap(a)-len(a) >= len(b) && &a[:len(a)+1][len(a)] == &b[0]
}

func (t *batch) send() error {
	frames, events := t.run, t.events
	if t.copied != nil {
		frames = t.copied
	}
	t.run, t.copied, t.events = nil, nil, 0
	if len(frames) == 0 {
		return nil
	}
	return t.dst.Relay(frames, events)
}
