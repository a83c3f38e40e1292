package tui

import (
	"os"
	"sync"
	"time"
)

// writeTimeout is how long who draws waits for the terminal to take a frame.
const writeTimeout = 250 * time.Millisecond

// ttyWriter is the way to the terminal. One that takes nothing (a connection that is gone without a word, a window
// that is held) would keep whoever writes to it, and with him keys, signals and the end of the program; here it
// keeps a goroutine. Until it goes on no frame is made: the next one shows what is then.
type ttyWriter struct {
	file      *os.File
	frameRate *frameRate

	mu      sync.Mutex // guards what follows
	queue   []byte     // not begun to be written yet
	err     error
	done    chan struct{} // closed when all is taken; nil when it is
	blocked bool          // the terminal has kept somebody waiting, and still does
}

// Write waits until the terminal has taken it, but not for long.
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

// drain writes until there is nothing more. The last that was written may outlive the program's wish to end.
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

// flush waits for so long until all is taken, and reports whether it is.
func (o *ttyWriter) flush(most time.Duration) bool {
	o.mu.Lock()
	done := o.done
	o.mu.Unlock()
	return done == nil || waitFor(done, most)
}

// waitFor waits for something, and reports whether it came in time.
func waitFor(c <-chan struct{}, most time.Duration) bool {
	select {
	case <-c:
		return true
	case <-time.After(most):
		return false
	}
}

// Read, Close and Fd are there for the terminal library, which wants to know the size of the terminal and its
// abilities. It closes nothing.

// Read reads from the terminal.
func (o *ttyWriter) Read(b []byte) (int, error) { return o.file.Read(b) }

// Close leaves it open: it is not ours.
func (o *ttyWriter) Close() error { return nil }

// Fd is its descriptor.
func (o *ttyWriter) Fd() uintptr { return o.file.Fd() }
