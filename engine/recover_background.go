package engine

import (
	"context"
	"errors"
	"slices"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/store"
)

// recoverAwaited repairs a child whose process has died. It closes open parts and leaves the child
// idle until the parent's call resumes it. Its prompts are paused, unless a call waits for
// it: then they are new.
func (e *recovery) recoverAwaited(ctx context.Context, one store.Interruption) error {
	if one.Dead {
		if err := e.actors.runIfIdle(ctx, one.Session, func(r *runner) error { return r.repairSession(ctx) }); err != nil {
			return err
		}
	}
	if !one.HasQueued {
		return nil
	}
	child, err := e.store.Session(ctx, one.Session)
	if err != nil {
		return err
	}
	holdings, err := e.store.Leases(ctx)
	if err != nil || slices.ContainsFunc(holdings, func(h store.LeaseInfo) bool {
		return h.Session == child.Parent && h.Alive && (!h.Here || e.subagents.IsAwaited(child.ID))
	}) {
		return err
	}
	_, err = e.store.Admit(ctx, child.ID, lathe.Cancel{})
	return err
}

// RecoverTasks recovers background tasks of a session whose process has died, or of all sessions
// if it is "". With resume they continue; otherwise their parent gets a report that they were interrupted.
func (e *recovery) RecoverTasks(ctx context.Context, parent lathe.SessionID, resume bool) error {
	if err := e.RecoverShells(ctx, parent); err != nil {
		return err
	}
	tasks, err := e.store.BackgroundTasks(ctx, parent)
	if err != nil || len(tasks) == 0 {
		return err
	}
	holdings, err := e.store.Leases(ctx)
	if err != nil {
		return err
	}
	for _, child := range tasks {
		if slices.ContainsFunc(holdings, func(h store.LeaseInfo) bool { return h.Session == child.ID && h.Alive }) || e.actors.find(child.ID) != nil {
			continue // someone works on it
		}
		err = errors.Join(err, e.collect(ctx, child, resume))
	}
	return err
}

// resumeBackground resumes a task in the background. It has its place among those of its parent
// again, also where more are at work now than may begin.
func (e *recovery) resumeBackground(ctx context.Context, id lathe.SessionID, taken bool) error {
	child, err := e.store.Session(ctx, id)
	if err != nil {
		return err
	}
	leave := e.subagents.Reserve(child.Parent, e.mayWrite(ctx, child))
	if err = e.resume(ctx, id, taken); err != nil || e.actors.find(id) == nil { // it failed, rests, or another process has it
		leave()
		return err
	}
	e.work.Go(func() {
		defer leave()
		_, _ = e.actors.wait(e.ctx, id) // its report says how it ended
	})
	return nil
}

// mayWrite reports whether a session may change files as it likes; what is not known may.
func (e *recovery) mayWrite(ctx context.Context, s lathe.Session) bool {
	settings, err := e.settingsOf(ctx, s.Directory)
	if err != nil {
		return true
	}
	a, err := settings.agent(s.Agent)
	return err != nil || a.permissions().Evaluate("edit", "*").Action != lathe.Deny && s.Rules.Evaluate("edit", "*").Action != lathe.Deny
}

func (e *recovery) collect(ctx context.Context, child lathe.Session, resume bool) error {
	if resume {
		return e.resumeBackground(ctx, child.ID, false)
	}
	err := e.actors.runIfIdle(ctx, child.ID, func(r *runner) error { return r.repairSession(ctx) })
	if lathe.CodeOf(err) == lathe.Conflict {
		return nil // another one looks after it
	}
	if err != nil {
		return err
	}
	page, err := e.store.History(ctx, child.ID, lathe.Position{}, 0)
	if err != nil {
		return err
	}
	return e.reportToParent(ctx, child, page.Messages, false)
}
