package tui

import (
	"os"
	"sync"
	"time"
)

// writeTimeout is how long a write waits for the terminal to accept a frame.
const writeTimeout = 250 * time.Millisecond

// ttyWriter writes to the terminal from its own goroutine. A terminal that accepts no output (a dead connection,
// a paused window) would block its writer, and with it keys, signals and exit. Here it blocks
// only a goroutine. No frame is drawn until it continues; the next one shows the current state.
type ttyWriter struct {
	file      *os.File
	frameRate *frameRate

	mu      sync.Mutex // guards the fields below
	queue   []byte     // not written yet
	err     error
	done    chan struct{} // closed when all is written; nil while idle
	blocked bool          // the terminal blocks
}

// Write waits until the terminal accepts the output, up to a timeout.
func (o *ttyWriter) Write(b []byte) (int, error) {
	o.mu.Lock()
	o.queue = append(o.queue, b...)
	if o.done == nil {
		o.done = make(chan struct{})
		go o.drain()
	}
	done, late := o.done, o.blocked
	o.mu.Unlock()
	if !late {
		waitFor(done, writeTimeout)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.done == done && !o.blocked {
		o.blocked = true
		o.frameRate.pause()
	}
	if err := o.err; err != nil {
		o.err = nil
		return 0, err
	}
	return len(b), nil
}

// drain writes until the queue is empty. A blocked write may outlive Run.
func (o *ttyWriter) drain() {
	for {
		o.mu.Lock()
		b := o.queue
		o.queue = nil
		if len(b) == 0 {
			close(o.done)
			o.done = nil
			if o.blocked {
				o.blocked = false
				o.frameRate.resume()
			}
			o.mu.Unlock()
			return
		}
		o.mu.Unlock()
		if _, err := o.file.Write(b); err != nil {
			o.mu.Lock()
			o.err = err
			o.mu.Unlock()
		}
	}
}

// flush waits until all output is written, up to a timeout, and reports whether it is.
func (o *ttyWriter) flush(most time.Duration) bool {
	o.mu.Lock()
	done := o.done
	o.mu.Unlock()
	return done == nil || waitFor(done, most)
}

// waitFor waits for a channel, and reports whether it was ready in time.
func waitFor(c <-chan struct{}, most time.Duration) bool {
	select {
	case <-c:
		return true
	case <-time.After(most):
		return false
	}
}

// Read, Close and Fd are for the terminal library, which queries the size and the capabilities of the
// terminal.

// Read reads from the terminal.
func (o *ttyWriter) Read(b []byte) (int, error) { return o.file.Read(b) }

// Close leaves it open: it is not ours.
func (o *ttyWriter) Close() error { return nil }

// Fd is its descriptor.
func (o *ttyWriter) Fd() uintptr { return o.file.Fd() }
