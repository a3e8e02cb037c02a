package sse

import (
	"errors"
	"io"
)

// ErrFrameTooLong is returned for a frame over the reader's limit. The stream
// cannot be read on.
var ErrFrameTooLong = errors.New("event exceeds the size limit")

// readSize is the least room a read gets once bytes have begun to arrive.
const readSize = 16 << 10

const maxEmptyReads = 100

// Reader cuts an event stream into frames. It reads each byte once and looks at
// each byte a fixed number of times, however small the reads. While it waits
// for the next frame to begin it holds no buffer. Not safe for concurrent use;
// it must not be copied.
type Reader struct {
	src  io.Reader
	pool *Buffers
	max  int

	buf        *Buffer // nil while nothing is pending
	start, end int     // pending bytes: buf.B[start:end]
	err        error   // of src, held back until the pending bytes are used up

	next    Frame // cut ahead by Ready
	hasNext bool
	long    bool // what Ready cut is over the limit; the cutter has gone on

	cut     cutter
	started bool      // a frame has been cut: no byte order mark any more
	empty   int       // reads in a row that returned nothing
	came    int       // bytes read since it waited last
	own     Buffer    // small, which no pool gets
	small   [352]byte // what an idle stream waits with: room for a usual event
}

// firstRead is how much is read at first where much is to come.
const firstRead = 64

// NewReader returns a reader of src that refuses frames over max bytes
// (0: no limit) and borrows its buffers from pool.
func NewReader(src io.Reader, pool *Buffers, max int) *Reader {
	r := &Reader{src: src, pool: pool, max: max}
	r.own.B = r.small[:]
	r.cut.init()
	return r
}

// Prepend makes b, which it copies, the start of the stream. It is for what was
// read of src before, and comes before the first call of Next.
func (r *Reader) Prepend(b []byte) {
	r.buf = &r.own
	if len(b) > len(r.own.B) {
		r.buf = r.pool.Get(len(b))
	}
	r.end = copy(r.buf.B, b)
}

// Next returns the next frame, reading as necessary. The frame belongs to the
// reader, which makes the next one in its place (with Next or Ready). At the end
// of the input it returns what is left as a frame that is Cut, then the source's
// error: io.EOF, or what broke the stream. Other errors: ErrFrameTooLong, and
// io.ErrNoProgress for a source that returns nothing. An error is final.
func (r *Reader) Next() (*Frame, error) {
	for {
		if r.Ready() {
			r.hasNext = false
			return &r.next, nil
		}
		if r.long || r.tooLong(r.end-r.start) {
			r.drop()
			r.err = ErrFrameTooLong
		}
		if r.err != nil {
			if r.start < r.end {
				r.tail()
				return &r.next, nil
			}
			r.drop()
			return nil, r.err
		}
		r.fill()
	}
}

// Ready reports whether Next can return a whole frame without reading; what the
// slices of earlier frames hold then stays as it is across it. The Frame that
// Next returned last does not.
func (r *Reader) Ready() bool {
	if r.hasNext || r.long || r.start == r.end {
		return r.hasNext
	}
	n, ok := r.cut.cut(r.buf.B[r.start:r.end], !r.started, &r.next)
	if r.long = ok && r.tooLong(n); r.long || !ok { // what is pending stays until Next
		return false
	}
	r.started, r.hasNext = true, true
	r.start += n
	return true
}

// skim takes the frames that f knows at the start of what has been read, and
// returns them and how many of them are events. It is called between frames.
func (r *Reader) skim(f Skim) (run []byte, events int) {
	// None can be over the limit if all together are not.
	if r.start == r.end || !r.cut.clean() || r.tooLong(r.end-r.start) {
		return nil, 0
	}
	pending := r.buf.B[r.start:r.end]
	n, events := f(pending)
	r.cut.skip(n)
	r.start += n
	return pending[:n], events
}

func (r *Reader) tooLong(n int) bool { return r.max > 0 && n > r.max }

// Release gives the buffer back. The reader stays usable only for errors: the
// source's if there was one, else io.ErrClosedPipe.
func (r *Reader) Release() {
	r.drop()
	r.next, r.hasNext = Frame{}, false
	if r.err == nil {
		r.err = io.ErrClosedPipe
	}
}

func (r *Reader) drop() {
	if r.buf != &r.own {
		r.pool.Put(r.buf)
	}
	r.buf, r.start, r.end = nil, 0, 0
}

// tail makes a frame of the bytes behind the last whole one.
func (r *Reader) tail() {
	r.cut.tail(r.buf.B[r.start:r.end], !r.started, &r.next)
	r.start = r.end
}

// fill reads once. A read that has to wait for the next frame's first byte
// waits with the small buffer; a larger one is borrowed for what comes behind.
func (r *Reader) fill() {
	if r.start == r.end {
		r.drop()
		// Where each event comes alone, it is all that is read. Where many come
		// together, they shall not be two batches: one that fills the small
		// buffer, and the rest.
		n := len(r.small)
		if r.came > n {
			n = firstRead
		}
		r.came = 0
		if n = r.read(r.small[:n]); n > 0 {
			r.buf, r.end = &r.own, n
		}
		return
	}
	if len(r.buf.B)-r.end < readSize/4 {
		r.makeRoom()
	}
	r.end += r.read(r.buf.B[r.end:])
}

// read keeps the source's error for later. A source that goes on returning
// nothing at all would keep Next busy for ever.
func (r *Reader) read(p []byte) int {
	n, err := r.src.Read(p)
	r.err = err
	r.came += n
	switch {
	case n > 0 || err != nil:
		r.empty = 0
	case r.empty == maxEmptyReads:
		r.err = io.ErrNoProgress
	default:
		r.empty++
	}
	return n
}

// makeRoom moves the pending bytes to the front, or to a buffer of twice the
// size if they fill most of this one: so each byte moves a bounded number of
// times.
func (r *Reader) makeRoom() {
	pending := r.buf.B[r.start:r.end]
	if r.buf != &r.own && len(pending) <= len(r.buf.B)/2 {
		r.end = copy(r.buf.B, pending)
	} else {
		size := max(2*len(r.buf.B), readSize)
		if r.max > 0 { // what is pending is within the limit, or refused next
			size = min(size, max(r.max, len(pending))+readSize)
		}
		bigger := r.pool.Get(size)
		n := copy(bigger.B, pending)
		r.drop()
		r.buf, r.end = bigger, n
	}
	r.start = 0
}
