package mini

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/internal/termtext"
	"github.com/lathe-agent/lathe/tui/inline"
	"github.com/lathe-agent/lathe/tui/state"
)

// conversation opens sessions and prints what their events say besides the answer.
type conversation struct{ *program }

// pageSize is how many messages are loaded when a session is opened.
const pageSize = 100

// openFirst opens the session of the command line.
func (p conversation) openFirst() {
	s := p.o.Start
	p.state.Opening = s.Session != "" || s.Continue
	switch {
	case s.Session != "":
		p.openSession(s.Session, s.Fork)
	case s.Continue:
		p.call("find the last session", func(ctx context.Context, e Engine) (func(), error) {
			all, err := p.listSessions(ctx, e, 1)
			if err != nil || len(all) == 0 {
				return func() {
					p.state.Opening = false
					p.face.note("No session to continue here: this is a new one")
					sender(p).sendFirst()
				}, err
			}
			return func() { p.openSession(all[0].ID, s.Fork) }, nil
		})
	}
}

// listSessions returns the newest root sessions of the directory.
func (p conversation) listSessions(ctx context.Context, e Engine, most int) ([]lathe.Session, error) {
	at, err := e.Location(ctx, p.dir())
	if err != nil {
		return nil, err
	}
	return e.List(ctx, lathe.Query{Directory: at.Directory, Roots: true, Limit: most})
}

// openSession switches to a session, or to a copy of it, and prints how far it is.
func (p conversation) openSession(id lathe.SessionID, fork bool) {
	p.call("open the session", func(ctx context.Context, e Engine) (func(), error) {
		s, err := e.Get(ctx, id)
		if err == nil && fork {
			s, err = e.Fork(ctx, "", id, "")
		}
		if err != nil {
			return func() { p.state.Opening = false }, err
		}
		ready := make(chan struct{})
		p.calls.done <- func() { p.state.Track(s.ID); close(ready) } // keep its events from here on
		<-ready
		page, err := e.Messages(ctx, s.ID, lathe.Position{}, pageSize)
		if err != nil {
			return func() { p.state.Opening = false }, err
		}
		cut, _ := e.Interrupted(ctx) // a server without it cannot resume
		// The turn may still run on a server.
		statuses, _ := e.Statuses(ctx, lathe.Scope{})
		return func() {
			p.state.SetStatuses(statuses)
			p.enter(s, page, slices.Contains(cut, s.ID))
		}, nil
	})
}

// enter shows the end of a session that was opened.
func (p conversation) enter(s lathe.Session, page lathe.Page, cut bool) {
	// Todos and changes are read when a command asks for them.
	p.state.SetTranscript(s, page, nil, nil)
	p.state.Current, p.state.Opening = s.ID, false
	p.turn = turn{}
	t := p.state.Shown().Transcript
	p.choice.follow(t)
	p.face.note("Session: " + s.Title + " · " + termtext.Plural(t.Count(), "message"))
	p.printLast(t)
	switch {
	case p.state.Busy(s.ID):
		p.turnBegan()
	case cut:
		p.face.note("The last turn was interrupted: /go resumes it")
	case p.state.HasPausedPrompts():
		p.face.note("Your prompts are paused: /go sends them")
	}
	p.refreshAsk()
	sender(p).sendFirst()
}

// printLast prints the last prompt of a session and the answer to it.
func (p conversation) printLast(t *lathe.Transcript) {
	from := t.Count() - 1
	for ; from >= 0; from-- {
		if h := t.View(from); h.Data().Role() == "user" && state.IsUserWritten(h) {
			break
		}
	}
	// One exchange is enough to remember the context, and never fills the scrollback.
	for i := max(0, from); i < t.Count(); i++ {
		h := t.View(i)
		text := messageText(h)
		switch {
		case text == "":
		case h.Data().Role() == "user" && state.IsUserWritten(h):
			p.face.prompt(text, "")
		case h.Data().Role() == "assistant":
			p.face.print(text)
		}
	}
}

// messageText is the text of a message for the user.
func messageText(h lathe.MessageView) (out string) {
	for i := range h.Len() {
		if t, ok := h.Part(i).Body.(*lathe.Text); ok && !t.Synthetic.On() && !t.Ignored.On() && t.Text != "" {
			if out != "" {
				out += "\n\n"
			}
			out += t.Text
		}
	}
	return out
}

// reload reads the messages of the session again after missed events. Nothing is printed twice.
func (p conversation) reload(id lathe.SessionID) {
	p.call("read the session again", func(ctx context.Context, e Engine) (func(), error) {
		s, err := e.Get(ctx, id)
		if err != nil {
			return nil, err
		}
		page, err := e.Messages(ctx, id, lathe.Position{}, pageSize)
		if err != nil {
			return nil, err
		}
		statuses, err := e.Statuses(ctx, lathe.Scope{})
		return func() {
			p.state.SetStatuses(statuses)
			p.state.SetTranscript(s, page, nil, nil)
			p.face.note("Some output was missed. The last answer:")
			p.printLast(p.state.Shown().Transcript)
		}, err
	})
}

// inSession runs work in the current session, or in a new one.
func (p conversation) inSession(what string, work func(ctx context.Context, e Engine, id lathe.SessionID) (func(), error), failed func()) {
	if id := p.state.Current; id != "" {
		p.call(what, func(ctx context.Context, e Engine) (func(), error) {
			then, err := work(ctx, e, id)
			if err != nil {
				return func() { p.turn.sent = false; failed() }, err
			}
			return then, nil
		})
		return
	}
	agent := p.choice.agent
	p.call("create a session", func(ctx context.Context, e Engine) (func(), error) {
		s, err := e.Create(ctx, p.dir(), lathe.NewSession{Agent: agent})
		if err != nil {
			return func() { p.turn.sent = false; failed() }, err
		}
		return func() {
			// It has no message before the first prompt, so that an empty page is all of it.
			p.state.SetTranscript(s, lathe.Page{}, nil, nil)
			p.state.Current = s.ID
			p.inSession(what, work, failed)
		}, nil
	})
}

// turn is the running turn.
type turn struct {
	began   time.Time
	waits   []lathe.Wait // time that its calls waited for the user
	tokens  lathe.Tokens
	cost    lathe.Money
	aborted bool
	sent    bool // a prompt was sent that begins it
}

func (p *program) turnBegan() {
	if p.turn.began.IsZero() {
		p.turn = turn{began: p.o.Now(), sent: true}
	}
}

// turnEnded prints the usage of the turn.
func (p conversation) turnEnded() {
	t := p.turn
	p.turn = turn{}
	if t.began.IsZero() {
		return
	}
	n := t.tokens.Input + t.tokens.Output + t.tokens.Reasoning + t.tokens.Cache.Read + t.tokens.Cache.Write
	if t.aborted {
		p.face.note("Interrupted: your next prompt continues, /go resumes")
	} else if n > 0 {
		p.face.note(usageLine(int64(n), t.cost.Dollars()) + " · " + inline.Elapsed(t.worked(p.o.Now())))
	}
}

// worked is the duration of the turn without the time spent waiting for the user.
func (t *turn) worked(now time.Time) time.Duration {
	return lathe.ActiveTime(lathe.Time(t.began.UnixMilli()), lathe.Time(now.UnixMilli()), t.waits)
}

// partNote prints the notices of the engine, collects the usage, and shows prompts of other clients.
func (p conversation) partNote(part lathe.Part) {
	switch b := part.Body.(type) {
	case *lathe.StepFinish:
		p.turn.tokens, p.turn.cost = p.turn.tokens.Add(b.Tokens), p.turn.cost.Add(b.Cost)
	case *lathe.ToolCall:
		if b.Settled() {
			p.turn.waits = append(p.turn.waits, b.Waits()...)
		}
	case *lathe.Text:
		switch {
		case b.Ignored.On() && (b.Time != nil || b.Synthetic.On()):
			p.face.note("! " + b.Text)
		case !b.Synthetic.On() && !p.sent[part.Message] && p.isPrompt(part.Message):
			p.sent[part.Message] = true
			p.face.prompt(b.Text, "from another client")
		}
	default:
	}
}

// isPrompt reports whether a message is a prompt.
func (p conversation) isPrompt(id lathe.MessageID) bool {
	o := p.state.Shown()
	if o == nil {
		return false
	}
	i := o.Transcript.Find(id)
	return i >= 0 && o.Transcript.View(i).Data().Role() == "user"
}

// reportFailure prints why a turn failed.
func (p conversation) reportFailure(f lathe.Fault) {
	if _, ok := f.(*lathe.AbortedFault); ok {
		p.turn.aborted = true
		return
	}
	p.face.note("Error: " + lathe.FaultMessage(f))
}

// retryNote says why and when a request is repeated.
func retryNote(s lathe.Status, of int, now time.Time) string {
	wait := time.Duration(float64(s.Next)-float64(now.UnixMilli())) * time.Millisecond
	return fmt.Sprintf("Retrying in %s (%d of %d): %s", max(0, wait).Round(time.Second), s.Attempt, max(of, s.Attempt), termtext.OneLine(s.Message))
}
