package tui

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/tui/attention"
	"github.com/lathe-agent/lathe/tui/key"
	"github.com/lathe-agent/lathe/tui/memory"
	"github.com/lathe-agent/lathe/tui/state"
	"github.com/lathe-agent/lathe/tui/toast"
	"github.com/lathe-agent/lathe/tui/waiting"
)

// services are shared by all controllers: the engine, the terminal, toasts and the clock.
type services struct {
	o      Options
	ctx    context.Context // of the whole run; calls end with it
	calls  calls
	engine Engine // nil until it is open
	keys   *key.Map
	memory *memory.Memory
	state  *state.State
	clock  waiting.Clock
	scope  scope // which events are read
	tip    int   // number of the tip and of the example in the prompt
	terminal
	toasts
	animation
}

// terminal is the size and focus of the terminal.
type terminal struct {
	width, height int
	at            frame // positions of the regions in the last frame
	watch         attention.Watch
}

// now is the time, from a clock that tests can set.
func (sv *services) now() time.Time { return sv.o.Now() }

// calls counts the running background calls. The terminal library starts a goroutine for each and does
// not wait for them; we do.
type calls struct {
	mu     sync.Mutex // guards the fields below
	closed bool
	wg     sync.WaitGroup
}

// enter registers a call, unless the TUI has ended.
func (c *calls) enter() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return false
	}
	c.wg.Add(1)
	return true
}

// wait waits for the calls, whose context has ended, up to a timeout.
func (c *calls) wait(most time.Duration) {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	done := make(chan struct{})
	go func() { c.wg.Wait(); close(done) }()
	waitFor(done, most)
}

// inBackground runs do in a goroutine, unless the TUI has ended; its message goes to Update.
func (sv *services) inBackground(do func() tea.Msg) tea.Cmd {
	return func() tea.Msg {
		if !sv.calls.enter() {
			return nil
		}
		defer sv.calls.wg.Done()
		return do()
	}
}

// then handles the result of a call, in Update.
type then func() tea.Cmd

// answered is the message that carries a result to Update.
type answered struct {
	then then
	err  error
	what string
}

// callLimit is the timeout of a call that should be quick.
const callLimit = 60 * time.Second

// call runs work with the engine in the background. what names the attempt for the toast about
// a failure.
func (sv *services) call(what string, work func(ctx context.Context, e Engine) (then, error)) tea.Cmd {
	return sv.longCall(what, func(ctx context.Context, e Engine) (then, error) {
		ctx, cancel := context.WithTimeout(ctx, callLimit)
		defer cancel()
		return work(ctx, e)
	})
}

// send is call for work without a result.
func (sv *services) send(what string, work func(ctx context.Context, e Engine) error) tea.Cmd {
	return sv.call(what, func(ctx context.Context, e Engine) (then, error) { return nil, work(ctx, e) })
}

// onSuccess returns next, unless the call failed.
func onSuccess(err error, next then) (then, error) {
	if err != nil {
		return nil, err
	}
	return next, nil
}

// longCall is call without a timeout.
func (sv *services) longCall(what string, work func(ctx context.Context, e Engine) (then, error)) tea.Cmd {
	ctx, e := sv.ctx, sv.engine
	if e == nil {
		return sv.notify(toast.Warning, "Still starting: cannot "+what+" yet")
	}
	return sv.inBackground(func() tea.Msg {
		next, err := work(ctx, e)
		return answered{next, err, what}
	})
}

// handleAnswer reports a failed call and runs its continuation.
func (sv *services) handleAnswer(a answered) tea.Cmd {
	var cmd tea.Cmd
	if a.err != nil && !errors.Is(a.err, context.Canceled) {
		sv.log("%s: %v", a.what, a.err)
		cmd = sv.notify(toast.Error, fmt.Sprintf("Could not %s: %s", a.what, errorText(a.err)))
	}
	if a.then != nil {
		cmd = tea.Batch(cmd, a.then())
	}
	return cmd
}

// dir is the directory of calls; a server knows its own.
func (sv *services) dir() string {
	if sv.o.Remote {
		return ""
	}
	return sv.o.Dir
}

// listSessions returns root sessions of the directory or of its whole project.
func (sv *services) listSessions(ctx context.Context, e Engine, q lathe.Query, project bool) ([]lathe.Session, error) {
	at, err := e.Location(ctx, sv.dir())
	if err != nil {
		return nil, err
	}
	if q.Roots = true; project {
		q.Project = at.Project
	} else {
		q.Directory = at.Directory
	}
	return e.List(ctx, q)
}

// errorText is the message of an error for the user.
func errorText(err error) string {
	if e, ok := errors.AsType[*lathe.Error](err); ok && e.Message != "" {
		return e.Message
	}
	return err.Error()
}

// save runs a local side effect in the background, such as writing state. A failure is logged,
// without a toast.
func (sv *services) save(what string, do func(ctx context.Context) error) tea.Cmd {
	return sv.inBackground(func() tea.Msg {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(sv.ctx), 3*time.Second) // also while lathe exits
		defer cancel()
		if err := do(ctx); err != nil {
			sv.log("%s: %v", what, err)
		}
		return nil
	})
}

// background runs local work in the background whose result changes the screen.
func (sv *services) background(what string, do func(ctx context.Context) (then, error)) tea.Cmd {
	return sv.inBackground(func() tea.Msg {
		ctx, cancel := context.WithTimeout(sv.ctx, 10*time.Second)
		defer cancel()
		next, err := do(ctx)
		return answered{next, err, what}
	})
}

// quit exits. Run saves the drafts.
func (sv *services) quit() tea.Cmd {
	if sv.o.OnQuit != nil {
		sv.o.OnQuit()
	}
	return tea.Quit
}

// frame is the layout of the last view, or a guess before the first.
func (sv *services) frame() frame {
	if sv.at.chatWidth == 0 {
		return frame{chatWidth: max(1, sv.width), chatHeight: max(1, sv.height-5)}
	}
	return sv.at
}

// browse opens a page in the browser; the link is on the screen in any case.
func (sv *services) browse(url string) tea.Cmd {
	if sv.o.Browse == nil {
		return nil
	}
	return sv.save("open the browser", func(context.Context) error { return sv.o.Browse(url) })
}

// copy puts a text on the clipboard: through the terminal, which also works over SSH, and through a local
// program.
func (sv *services) copy(text string) tea.Cmd {
	return tea.Batch(sv.copySilently(text), sv.notify(toast.Info, "Copied"))
}

// copySilently is copy without a toast.
func (sv *services) copySilently(text string) tea.Cmd {
	cmds := []tea.Cmd{tea.SetClipboard(text)}
	if sv.o.Copy != nil {
		cmds = append(cmds, sv.save("copy", func(context.Context) error { return sv.o.Copy(text) }))
	}
	return tea.Batch(cmds...)
}

func (sv *services) log(format string, args ...any) {
	if sv.o.Log != nil {
		sv.o.Log(format, args...)
	}
}
