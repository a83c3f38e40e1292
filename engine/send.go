package engine

import (
	"context"
	"errors"

	"github.com/lathe-agent/lathe"
)

// Prompt sends a prompt and waits until the session is idle. It returns the newest answer,
// the same for all who wait.
func (e *Engine) Prompt(ctx context.Context, id lathe.SessionID, p lathe.Prompt) (lathe.Message, error) {
	m, err := e.Submit(ctx, id, p)
	if err != nil || p.NoReply {
		return m, err
	}
	return e.Wait(ctx, id)
}

// Submit sends a prompt. When it returns, the prompt is safe and seen by clients; the
// session answers it in its time.
func (e *Engine) Submit(ctx context.Context, id lathe.SessionID, p lathe.Prompt) (lathe.Message, error) {
	return e.submit(ctx, id, p, lathe.NoTask)
}

// submit is Submit for a session that works on a task from now on.
func (e *Engine) submit(ctx context.Context, id lathe.SessionID, p lathe.Prompt, task lathe.Task) (lathe.Message, error) {
	in, err := e.compose(ctx, id, p)
	if err == nil {
		in.Task = task
		err = e.Send(ctx, id, in)
	}
	if err != nil {
		return lathe.Message{}, err
	}
	return e.store.Message(ctx, id, in.Message.ID)
}

// Wait wakes a session and waits until it is idle.
func (e *Engine) Wait(ctx context.Context, id lathe.SessionID) (lathe.Message, error) {
	return e.actors.wait(ctx, id)
}

// Send hands an input to a session: it is durable when Send returns, and acted upon soon.
func (e *Engine) Send(ctx context.Context, id lathe.SessionID, in lathe.Input) error {
	if _, ok := in.(lathe.Resume); ok {
		return e.Resume(ctx, id)
	}
	if _, err := e.store.Admit(ctx, id, in); err != nil {
		return err
	}
	switch in := in.(type) {
	case lathe.Submission:
		if in.NoReply {
			return nil
		}
	case lathe.Resume: // above
	case lathe.Cancel:
		e.Nudge()
		return e.stop(ctx, id)
	case lathe.PermissionAnswer, lathe.QuestionAnswer:
		return nil // the waiting call receives the answer
	}
	_, err := e.actors.wake(id)
	return err
}

// Cancel cancels the turn of a session and of all its children, and returns when they have
// settled. Queued prompts are paused until the next prompt.
func (e *Engine) Cancel(ctx context.Context, id lathe.SessionID) error {
	e.subagents.BeginCancel(id)
	children, err := e.Children(ctx, id)
	if err != nil {
		return err
	}
	var failed []error // of one child: the others, and the session itself, end all the same
	for _, c := range children {
		if err := e.Cancel(ctx, c.ID); lathe.CodeOf(err) != lathe.NotFound { // else it was removed meanwhile
			failed = append(failed, err)
		}
	}
	return errors.Join(append(failed, e.Send(ctx, id, lathe.Cancel{}))...)
}

// stop ends the turn of this process. An idle session is reported idle once more: a client may think otherwise.
func (e *Engine) stop(ctx context.Context, id lathe.SessionID) error {
	if ran, err := e.actors.endTurn(ctx, id); ran {
		return err
	}
	return e.publishIdleIf(ctx, id)
}

// publishIdleIf publishes that a session is idle, if no process works on it.
func (e *Engine) publishIdleIf(ctx context.Context, id lathe.SessionID) error {
	s, err := e.store.Session(ctx, id)
	if err != nil {
		return err
	}
	busy, err := e.store.Statuses(ctx, lathe.Scope{Session: id})
	if err != nil || len(busy) > 0 { // another process sees the mark on its lease
		return err
	}
	e.publishIdle(s)
	return nil
}
