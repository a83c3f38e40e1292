// Package turn follows one turn of a session, for the commands that run prompts: run, mcp serve and the demo. A Turn
// sends the prompt, records events, answers requests and detects the end of the turn. A Sink shows it: Plain, JSON,
// Stream and Live are the sinks of `lathe run`.
//
// All fields belong to the goroutine of Run. Start with Turn.Run, then Record.
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

// Sink shows the events of a turn.
type Sink interface {
	// Show shows an event of any session. The event is recorded, but not answered yet.
	Show(ctx context.Context, ev lathe.Event)
	// Note shows a notice next to the answer.
	Note(text string)
}

// Turn is one turn of a session.
type Turn struct {
	Engine     api.Engine
	Session    lathe.Session
	Fresh      bool // the session was created for this prompt
	Log        *slog.Logger
	Now        func() time.Time
	MissedHint string // how to see events missed from a server
	Retries    int    // how often a request is repeated; 0 is not known

	Sink   Sink
	Send   func(ctx context.Context, fail func(error)) error    // sends the prompt; fail reports a later failure
	Permit func(ctx context.Context, q lathe.PermissionRequest) // answers a permission request

	Record   Record
	Accepted atomic.Bool              // the prompt was accepted
	busy     bool                     // the turn has started
	below    map[lathe.SessionID]bool // cache of IsDescendant
}

// UnattendedRules deny questions to the user, since no user may be there.
func UnattendedRules() (rules lathe.Ruleset) {
	for _, name := range []string{"question", "plan_enter", "plan_exit"} {
		rules = append(rules, lathe.Rule{Permission: name, Pattern: "*", Action: lathe.Deny})
	}
	return rules
}

// NotSent is the error of a prompt that was not accepted, so that there is no turn.
type NotSent struct{ error }

// Unwrap returns the cause.
func (e NotSent) Unwrap() error { return e.error }

// Run sends the prompt and follows the turn until the session is idle. It returns NotSent or the cause of the
// context. The outcome of the turn is in the record.
func (t *Turn) Run(ctx context.Context) error {
	listening, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	defer stop(nil)
	defer context.AfterFunc(ctx, func() { stop(nil) })()
	t.busy = false // a turn may follow another
	sent := false
	for ev, err := range t.Engine.Events(listening, lathe.Scope{}, lathe.Opt[lathe.Cursor]{}) { // subagents may be in any directory
		if err != nil {
			if listening.Err() == nil && lathe.CodeOf(err) != lathe.Canceled { // else canceled here
				t.Record.Failed = err
			}
			break
		}
		if !sent { // from here on no event is missed
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

// take handles one event and reports whether the turn has ended.
func (t *Turn) take(ctx context.Context, ev lathe.Event) bool {
	own := ev.Session == t.Session.ID
	compressed := own && t.Record.add(ev.Fact)
	t.Sink.Show(ctx, ev)
	if !own {
		t.child(ctx, ev)
		return false
	}
	if compressed {
		t.Sink.Note("… compacting the conversation")
	}
	return t.answer(ctx, ev.Fact) && !t.waits(ctx)
}

// answer responds to an event of the session and reports whether the session is idle.
func (t *Turn) answer(ctx context.Context, f lathe.Fact) bool {
	switch f := f.(type) {
	case *lathe.ServerResync:
		t.Record.Failed = lathe.Errorf(lathe.Unavailable, "missed events while disconnected from the server; %s", t.MissedHint)
		return true
	case *lathe.PermissionAsked:
		t.Permit(ctx, f.PermissionRequest)
	case *lathe.QuestionAsked:
		t.Sink.Note("The model asks: " + termtext.Plain(f.Questions[0].Question) + " (no user to answer)")
		t.Report(t.Engine.Dismiss(ctx, f.ID))
	case *lathe.PartChanged:
		t.remark(f.Part)
	case *lathe.StatusChanged:
		switch f.Status.Type {
		case lathe.Idle:
			return t.busy || t.Record.Failed != nil && t.Accepted.Load() // earlier ones belong to an interrupted turn
		case lathe.Busy:
			t.busy = true
		case lathe.Retrying:
			wait := time.Duration(float64(f.Status.Next)-float64(t.Now().UnixMilli())) * time.Millisecond
			of := ""
			if t.Retries > 0 {
				of = fmt.Sprintf(" of %d", max(t.Retries, f.Status.Attempt))
			}
			t.Sink.Note(fmt.Sprintf("… Retrying in %s (%d%s): %s", max(0, wait).Round(time.Second), f.Status.Attempt, of, termtext.OneLine(termtext.Plain(f.Status.Message))))
		}
	default:
	}
	return false
}

// Begin notes that the prompt was accepted, and prints agent and model.
func (t *Turn) Begin(m lathe.Message) {
	t.Accepted.Store(true)
	if u, ok := m.Data.(*lathe.User); ok {
		t.Sink.Note(fmt.Sprintf("> %s · %s · %s", termtext.Plain(u.Agent), termtext.Plain(u.Model.Provider+"/"+u.Model.Model), t.Session.ID))
	}
}

// remark prints the engine's own notices and the checks that fired.
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

// child answers the requests of a subagent, since no other client does. Its results appear in the parts of its parent.
func (t *Turn) child(ctx context.Context, ev lathe.Event) {
	// Some events belong to the directory and not to a session, such as a failed plugin.
	around := ev.Session == "" && (ev.Directory == "" || ev.Directory == t.Session.Directory)
	switch f := ev.Fact.(type) {
	case *lathe.PermissionAsked:
		if t.IsDescendant(ctx, ev.Session) {
			t.Sink.Note("(the task " + t.Title(ctx, ev.Session) + " asks)")
			t.Permit(ctx, f.PermissionRequest)
		}
	case *lathe.QuestionAsked:
		if t.IsDescendant(ctx, ev.Session) {
			t.Sink.Note("The task " + t.Title(ctx, ev.Session) + " asks: " + termtext.Plain(f.Questions[0].Question) + " (no user to answer)")
			t.Report(t.Engine.Dismiss(ctx, f.ID))
		}
	case *lathe.SessionFailed:
		if around {
			t.Sink.Note("! " + termtext.Plain(lathe.FaultMessage(f.Error)))
		}
	case *lathe.TUIToast: // such as an installation or a required login
		if around {
			t.Sink.Note("> " + termtext.Plain(f.Message))
		}
	default:
	}
}

// Report logs that a reply was not accepted.
func (t *Turn) Report(err error) {
	if err != nil && lathe.CodeOf(err) != lathe.NotFound { // another client answered first
		t.Log.Warn("reply not accepted", "error", err)
	}
}

// IsDescendant reports whether a session descends from this one.
func (t *Turn) IsDescendant(ctx context.Context, id lathe.SessionID) bool {
	if below, known := t.below[id]; known {
		return below
	}
	if t.below == nil {
		t.below = map[lathe.SessionID]bool{}
	}
	t.below[id] = false // also the result for a cycle
	s, err := t.Engine.Get(ctx, id)
	t.below[id] = err == nil && s.Parent != "" && (s.Parent == t.Session.ID || t.IsDescendant(ctx, s.Parent))
	return t.below[id]
}

// Title returns the title of a session, or its ID.
func (t *Turn) Title(ctx context.Context, id lathe.SessionID) string {
	s, err := t.Engine.Get(ctx, id)
	if err != nil {
		return string(id)
	}
	return termtext.Plain(s.Title)
}

// BackgroundTasks returns the session's background tasks. A server manages its own.
func (t *Turn) BackgroundTasks(ctx context.Context) ([]lathe.Session, error) {
	if own, ok := t.Engine.(api.Local); ok {
		return own.BackgroundTasks(ctx, t.Session.ID)
	}
	return nil, nil
}

// CollectTasks recovers background tasks whose process has died.
func (t *Turn) CollectTasks(ctx context.Context, resume bool) error {
	if own, ok := t.Engine.(api.Local); ok {
		return own.RecoverTasks(ctx, t.Session.ID, resume)
	}
	return nil
}

// DeleteEmpty deletes a session that was created for a prompt that was not sent.
func (t *Turn) DeleteEmpty(ctx context.Context) {
	if t.Fresh { // it has no messages
		t.Report(t.Engine.Remove(context.WithoutCancel(ctx), t.Session.ID))
	}
}

// waits reports whether background tasks are still running. They would end with the program, and the session needs
// their results.
func (t *Turn) waits(ctx context.Context) bool {
	own, ok := t.Engine.(api.Local)
	tasks, err := t.BackgroundTasks(ctx)
	if err != nil || !ok {
		return false
	}
	if len(tasks) == 0 && t.Record.Failed != nil {
		return false // a stopped store cannot report idle
	}
	if len(tasks) == 0 { // the last may have just finished
		more, err := own.HasMore(ctx, t.Session.ID)
		return err == nil && more
	}
	for _, s := range tasks {
		t.Sink.Note("# waiting for " + termtext.Plain(s.Title))
	}
	return true
}
