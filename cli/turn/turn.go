// Package turn follows one turn of a session, for the commands that run prompts: run, mcp serve and the demo. A Turn
// sends the prompt, records what happens, answers requests and knows when the turn has ended. How it looks is a
// Sink's: Plain, JSON, Stream and Live are those of `lathe run`.
//
// Everything of a turn belongs to the goroutine of Run. Start with Turn.Run, then Record.
package turn

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/api"
	"github.com/lathe-agent/lathe/internal/termtext"
)

// Sink shows a turn.
type Sink interface {
	// Show takes an event of any session. It has been recorded, and is not yet answered.
	Show(ctx context.Context, ev lathe.Event)
	// Note takes a remark beside the answer.
	Note(text string)
}

// Turn is one turn of a session.
type Turn struct {
	Engine  api.Engine
	Session lathe.Session
	Fresh   bool // the session was made for this prompt
	Log     *slog.Logger
	Now     func() time.Time
	MissedHint  string // says how to see what was missed of a server

	Sink   Sink
	Send   func(ctx context.Context, fail func(error)) error    // sends the prompt; fail says later that it could not be sent
	Permit func(ctx context.Context, q lathe.PermissionRequest) // answers a request

	Record Record
	Accepted  atomic.Bool              // the prompt was taken
	busy   bool                     // the turn has begun
	below  map[lathe.SessionID]bool // whether other sessions work for this one
}

// UnattendedRules are the rules of a new session that may not ask the user things, since nobody may be there.
func UnattendedRules() (rules lathe.Ruleset) {
	for _, name := range []string{"question", "plan_enter", "plan_exit"} {
		rules = append(rules, lathe.Rule{Permission: name, Pattern: "*", Action: lathe.Deny})
	}
	return rules
}

// NotSent is why no turn will come.
type NotSent struct{ error }

// Unwrap is the error itself.
func (e NotSent) Unwrap() error { return e.error }

// Run sends the prompt and follows the turn until the session is idle. It returns NotSent, or why the context ended;
// how the turn itself ended is in the record.
func (t *Turn) Run(ctx context.Context) error {
	listening, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	defer stop(nil)
	defer context.AfterFunc(ctx, func() { stop(nil) })()
	sent := false
	for ev, err := range t.Engine.Events(listening, lathe.Scope{}, lathe.Opt[lathe.Cursor]{}) { // children may be anywhere
		if err != nil {
			if listening.Err() == nil && lathe.CodeOf(err) != lathe.Canceled { // else it was ended here
				t.Record.Failed = err
			}
			break
		}
		if !sent { // only now is nothing missed
			sent = true
			if err := t.Send(ctx, func(err error) { stop(NotSent{err}) }); err != nil {
				return NotSent{err}
			}
			continue
		}
		if t.take(ctx, ev) {
			break
		}
	}
	if err := context.Cause(ctx); err != nil {
		return err
	}
	if refused, ok := errors.AsType[NotSent](context.Cause(listening)); ok {
		return refused
	}
	return nil
}

// take takes one event, and reports whether the turn has ended.
func (t *Turn) take(ctx context.Context, ev lathe.Event) bool {
	own := ev.Session == t.Session.ID
	compressed := own && t.Record.add(ev.Fact)
	t.Sink.Show(ctx, ev)
	if !own {
		t.child(ctx, ev)
		return false
	}
	if compressed {
		t.Sink.Note("… the conversation is being compressed")
	}
	return t.answer(ctx, ev.Fact) && !t.waits(ctx)
}

// answer does what an event of the session asks for, and reports whether the session is idle.
func (t *Turn) answer(ctx context.Context, f lathe.Fact) bool {
	switch f := f.(type) {
	case *lathe.ServerResync:
		t.Record.Failed = lathe.Errorf(lathe.Unavailable, "too much happened while the server could not be heard; %s", t.MissedHint)
		return true
	case *lathe.PermissionAsked:
		t.Permit(ctx, f.PermissionRequest)
	case *lathe.QuestionAsked:
		t.Sink.Note("The model asks: " + termtext.Plain(f.Questions[0].Question) + " (nobody is here to answer)")
		t.Report(t.Engine.Dismiss(ctx, f.ID))
	case *lathe.PartChanged:
		t.remark(f.Part)
	case *lathe.StatusChanged:
		switch f.Status.Type {
		case lathe.Idle:
			return t.busy || t.Record.Failed != nil && t.Accepted.Load() // before, it is that of a turn that was cut off
		case lathe.Busy:
			t.busy = true
		case lathe.Retrying:
			wait := time.Duration(float64(f.Status.Next)-float64(t.Now().UnixMilli())) * time.Millisecond
			t.Sink.Note(fmt.Sprintf("… %s; attempt %d in %s", termtext.OneLine(termtext.Plain(f.Status.Message)), f.Status.Attempt+1, wait.Round(time.Second)))
		}
	default:
	}
	return false
}

// Begin notes that the prompt was taken, and who answers it.
func (t *Turn) Begin(m lathe.Message) {
	t.Accepted.Store(true)
	if u, ok := m.Data.(*lathe.User); ok {
		t.Sink.Note(fmt.Sprintf("> %s · %s · %s", termtext.Plain(u.Agent), termtext.Plain(u.Model.Provider+"/"+u.Model.Model), t.Session.ID))
	}
}

// remark notes what the engine itself writes into the conversation: remarks, and that checks have found something.
func (t *Turn) remark(p lathe.Part) {
	b, ok := p.Body.(*lathe.Text)
	switch {
	case !ok:
	case isRemark(b):
		t.Sink.Note("! " + termtext.Plain(b.Text))
	case b.Synthetic.On():
		if names, _ := firedChecks(p); len(names) > 0 {
			t.Sink.Note("> checked: " + strings.Join(names, ", "))
		}
	}
}

// child answers what a session asks that works for the one that is shown: nobody else will. All
// else it does is in the parts of its parent.
func (t *Turn) child(ctx context.Context, ev lathe.Event) {
	// Some things happen in the directory and in no session: a plugin fails, say.
	around := ev.Session == "" && (ev.Directory == "" || ev.Directory == t.Session.Directory)
	switch f := ev.Fact.(type) {
	case *lathe.PermissionAsked:
		if t.IsDescendant(ctx, ev.Session) {
			t.Sink.Note("(the task " + t.Title(ctx, ev.Session) + " asks)")
			t.Permit(ctx, f.PermissionRequest)
		}
	case *lathe.QuestionAsked:
		if t.IsDescendant(ctx, ev.Session) {
			t.Sink.Note("The task " + t.Title(ctx, ev.Session) + " asks: " + termtext.Plain(f.Questions[0].Question) + " (nobody is here to answer)")
			t.Report(t.Engine.Dismiss(ctx, f.ID))
		}
	case *lathe.SessionFailed:
		if around {
			t.Sink.Note("! " + termtext.Plain(lathe.FaultMessage(f.Error)))
		}
	case *lathe.TUIToast: // a package that is being installed, a login that is needed
		if around {
			t.Sink.Note("> " + termtext.Plain(f.Message))
		}
	default:
	}
}

// Report logs that an answer was not taken.
func (t *Turn) Report(err error) {
	if err != nil && lathe.CodeOf(err) != lathe.NotFound { // someone else was faster
		t.Log.Warn("the answer was not taken", "error", err)
	}
}

// IsDescendant reports whether a session is a child of the one that is shown, or of one of those.
func (t *Turn) IsDescendant(ctx context.Context, id lathe.SessionID) bool {
	if below, known := t.below[id]; known {
		return below
	}
	if t.below == nil {
		t.below = map[lathe.SessionID]bool{}
	}
	t.below[id] = false // and it stays so for one that is its own ancestor
	s, err := t.Engine.Get(ctx, id)
	t.below[id] = err == nil && s.Parent != "" && (s.Parent == t.Session.ID || t.IsDescendant(ctx, s.Parent))
	return t.below[id]
}

// Title is the title of a session, its id if that is not known.
func (t *Turn) Title(ctx context.Context, id lathe.SessionID) string {
	s, err := t.Engine.Get(ctx, id)
	if err != nil {
		return string(id)
	}
	return termtext.Plain(s.Title)
}

// BackgroundTasks are the tasks of the session in the background. A server looks after its own.
func (t *Turn) BackgroundTasks(ctx context.Context) ([]lathe.Session, error) {
	if own, ok := t.Engine.(api.Local); ok {
		return own.BackgroundTasks(ctx, t.Session.ID)
	}
	return nil, nil
}

// CollectTasks looks after those whose process has died.
func (t *Turn) CollectTasks(ctx context.Context, resume bool) error {
	if own, ok := t.Engine.(api.Local); ok {
		return own.RecoverTasks(ctx, t.Session.ID, resume)
	}
	return nil
}

// DeleteEmpty removes a session that was made for a prompt which could not be sent.
func (t *Turn) DeleteEmpty(ctx context.Context) {
	if t.Fresh { // nothing was said in it
		t.Report(t.Engine.Remove(context.WithoutCancel(ctx), t.Session.ID))
	}
}

// waits reports whether tasks in the background have yet to report: they would end with the
// program, and what they find is for the session to tell.
func (t *Turn) waits(ctx context.Context) bool {
	own, ok := t.Engine.(api.Local)
	tasks, err := t.BackgroundTasks(ctx)
	if err != nil || !ok {
		return false
	}
	if len(tasks) == 0 && t.Record.Failed != nil {
		return false // the store may have stopped it, and then it cannot say that it is idle
	}
	if len(tasks) == 0 { // the last may have reported just now
		more, err := own.HasMore(ctx, t.Session.ID)
		return err == nil && more
	}
	for _, s := range tasks {
		t.Sink.Note("# waiting for " + termtext.Plain(s.Title))
	}
	return true
}
