package main

import (
	"context"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/api"
	"github.com/lathe-agent/lathe/internal/termtext"
)

// isAround reports whether something happens in the directory and in no session: a plugin fails, say.
func (r *runner) isAround(ev lathe.Event) bool {
	return ev.Session == "" && (ev.Directory == "" || ev.Directory == r.session.Directory)
}

// child answers what a session asks that works for the one that is shown: nobody else will. All
// else it does is in the parts of its parent.
func (r *runner) child(ctx context.Context, ev lathe.Event) {
	r.watchBelow(ctx, ev)
	switch f := ev.Fact.(type) {
	case *lathe.PermissionAsked:
		if r.isBelow(ctx, ev.Session) {
			r.note("(the task %s asks)", termtext.Plain(r.titleOf(ctx, ev.Session)))
			r.permission(ctx, f.PermissionRequest)
		}
	case *lathe.QuestionAsked:
		if r.isBelow(ctx, ev.Session) {
			r.note("The task %s asks: %s (nobody is here to answer)", termtext.Plain(r.titleOf(ctx, ev.Session)), termtext.Plain(f.Questions[0].Question))
			r.tell(r.engine.Dismiss(ctx, f.ID))
		}
	case *lathe.SessionFailed:
		if r.isAround(ev) {
			r.note("! %s", termtext.Plain(lathe.FaultMessage(f.Error)))
		}
	case *lathe.TUIToast: // a package that is being installed, a login that is needed
		if r.isAround(ev) {
			r.note("> %s", termtext.Plain(f.Message))
		}
	default:
	}
}

// isBelow reports whether a session is a child of the one that is shown, or of one of those.
func (r *runner) isBelow(ctx context.Context, id lathe.SessionID) bool {
	if below, known := r.below[id]; known {
		return below
	}
	if r.below == nil {
		r.below = map[lathe.SessionID]bool{}
	}
	r.below[id] = false // and it stays so for one that is its own ancestor
	s, err := r.engine.Get(ctx, id)
	r.below[id] = err == nil && s.Parent != "" && (s.Parent == r.session.ID || r.isBelow(ctx, s.Parent))
	return r.below[id]
}

func (r *runner) titleOf(ctx context.Context, id lathe.SessionID) string {
	s, err := r.engine.Get(ctx, id)
	if err != nil {
		return string(id)
	}
	return s.Title
}

// backgrounds are the tasks of the session in the background. A server looks after its own.
func (r *runner) backgrounds(ctx context.Context) ([]lathe.Session, error) {
	if own, ok := r.engine.(api.Local); ok {
		return own.Backgrounds(ctx, r.session.ID)
	}
	return nil, nil
}

// collect looks after those whose process has died.
func (r *runner) collect(ctx context.Context, resume bool) error {
	if own, ok := r.engine.(api.Local); ok {
		return own.Collect(ctx, r.session.ID, resume)
	}
	return nil
}

// waits reports whether tasks in the background have yet to report: they would end with the
// program, and what they find is for the session to tell.
func (r *runner) waits(ctx context.Context) bool {
	own, ok := r.engine.(api.Local)
	tasks, err := r.backgrounds(ctx)
	if err != nil || !ok {
		return false
	}
	if len(tasks) == 0 && r.failed != nil {
		return false // the store may have stopped it, and then it cannot say that it rests
	}
	if len(tasks) == 0 { // the last may have reported just now
		more, err := own.GoesOn(ctx, r.session.ID)
		return err == nil && more
	}
	for _, s := range tasks {
		r.note("# waiting for %s", termtext.Plain(s.Title))
	}
	return true
}
