package mini

import (
	"context"
	"errors"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/api"
	"github.com/lathe-agent/lathe/tui/editor"
	"github.com/lathe-agent/lathe/tui/key"
	"github.com/lathe-agent/lathe/tui/memory"
	"github.com/lathe-agent/lathe/tui/report"
	"github.com/lathe-agent/lathe/tui/state"
)

// program is the state of the loop.
type program struct {
	o      Options
	ctx    context.Context // of the whole run; calls end with it
	engine Engine          // nil until it is open
	state  *state.State
	memory *memory.Memory
	face   face
	calls  calls
	choice choice
	input
	asking

	tty    *rawTTY // nil for a linear face
	events chan lathe.Event
	failed error
	left   bool // the user leaves
	active int  // calls that have not returned
}

// input is the prompt of the user.
type input struct {
	keys     *key.Map
	edit     *editor.Editor
	ids      *lathe.IDs
	history  []editor.Draft
	mentions memory.Mentions
	pending  *editor.Submit           // submitted before a model was ready
	sent     map[lathe.MessageID]bool // prompts of this program, which are on the screen
	until    string                   // command that decides when the next prompt is done
	hint     string                   // shown below the prompt until the next key
	pressed  pressed
}

// pressed is the last press of a key that must be pressed twice.
type pressed struct {
	name string
	at   time.Time
}

// face shows the conversation.
type face interface {
	begin()                                   // the program begins
	end()                                     // and ends; the terminal is left below the conversation
	event(ev lathe.Event, own bool)           // of the session, or of one that works for it
	note(text string)                         // a notice
	prompt(text, how string)                  // a prompt of the user, and how it is delivered
	print(markdown string)                    // the output of a command, or an earlier message
	report(rows func(width int) []report.Row) // a report of the engine
	ask(group []lathe.Fact, from string)      // requests that one answer answers are open; nil when they are closed
	pick(*picker)                             // a list to choose from; nil when it is closed
	restore(d editor.Draft)                   // puts text back into the prompt
	keep()                                    // the text of the prompt was not sent
	keyHelp() string                          // how to type
	handle(in any)                            // a key, a paste or a line of the user
	draw(force bool)                          // shows what has changed
	interval() (time.Duration, bool)          // after which it changes by itself, if it does
	tick()                                    // that time has passed
}

func newProgram(ctx context.Context, o Options) *program {
	p := &program{
		o: o, ctx: ctx, state: state.New(), memory: memory.Open(o.State), calls: calls{done: make(chan func())},
		events: make(chan lathe.Event, 256),
	}
	p.state.Info = api.Info{Directory: o.Dir}
	keys, err := key.New(o.Keys)
	p.input = input{keys: keys, edit: editor.New(keys), ids: lathe.NewIDs(), sent: map[lathe.MessageID]bool{}}
	p.edit.SetDir(o.Dir)
	p.choice = choice{state: p.state, start: o.Start, models: map[string]lathe.ModelRef{}, variants: map[string]string{}}
	if o.Accessible {
		p.face = newLinear(p)
	} else {
		p.face = newScreenFace(p)
	}
	if err != nil {
		p.face.note("Warning: " + err.Error())
	}
	p.setCommands(nil)
	return p
}

// run handles input, events and answers until the user leaves.
func (p *program) run(in <-chan any) {
	var tick <-chan time.Time
	for !p.left && p.failed == nil {
		forced := false
		select {
		case <-p.ctx.Done():
			return
		case ev, open := <-in:
			if !open {
				return // the terminal is gone
			}
			p.handle(ev)
			forced = true
		case ev := <-p.events:
			p.apply(ev)
			for range len(p.events) {
				p.apply(<-p.events)
			}
			p.refreshAsk()
		case then := <-p.calls.done:
			then()
			forced = true
		case <-tick:
			tick = nil
			p.face.tick()
			forced = true
		}
		if p.left {
			return
		}
		p.face.draw(forced)
		if every, moves := p.face.interval(); !moves {
			tick = nil
		} else if tick == nil {
			tick = time.After(every)
		}
	}
}

// handle takes input of the user.
func (p *program) handle(in any) {
	p.hint = ""
	switch in := in.(type) {
	case resized:
	case tea.KeyPressMsg:
		if p.interruptKey(in) {
			return
		}
		p.face.handle(in)
	default:
		p.face.handle(in)
	}
}

// twiceTime is how long the first of two presses counts.
const twiceTime = 3 * time.Second

// isSecond reports whether a key is pressed for the second time.
func (p *program) isSecond(name string) bool {
	again := p.pressed.name == name && p.o.Now().Sub(p.pressed.at) < twiceTime
	if p.pressed = (pressed{name, p.o.Now()}); again {
		p.pressed = pressed{}
	}
	return again
}

// interruptKey handles Ctrl-C without text and the interrupt key.
func (p *program) interruptKey(k tea.KeyPressMsg) bool {
	isCtrlC := k.Code == 'c' && k.Mod == tea.ModCtrl
	switch {
	case p.list != nil || p.edit.Suggesting():
		return false
	case isCtrlC && (p.isAsking() || p.edit.IsEmpty() && !p.edit.InShell()):
		p.interrupt()
		return true
	case !p.isAsking() && p.keys.Match(k, key.SessionInterrupt) && p.state.Busy(p.state.Current) && !p.edit.InShell():
		if p.isSecond("esc") {
			p.cancelTurn()
		} else {
			p.hint = "Press " + p.keys.Label(key.SessionInterrupt) + " again to interrupt"
		}
		return true
	}
	return false
}

// interrupt ends the turn, and the second time the program.
func (p *program) interrupt() {
	busy := p.state.Current != "" && p.state.Busy(p.state.Current)
	switch {
	case p.isSecond("ctrl+c"):
		p.left = true
	case busy:
		p.cancelTurn()
	default:
		p.hint = "Press Ctrl-C again to leave, or Ctrl-D"
		p.face.draw(true)
	}
}

func (p *program) cancelTurn() {
	id := p.state.Current
	p.face.note("Interrupting. Press Ctrl-C again to leave.")
	p.call("interrupt the turn", func(ctx context.Context, e Engine) (func(), error) { return nil, e.Cancel(ctx, id) })
}

// open opens the engine, reads its events and loads what the prompt needs.
func (p *program) open() {
	p.inBackground(func(ctx context.Context) func() {
		e, err := p.o.Open(ctx)
		if err != nil {
			return func() { p.failed = err }
		}
		ready := make(chan struct{})
		p.inBackground(func(ctx context.Context) func() { return p.follow(ctx, e, ready) })
		select { // no event is missed from here on
		case <-ready:
		case <-ctx.Done():
		}
		return func() {
			p.engine = e
			p.load()
			conversation{p}.openFirst()
		}
	})
	p.inBackground(func(context.Context) func() {
		history, err1 := p.memory.History()
		mentions, err2 := p.memory.Mentions()
		models, err3 := p.memory.Models()
		if err := errors.Join(err1, err2, err3); err != nil {
			p.log("load state: %v", err)
		}
		return func() {
			p.history, p.mentions, p.choice.used = append(history, p.history...), mentions, models
			p.edit.SetHistory(p.history)
		}
	})
}

// follow reads events until the context ends. It says when it has begun.
func (p *program) follow(ctx context.Context, e Engine, ready chan<- struct{}) func() {
	begin := sync.OnceFunc(func() { close(ready) })
	defer begin()
	for ev, err := range e.Events(ctx, lathe.Scope{}, lathe.Opt[lathe.Cursor]{}) {
		if changed, ok := errors.AsType[*api.ConnectionChanged](err); ok {
			ev, err = lathe.Event{Fact: &lathe.TUIToast{Message: changed.Error()}}, nil
		}
		if err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return func() { p.face.note("The event stream ended: " + errorText(err)) }
		}
		begin()
		select {
		case p.events <- ev:
		case <-ctx.Done():
			return nil
		}
	}
	return nil
}

func (p *program) log(format string, args ...any) {
	if p.o.Log != nil {
		p.o.Log(format, args...)
	}
}

// dir is the directory of calls; a server knows its own.
func (p *program) dir() string {
	if p.o.Remote {
		return ""
	}
	return p.o.Dir
}

// apply takes an event of any session.
func (p *program) apply(ev lathe.Event) {
	id, current := lathe.SessionOf(ev.Fact), p.state.Current
	for _, n := range p.state.Apply(ev) {
		p.effect(n)
	}
	switch {
	case id != "" && id == current:
		p.ownEvent(ev)
		p.face.event(ev, true)
	case id != "" && current != "" && p.state.IsBelow(id, current):
		p.face.event(ev, false)
	}
}

// ownEvent prints notices about events of the session.
func (p *program) ownEvent(ev lathe.Event) {
	switch f := ev.Fact.(type) {
	case *lathe.PartChanged:
		conversation{p}.partNote(f.Part)
	case *lathe.StatusChanged:
		switch f.Status.Type {
		case lathe.Retrying:
			p.face.note(retryNote(f.Status, p.state.Info.Limits.Retries, p.o.Now()))
		case lathe.Idle:
			conversation{p}.turnEnded()
		case lathe.Busy:
			p.turnBegan()
		}
	case *lathe.SessionFailed:
		if f.Error != nil {
			conversation{p}.reportFailure(f.Error)
		}
	default:
	}
}

// effect carries out an effect of an event.
func (p *program) effect(n state.Effect) {
	switch n.Kind {
	case state.CatalogChanged:
		p.load()
	case state.EventsMissed:
		if id := p.state.Current; id != "" && (n.Session == "" || n.Session == id) {
			conversation{p}.reload(id)
		}
	case state.BranchChanged:
		p.state.Info.Branch = n.Text
	case state.ShowToast:
		p.face.note(n.Toast.Message)
	case state.UnknownSession:
		p.identify(n.Session)
	case state.SessionDeleted:
		if n.Session == p.state.Current {
			p.state.Current = ""
			p.face.note("This session was deleted. The next prompt starts a new one.")
		}
	default:
	}
}

// identify loads an unknown session that has a request.
func (p *program) identify(id lathe.SessionID) {
	p.call("load the session that asks", func(ctx context.Context, e Engine) (func(), error) {
		s, err := e.Get(ctx, id)
		if err != nil {
			return nil, err
		}
		return func() { p.state.AddSessions(s); p.refreshAsk() }, nil
	})
}
