package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"time"

	"github.com/creack/pty"
)

// terminal is one in which the program runs. It answers what a terminal is asked, so that frames are marked:
// the program says where one begins and ends if that is understood.
type terminal struct {
	cmd   *exec.Cmd
	file  *os.File
	began time.Time
	ended chan struct{}

	mu     sync.Mutex // guards what follows
	seen   []byte     // since the last mark
	frames []time.Time
	rest   []byte
	more   chan struct{} // holds one: something was seen
}

// The queries to a terminal, and the answers of one that supports synchronized output.
var (
	askSync    = []byte("\x1b[?2026$p")
	answerSync = []byte("\x1b[?2026;2$y")
	askColor   = []byte("\x1b]11;?")
	dark       = []byte("\x1b]11;rgb:1010/1010/1010\x1b\\")
	frameEnd   = []byte("\x1b[?2026l")
)

// run starts the program that is measured.
func (s *stage) run(ctx context.Context, args ...string) (*terminal, error) {
	return open(s.command(ctx, args...))
}

// open starts a program in a terminal.
func open(cmd *exec.Cmd) (*terminal, error) {
	t := &terminal{cmd: cmd, ended: make(chan struct{}), more: make(chan struct{}, 1)}
	t.began = time.Now()
	f, err := pty.StartWithSize(t.cmd, &pty.Winsize{Cols: 120, Rows: 40})
	if err != nil {
		return nil, err
	}
	t.file = f
	go t.watch()
	return t, nil
}

// watch reads what is drawn until the program is gone.
func (t *terminal) watch() {
	defer close(t.ended)
	b := make([]byte, 64<<10)
	for {
		n, err := t.file.Read(b)
		now := time.Now()
		t.saw(b[:n], now)
		select {
		case t.more <- struct{}{}:
		default:
		}
		if err != nil {
			return
		}
	}
}

func (t *terminal) saw(b []byte, now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.seen = append(t.seen, b...)
	// A sequence may be cut between two reads.
	line := append(t.rest, b...)
	if bytes.Contains(line, askSync) {
		_, _ = t.file.Write(answerSync)
	}
	if bytes.Contains(line, askColor) {
		_, _ = t.file.Write(dark)
	}
	for range bytes.Count(line, frameEnd) {
		t.frames = append(t.frames, now)
	}
	line = line[max(0, len(line)-len(frameEnd)+1):] // shorter than what is counted
	t.rest = bytes.Clone(line)
}

// mark forgets what was seen so far.
func (t *terminal) mark() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.seen = t.seen[:0]
}

// see waits until a text is seen after the mark, and tells when.
func (t *terminal) see(text string, most time.Duration) (time.Time, error) {
	limit := time.NewTimer(most)
	defer limit.Stop()
	want := []byte(text)
	for {
		t.mu.Lock()
		found := bytes.Contains(t.seen, want)
		t.mu.Unlock()
		if found {
			return time.Now(), nil
		}
		select {
		case <-t.more:
		case <-t.ended:
			return time.Now(), fmt.Errorf("%q was not seen before the end; seen was %q", text, t.tail())
		case <-limit.C:
			return time.Now(), fmt.Errorf("%q was not seen in %s; seen was %q", text, most, t.tail())
		}
	}
}

// tail is the end of what was seen.
func (t *terminal) tail() []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	return bytes.Clone(t.seen[max(0, len(t.seen)-2000):])
}

// still waits until nothing was drawn for so long.
func (t *terminal) still(d time.Duration) {
	for {
		select {
		case <-t.more:
		case <-t.ended:
			return
		case <-time.After(d):
			return
		}
	}
}

// typed types something.
func (t *terminal) typed(text string) error {
	_, err := t.file.WriteString(text)
	return err
}

// drawn is when frames were drawn since a time.
func (t *terminal) drawn(since time.Time) (out []time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, f := range t.frames {
		if f.After(since) {
			out = append(out, f)
		}
	}
	return out
}

// end ends the program.
func (t *terminal) end() {
	_ = t.cmd.Process.Signal(os.Interrupt)
	select {
	case <-t.ended:
	case <-time.After(5 * time.Second):
		_ = t.cmd.Process.Kill()
	}
	_ = t.cmd.Wait() // how it ended is not what is measured
	_ = t.file.Close()
}
