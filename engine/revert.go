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
	return whenIdle(ctx, e, id, func(ctx context.Context, r *runner) (lathe.Undone, error) { return rewinder{r}.revert(ctx, u) })
}

// Unrevert undoes Revert; of u only DryRun counts. Files that were changed since are left alone.
func (e *Engine) Unrevert(ctx context.Context, id lathe.SessionID, u lathe.Undo) (lathe.Undone, error) {
	return whenIdle(ctx, e, id, func(ctx context.Context, r *runner) (lathe.Undone, error) { return rewinder{r}.unrevert(ctx, u.DryRun) })
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
	if err == nil && s.Revert == nil && u.Message == "" && u.Part == "" { // the files alone may be
		done, err := e.Rewind(ctx, id, lathe.Rewind{Redo: true, DryRun: u.DryRun})
		return lathe.Undone{Session: done.Session, Files: done.Files}, err
	}
	if err == nil {
		u, err = undo.Targets{Histories: e.Histories}.Redo(ctx, s, u)
	}
	switch {
	case err != nil:
		return lathe.Undone{}, err
	case u.Message == "":
		return e.Unrevert(ctx, id, u)
	}
	return whenIdle(ctx, e, id, func(ctx context.Context, r *runner) (lathe.Undone, error) { return rewinder{r}.redoTo(ctx, u) })
}

// redoTo brings back what is undone before a point. After a rewind of the conversation alone no file is undone, and none
// may be undone now.
func (r rewinder) redoTo(ctx context.Context, u lathe.Undo) (lathe.Undone, error) {
	s, err := r.loadSettled(ctx)
	if err != nil {
		return lathe.Undone{}, err
	}
	w, err := r.config.snapshots(ctx)
	at, ok := undo.FindPoint(s.messages, u.Message, u.Part)
	if err != nil || !ok || w == nil || w.HasApplied(string(s.session.ID)) {
		return r.revert(ctx, u)
	}
	done, err := r.rewindConversation(ctx, lathe.Rewound{Session: s.session, DryRun: u.DryRun}, &lathe.Revert{Message: at.Message, Part: at.Part})
	return undo.Describe(done.Session, at.Message, nil), err
}

// revert undoes the session from a point on.
func (r rewinder) revert(ctx context.Context, u lathe.Undo) (lathe.Undone, error) {
	s, err := r.loadSettled(ctx)
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
	m := fileMove{worktree: w, session: s.session, steps: undo.ChangedSteps(gone)}
	if err := m.plan(ctx); err != nil || u.DryRun {
		return undo.Describe(s.session, u.Message, m.changes), err
	}
	back, err := m.apply(ctx, &lathe.Revert{Message: at.Message, Part: at.Part})
	if err != nil {
		return undo.Describe(s.session, u.Message, nil), err
	}
	rec, err := r.commitRevert(ctx, &m, back)
	return undo.Describe(rec, at.Message, m.changes), err // an answer goes with the prompt it answers
}

// commitRevert saves the point from which on the session is undone, after its files were moved.
func (r rewinder) commitRevert(ctx context.Context, m *fileMove, back *lathe.Revert) (lathe.Session, error) {
	warnOfConflicts(r.log, m.changes)
	var diffs []lathe.FileDiff
	if m.worktree != nil {
		var err error
		if diffs, err = m.worktree.Diffs(ctx, m.steps); err != nil {
			r.engine.log.Warn("changed files of the undone steps not found", "session", m.session.ID, "error", err)
		}
		diffs = undo.Clip(diffs)
	}
	if err := r.log.write(ctx, &lathe.DiffChanged{Session: m.session.ID, Diff: diffs}); err != nil {
		return lathe.Session{}, err
	}
	rec, err := r.log.edit(ctx, lathe.Edit{Revert: lathe.Some(back), Summary: lathe.Some(undo.Totals(diffs))})
	if err == nil {
		m.clearIntent(ctx, r)
	}
	return rec, err
}

// unrevert brings back what was undone.
func (r rewinder) unrevert(ctx context.Context, dry bool) (lathe.Undone, error) {
	s, err := r.loadSettled(ctx)
	if err != nil || s.session.Revert == nil {
		return undo.Describe(s.session, "", nil), err
	}
	w, err := r.config.snapshots(ctx)
	if err != nil {
		return lathe.Undone{}, err
	}
	m := fileMove{worktree: w, session: s.session}
	if err := m.plan(ctx); err != nil || dry {
		return undo.Describe(s.session, "", m.changes), err
	}
	rec, err := r.redoAll(ctx, &m)
	return undo.Describe(rec, "", m.changes), err
}

// redoAll brings back all files and messages. Files that conflict stay as they are, for good.
func (r rewinder) redoAll(ctx context.Context, m *fileMove) (lathe.Session, error) {
	if _, err := m.apply(ctx, nil); err != nil {
		return lathe.Session{}, err
	}
	warnOfConflicts(r.log, m.changes)
	rec, err := r.log.edit(ctx, lathe.Edit{Revert: lathe.Some[*lathe.Revert](nil)})
	if err != nil {
		return lathe.Session{}, err
	}
	if m.worktree != nil {
		if err := m.worktree.Finalize(ctx, string(m.session.ID)); err != nil {
			r.engine.log.Warn("redone changes not cleaned up", "session", m.session.ID, "error", err)
		}
	}
	r.jobs.changed = true
	return rec, nil
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
