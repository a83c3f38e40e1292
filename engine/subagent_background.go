package engine

import (
	"context"
	"errors"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/tool"
)

// errMoved says that the user moved a call to the background.
var errMoved = errors.New("moved to the background")

// runningReport is the report of a task that continues in the background.
func (t *task) runningReport(how string) tool.Report {
	return tool.Report{
		Session: t.child.ID, State: tool.TaskRunning, Metadata: t.metadata(),
		Text: how + " Its report arrives as a message. Do not ask for it; continue, or end your turn if nothing else is left.",
	}
}

// detachedReport is the result of a call that no longer waits for its child.
func (t *task) detachedReport() tool.Report {
	if t.question != "" {
		return questionReport(t.child.ID, t.question, t.metadata())
	}
	return t.runningReport("The user moved the task to the background, where it continues.")
}

// detach makes the child of a waiting call work in the background. It fails if the child has ended meanwhile: then the
// call returns its report.
func (t *task) detach(ctx context.Context) (bool, error) {
	e := t.host.step.engine
	if err := e.store.Shells().DetachTask(ctx, t.child.ID); err != nil {
		return false, err
	}
	t.background = true
	if e.actors.find(t.child.ID) != nil {
		return true, nil
	}
	back, err := e.store.Shells().TakeBackTask(ctx, t.child.ID)
	t.background = !back
	return !back, err
}

// continueInBackground keeps the place of a child until it is idle. The child's own runner reports its end; one that
// became idle just before it was detached is reported here.
func (t *task) continueInBackground(leave func()) {
	e := t.host.step.engine
	e.work.Go(func() {
		defer leave()
		if _, err := e.Wait(e.ctx, t.child.ID); e.ctx.Err() != nil {
			return // the next process reports it
		} else if err != nil {
			e.log.Debug("background task ended with an error", "session", t.child.ID, "error", err)
		}
		task, err := e.store.Task(e.ctx, t.child.ID)
		if err != nil || task != lathe.Background || e.actors.find(t.child.ID) != nil {
			return
		}
		page, err := e.store.History(e.ctx, t.child.ID, lathe.Position{}, 0)
		if err == nil {
			err = e.reportToParent(e.ctx, t.child, page.Messages, true)
		}
		if err != nil && lathe.CodeOf(err) != lathe.NotFound { // else it was removed
			e.log.Warn("background task report not delivered", "session", t.child.ID, "error", err)
		}
	})
}
