// Package inline draws a turn below the prompt of a shell while it runs: the answer, a line for each tool call, and
// what is in progress. It uses the same renderer as the terminal UI (tui/markdown, tui/style).
//
// A View owns the screen with one goroutine; everything else of the package belongs to it. Start with View, then
// Screen.Draw.
package inline

import (
	"bufio"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	"github.com/lathe-agent/lathe/tui/style"
)

// Options is where a view draws.
type Options struct {
	Out     *bufio.Writer // the terminal
	Size    func() (width, height int)
	Now     func() time.Time
	Log     *slog.Logger
	OnDraw  func() // is called whenever the view draws; nil except in tests
	Still   bool   // nothing moves: signs stand still
	NoColor bool   // attributes instead of colors

	// Foot draws rows below the view that are always the last, such as a prompt; nil for none. They are no wider and
	// fewer than asked.
	Foot func(width, height int) Foot
}

// Foot is the rows below a view, with the place of the cursor in them.
type Foot struct {
	Rows []style.Line
	X, Y int
}

// View is the live view of a turn on a terminal: final output above,
// and below it a few rows that are redrawn while something is in progress.
//
// One goroutine owns the screen and standard output. It sets no terminal modes: the cursor stays visible, and each write resets its styles.
// So there is nothing to restore, however the program ends. A panic in the drawing ends the view,
// and not the turn.
type View struct {
	ops    chan func(*Screen)
	done   chan struct{}
	Broken chan struct{} // closed when the picture has ended by a panic
	Reason string        // of that; read after Broken or Close
}

// frame is how often the picture may change, and how fast the spinner turns.
const frame = 80 * time.Millisecond

// Start begins a picture below the cursor.
func Start(o Options) *View {
	v := &View{ops: make(chan func(*Screen), 64), done: make(chan struct{}), Broken: make(chan struct{})}
	s := NewScreen(o)
	go func() {
		defer close(v.done)
		defer v.recover(s)
		s.run(v.ops)
	}()
	return v
}

// recover ends a view whose drawing panicked: further output starts on a new line, without styles.
// Callers of Do are not blocked.
func (v *View) recover(s *Screen) {
	p := recover()
	if p == nil {
		return
	}
	s.Log.Error("the live view panicked", "panic", p, "stack", string(debug.Stack()))
	s.write("\x1b[0m\n")
	v.Reason = fmt.Sprint(p)
	close(v.Broken)
	for range v.ops { // until it is closed
	}
}

// Do has the screen changed.
func (v *View) Do(f func(*Screen)) { v.ops <- f }

// DoAndWait has the screen changed and waits for it; it is false for a picture that has ended.
func (v *View) DoAndWait(f func(*Screen)) bool {
	done := make(chan struct{})
	v.Do(func(s *Screen) {
		f(s)
		close(done)
	})
	select {
	case <-done:
		return true
	case <-v.Broken:
		return false
	}
}

// Close draws the last frame, without the live rows, and waits for it.
func (v *View) Close() {
	close(v.ops)
	<-v.done
}

// run applies operations and draws at most once per frame, until ops is closed.
func (s *Screen) run(ops <-chan func(*Screen)) {
	tick := time.NewTicker(frame)
	defer tick.Stop()
	for {
		select {
		case f, open := <-ops:
			if !open {
				s.End()
				return
			}
			f(s)
			if len(ops) == 0 && s.Now().Sub(s.drawn) >= frame {
				s.Draw()
			}
		case <-tick.C:
			s.turn++
			s.Draw()
		}
	}
}
