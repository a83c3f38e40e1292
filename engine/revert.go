package engine

import (
	"context"
	"fmt"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine/undo"
	"github.com/lathe-agent/lathe/workspace/snapshot"
)

// Revert undoes the messages and changes of a session from a point on. The messages stay until
// the next prompt. Only files that the undone steps wrote are touched, and only if they are as
// those steps left them. A session that is at work refuses it. A point that does not exist
// changes nothing.
func (e *Engine) Revert(ctx context.Context, id lathe.SessionID, u lathe.Undo) (lathe.Undone, error) {
	return whenIdle(ctx, e, id, func(ctx context.Context, r *runner) (lathe.Undone, error) { return r.revert(ctx, u) })
}

// Unrevert undoes Revert; of u only DryRun counts. Files that were changed since are left alone.
func (e *Engine) Unrevert(ctx context.Context, id lathe.SessionID, u lathe.Undo) (lathe.Undone, error) {
	return whenIdle(ctx, e, id, func(ctx context.Context, r *runner) (lathe.Undone, error) { return r.unrevert(ctx, u.DryRun) })
}

// Undo undoes the last exchange that is not undone, or everything from the point that is named
// on. A point that does not exist is NotFound, other than for [Engine.Revert].
func (e *Engine) Undo(ctx context.Context, id lathe.SessionID, u lathe.Undo) (lathe.Undone, error) {
	s, err := e.Get(ctx, id)
	if err == nil {
		u, err = undo.Targets{Histories: e.Histories}.Undo(ctx, s, u)
	}
	if err != nil {
		return lathe.Undone{}, err
	}
	return e.Revert(ctx, id, u)
}

// Redo brings back the first exchange that is undone, everything before the point that is named, or all.
func (e *Engine) Redo(ctx context.Context, id lathe.SessionID, u lathe.Undo) (lathe.Undone, error) {
	s, err := e.Get(ctx, id)
	if err == nil {
		u, err = undo.Targets{Histories: e.Histories}.Redo(ctx, s, u)
	}
	switch {
	case err != nil:
		return lathe.Undone{}, err
	case u.Message == "":
		return e.Unrevert(ctx, id, u)
	}
	return e.Revert(ctx, id, u)
}

// revert undoes the session from a point on.
func (r *runner) revert(ctx context.Context, u lathe.Undo) (lathe.Undone, error) {
	s, err := r.load(ctx)
	if err != nil {
		return lathe.Undone{}, err
	}
	at, ok := undo.FindPoint(s.messages, u.Message, u.Part)
	if !ok {
		return undo.Describe(s.session, u.Message, nil), nil
	}
	gone, err := undo.WithSubagents(ctx, r.engine.store, s.session.ID, undo.CopySteps(s.messages[at.From:]))
	if err != nil {
		return lathe.Undone{}, err
	}
	w, err := r.config.snapshots(ctx)
	if err != nil {
		return undo.Describe(s.session, u.Message, nil), err
	}
	back, changes, err := restoreFiles(ctx, w, s.session, at, undo.ChangedSteps(gone), u.DryRun)
	if err != nil || u.DryRun {
		return undo.Describe(s.session, u.Message, changes), err
	}
	warnOfConflicts(r.log, changes)
	var diffs []lathe.FileDiff
	if w != nil {
		if diffs, err = w.Diffs(ctx, undo.ChangedSteps(gone)); err != nil {
			r.engine.log.Warn("changed files of the undone steps not found", "session", s.session.ID, "error", err)
		}
		diffs = undo.Clip(diffs)
	}
	if err := r.log.write(ctx, &lathe.DiffChanged{Session: s.session.ID, Diff: diffs}); err != nil {
		return lathe.Undone{}, err
	}
	rec, err := r.log.edit(ctx, lathe.Edit{Revert: lathe.Some(back), Summary: lathe.Some(undo.Totals(diffs))})
	return undo.Describe(rec, at.Message, changes), err // an answer goes with the prompt it answers
}

// restoreFiles restores the files. If the session is undone already, one plan moves each file forward or
// back to the new point and leaves the others alone. After a crash in the middle, each file is at the
// old or the new point.
func restoreFiles(ctx context.Context, w *snapshot.Worktree, s lathe.Session, at undo.Point, steps []snapshot.StepRef, dry bool) (*lathe.Revert, []snapshot.Change, error) {
	back := &lathe.Revert{Message: at.Message, Part: at.Part}
	if w == nil {
		return back, nil, nil
	}
	key := string(s.ID)
	var plan snapshot.Plan
	var err error
	if had := s.Revert; had != nil {
		back.Snapshot = had.Snapshot
		plan, err = w.ReplanUndo(ctx, key, steps)
	} else {
		plan, err = w.Undo(ctx, steps)
	}
	if err != nil || dry {
		return back, plan.Changes, err
	}
	done, err := w.Apply(ctx, key, plan)
	if err != nil {
		return nil, nil, err
	}
	if back.Snapshot == "" {
		back.Snapshot = done.Tree
	}
	back.Diff = done.Diff
	return back, done.Changes, nil
}

// unrevert brings back what was undone.
func (r *runner) unrevert(ctx context.Context, dry bool) (lathe.Undone, error) {
	s, err := r.load(ctx)
	if err != nil || s.session.Revert == nil {
		return undo.Describe(s.session, "", nil), err
	}
	w, err := r.config.snapshots(ctx)
	if err != nil {
		return lathe.Undone{}, err
	}
	var changes []snapshot.Change
	if key := string(s.session.ID); w != nil {
		plan, err := w.Redo(ctx, key)
		if err != nil || dry {
			return undo.Describe(s.session, "", plan.Changes), err
		}
		done, err := w.Apply(ctx, key, plan)
		if err == nil {
			err = w.Finalize(ctx, key)
		}
		if err != nil {
			return lathe.Undone{}, err
		}
		changes = done.Changes
	}
	if dry {
		return undo.Describe(s.session, "", nil), nil
	}
	warnOfConflicts(r.log, changes)
	rec, err := r.log.edit(ctx, lathe.Edit{Revert: lathe.Some[*lathe.Revert](nil)})
	if err != nil {
		return lathe.Undone{}, err
	}
	r.jobs.changed = true
	return undo.Describe(rec, "", changes), nil
}

// warnOfConflicts publishes the files that the undo left alone, because the session record has no
// field for them.
func warnOfConflicts(log *sessionLog, changes []snapshot.Change) {
	var left []string
	for _, c := range changes {
		if c.Conflict != "" {
			left = append(left, fmt.Sprintf("%s (%s)", c.Path, c.Conflict))
		}
	}
	if len(left) == 0 {
		return
	}
	log.publish(&lathe.TUIToast{Title: "Files left unchanged", Message: strings.Join(left, "\n"), Variant: "warning"})
}
