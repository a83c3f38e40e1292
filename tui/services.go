package tui

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/tui/key"
	"github.com/lathe-agent/lathe/tui/memory"
	"github.com/lathe-agent/lathe/tui/state"
	"github.com/lathe-agent/lathe/tui/toast"
)

// services are what every part of the program uses: the engine, the terminal, notes and the clock.
type services struct {
	o      Options
	ctx    context.Context // of the program's whole life; calls end with it
	calls  calls
	engine Engine // nil until it is open
	keys   *key.Map
	memory *memory.Memory
	state  *state.State
	scope  scope // whose events are wanted
	terminal
	toasts
	animation
}

// terminal is how large the terminal is, and whether somebody looks at it.
type terminal struct {
	width, height int
	at            frame // where regions were on the last frame
	blurred       bool
}

// now is the time as the program has it.
func (sv *services) now() time.Time { return sv.o.Now() }

// calls are those to the engine that are under way. The terminal library starts a goroutine for each and does
// not wait for them; we do.
type calls struct {
	mu     sync.Mutex // guards what follows
	closed bool
	wg     sync.WaitGroup
}

// enter begins a call, unless the program has ended.
func (c *calls) enter() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return false
	}
	c.wg.Add(1)
	return true
}

// wait lets calls come to their end, which their context tells them to do, for at most so long.
func (c *calls) wait(most time.Duration) {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	done := make(chan struct{})
	go func() { c.wg.Wait(); close(done) }()
	waitFor(done, most)
}

// inBackground runs something beside the screen, unless the program has ended; its message goes to Update.
func (sv *services) inBackground(do func() tea.Msg) tea.Cmd {
	return func() tea.Msg {
		if !sv.calls.enter() {
			return nil
		}
		defer sv.calls.wg.Done()
		return do()
	}
}

// then is what is done with the answer of a call, in Update.
type then func() tea.Cmd

// answered carries it there.
type answered struct {
	then then
	err  error
	what string
}

// callLimit is how long an engine may take for a call that should be quick.
const callLimit = 60 * time.Second

// call asks the engine something beside the screen. what says in words what is tried, for the note that tells
// of a failure.
func (sv *services) call(what string, work func(ctx context.Context, e Engine) (then, error)) tea.Cmd {
	return sv.longCall(what, func(ctx context.Context, e Engine) (then, error) {
		ctx, cancel := context.WithTimeout(ctx, callLimit)
		defer cancel()
		return work(ctx, e)
	})
}

// send is call for what has no answer.
func (sv *services) send(what string, work func(ctx context.Context, e Engine) error) tea.Cmd {
	return sv.call(what, func(ctx context.Context, e Engine) (then, error) { return nil, work(ctx, e) })
}

// onSuccess is what a call gives back that has nothing more to do when it fails.
func onSuccess(err error, next then) (then, error) {
	if err != nil {
		return nil, err
	}
	return next, nil
}

// longCall is call for what may take as long as it takes.
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

// handleAnswer goes on with what a call brought.
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

// dir is the directory that calls are about; a server was told.
func (sv *services) dir() string {
	if sv.o.Remote {
		return ""
	}
	return sv.o.Dir
}

// listSessions returns sessions that no other one began, of the directory or of its whole project.
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

// errorText are what an error says to people.
func errorText(err error) string {
	if e, ok := errors.AsType[*lathe.Error](err); ok && e.Message != "" {
		return e.Message
	}
	return err.Error()
}

// save touches the files of the memory, or something else of this machine, beside the screen. What fails is written to
// the log: it is not worth a note.
func (sv *services) save(what string, do func(ctx context.Context) error) tea.Cmd {
	return sv.inBackground(func() tea.Msg {
		ctx, cancel := context.WithTimeout(sv.ctx, 10*time.Second)
		defer cancel()
		if err := do(ctx); err != nil {
			sv.log("%s: %v", what, err)
		}
		return nil
	})
}

// background does something with the memory whose result changes the screen.
func (sv *services) background(what string, do func(ctx context.Context) (then, error)) tea.Cmd {
	return sv.inBackground(func() tea.Msg {
		ctx, cancel := context.WithTimeout(sv.ctx, 10*time.Second)
		defer cancel()
		next, err := do(ctx)
		return answered{next, err, what}
	})
}

// quit leaves the program. Run keeps what was typed.
func (sv *services) quit() tea.Cmd {
	if sv.o.OnQuit != nil {
		sv.o.OnQuit()
	}
	return tea.Quit
}

// frame is that of the last view; before the first it is guessed.
func (sv *services) frame() frame {
	if sv.at.chatWidth == 0 {
		return frame{chatWidth: max(1, sv.width), chatHeight: max(1, sv.height-5)}
	}
	return sv.at
}

// browse opens a page where the user has a browser; the address is on the screen in any case.
func (sv *services) browse(url string) tea.Cmd {
	if sv.o.Browse == nil {
		return nil
	}
	return sv.save("open the browser", func(context.Context) error { return sv.o.Browse(url) })
}

// copy puts a text on the clipboard: by the terminal, which also works from far away, and by the means of this
// machine.
func (sv *services) copy(text string) tea.Cmd {
	return tea.Batch(sv.copySilently(text), sv.notify(toast.Info, "Copied"))
}

// copySilently is copy for who says more about it.
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
