package transcript

import (
	"log/slog"
	"os"
	"sync"
	"time"
)

// Results with which Options.Count is told of each turn.
const (
	Written = "written"
	Dropped = "dropped" // the disk did not keep up
	Failed  = "failed"  // it is full or read-only, or the turn alone is over the limit
)

// Options say where and how much a [Recorder] keeps.
type Options struct {
	Dir      string
	MaxBytes int64        // of all files together, the oldest turns go; 0: no limit
	Logger   *slog.Logger // told of failures, once in a while

	// Count, if set, is called from the writer's goroutine with the result of
	// each turn.
	Count func(result string)
}

// Recorder writes turns to disk from one goroutine of its own. Callers never
// wait for the disk: what is beyond a bounded queue is dropped, and the turn it
// belongs to is not kept. Its methods are safe for concurrent use.
type Recorder struct {
	opt    Options
	wake   chan struct{} // of the writer
	writer *writer

	mu     sync.Mutex
	queue  []op
	queued int  // bytes of it, and of what is being written
	open   int  // turns that have begun and not ended
	closed bool // none may begin any more
}

// maxQueued bounds the bytes that wait for the disk.
const maxQueued = 64 << 20

// opCost is charged for a queue entry beside its bytes.
const opCost = 128

// op is something to write.
type op struct {
	turn *Turn
	kind opKind
	data []byte
	at   time.Duration
	meta *Meta // of opEnd; nil if there is nothing to keep
}

type opKind uint8

const (
	opRequest opKind = iota
	opSent
	opResponse
	opClient
	opEnd // always taken
)

// NewRecorder returns a recorder and makes opt.Dir if need be. Nothing is
// written before [Recorder.Run].
func NewRecorder(opt Options) (*Recorder, error) {
	if err := os.MkdirAll(opt.Dir, 0o700); err != nil {
		return nil, err
	}
	return &Recorder{opt: opt, wake: make(chan struct{}, 1), writer: newWriter(opt)}, nil
}

// Close lets no more turns begin. Those that have are written to their ends.
func (r *Recorder) Close() {
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	r.signal()
}

// push queues o and reports whether there was room.
func (r *Recorder) push(o op) bool {
	cost := len(o.data) + opCost
	r.mu.Lock()
	if o.kind != opEnd && r.queued > 0 && r.queued+cost > maxQueued {
		r.mu.Unlock()
		return false
	}
	r.queue = append(r.queue, o)
	r.queued += cost
	if o.kind == opEnd {
		r.open--
	}
	r.mu.Unlock()
	r.signal()
	return true
}

func (r *Recorder) signal() {
	select {
	case r.wake <- struct{}{}:
	default: // it is going to look anyway
	}
}

// Run writes what is recorded. It returns when the recorder was closed and the
// last turn is on disk. Call it once.
func (r *Recorder) Run() {
	r.writer.scan()
	var batch []op
	for {
		r.mu.Lock()
		batch, r.queue = r.queue, batch[:0]
		over := r.closed && r.open == 0 && len(batch) == 0
		r.mu.Unlock()
		if over {
			return
		}
		if len(batch) == 0 {
			<-r.wake
			continue
		}
		for i := range batch {
			r.writer.do(&batch[i])
			r.mu.Lock()
			r.queued -= len(batch[i].data) + opCost
			r.mu.Unlock()
			batch[i] = op{}
		}
	}
}
