package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine/fold"
	"github.com/lathe-agent/lathe/engine/rewind"
	"github.com/lathe-agent/lathe/engine/undo"
	"github.com/lathe-agent/lathe/workspace/snapshot"
)

// A session is at two points that move on their own: its conversation ends where session.Revert says, and its files are
// where the changes applied under its id left them. The next prompt makes both final.

// rewinder is a runner that moves those points. Only one process has the lease of a session, so nothing else moves them
// meanwhile.
type rewinder struct{ *runner }

// Steps lists steps of a session, oldest first.
func (e *Engine) Steps(ctx context.Context, id lathe.SessionID, q lathe.StepQuery) (lathe.StepList, error) {
	if q.Before < 0 || q.Limit < 0 {
		return lathe.StepList{}, lathe.Errorf(lathe.Invalid, "the numbers of steps begin at 1")
	}
	if q.Limit == 0 {
		q.Limit = lathe.DefaultSteps
	}
	s, err := e.Get(ctx, id)
	if err != nil {
		return lathe.StepList{}, err
	}
	s, rewound, err := e.finishRewind(ctx, s)
	if err != nil {
		return lathe.StepList{}, err
	}
	page, err := e.store.StepPage(ctx, s, q.Before, min(q.Limit, lathe.MaxSteps))
	if err != nil {
		return lathe.StepList{}, err
	}
	out := lathe.StepList{Total: page.Total, At: page.At, Steps: []lathe.Step{}, Rewound: rewound}
	last := lathe.MessageID("")
	for i, m := range page.Messages {
		step := rewind.Describe(m)
		step.Number = page.First + i
		step.Undone = step.Number > page.At
		if err := e.addSubagents(ctx, s, &step, m); err != nil {
			return lathe.StepList{}, err
		}
		if parent := m.Parent(); parent != last {
			last = parent
			step.Prompt = rewind.PromptLine(page.Prompts[parent])
		}
		out.Steps = append(out.Steps, step)
	}
	return out, nil
}

// addSubagents adds the files that the subagents of a step changed, because a rewind restores them too. An ID in a result may
// be anything, so only children of the session count.
func (e *Engine) addSubagents(ctx context.Context, s lathe.Session, step *lathe.Step, m lathe.Message) error {
	for _, p := range m.Parts {
		c, ok := p.Body.(*lathe.ToolCall)
		if !ok || fold.ChildOf(c) == "" {
			continue
		}
		id := fold.ChildOf(c)
		child, err := e.store.Session(ctx, id)
		if lathe.CodeOf(err) == lathe.NotFound || err == nil && child.Parent != s.ID {
			continue
		}
		if err != nil {
			return err
		}
		below, err := e.store.Steps(ctx, id)
		if err != nil {
			return err
		}
		rewind.AddFiles(step, below)
	}
	return nil
}

// finishRewind completes a rewind of a process that died in its middle, if there is one. It also counts the files that are
// rewound.
func (e *Engine) finishRewind(ctx context.Context, s lathe.Session) (lathe.Session, int, error) {
	inst, err := e.Instance(ctx, s.Directory)
	if err != nil {
		return s, 0, nil // a directory that is gone has nothing to complete
	}
	w := e.files.undoable(inst.Place, &StepSettings{})
	if w == nil || !w.HasApplied(string(s.ID)) {
		return s, 0, nil
	}
	had, err := w.Applied(string(s.ID))
	if err != nil || had == nil {
		return s, 0, err
	}
	if had.Intent == "" {
		return s, len(had.Files), nil
	}
	done, err := whenIdle(ctx, e, s.ID, func(ctx context.Context, r *runner) (lathe.Session, error) {
		s, err := rewinder{r}.loadSettled(ctx)
		return s.session, err
	})
	if lathe.CodeOf(err) == lathe.Conflict { // the process that rewinds is alive, and it will do that
		return s, len(had.Files), nil
	}
	return done, len(had.Files), err
}

// Rewind brings a session to the end of a step: its files, its conversation or both. As with Undo, only files that the
// undone steps wrote are touched, and only if they are as those steps left them. A session that is at work refuses it.
func (e *Engine) Rewind(ctx context.Context, id lathe.SessionID, in lathe.Rewind) (lathe.Rewound, error) {
	switch in.Scope {
	case "":
		in.Scope = lathe.RewindBoth
	case lathe.RewindBoth, lathe.RewindCode, lathe.RewindConversation:
	default:
		return lathe.Rewound{}, lathe.Errorf(lathe.Invalid, "unknown scope %q; use both, code or conversation", string(in.Scope))
	}
	return whenIdle(ctx, e, id, func(ctx context.Context, idle *runner) (lathe.Rewound, error) {
		r := rewinder{idle}
		s, err := r.loadSettled(ctx)
		if err != nil {
			return lathe.Rewound{}, err
		}
		if in.Redo {
			return r.redoRewind(ctx, s, in)
		}
		return r.rewind(ctx, s, in)
	})
}

// rewind brings the session to a step. It plans everything first, so that a step that does not exist, or whose snapshots
// are deleted, changes nothing.
func (r rewinder) rewind(ctx context.Context, s state, in lathe.Rewind) (lathe.Rewound, error) {
	to, err := rewind.Find(s.messages, in.Step)
	if err != nil {
		return lathe.Rewound{}, err
	}
	out := lathe.Rewound{Step: to.Step, Scope: in.Scope, DryRun: in.DryRun, Session: s.session, Files: []lathe.UndoneFile{}, Undone: to.After}
	var back *lathe.Revert
	if to.Message != "" {
		back = &lathe.Revert{Message: to.Message}
	}
	if in.Scope == lathe.RewindConversation {
		return r.rewindConversation(ctx, out, back)
	}
	m, err := r.planRewind(ctx, s, to, &out)
	if in.DryRun && lathe.CodeOf(err) == lathe.Unavailable {
		out.Problem, err = err.Error(), nil
	}
	if err != nil || in.DryRun {
		return out, err
	}
	switch {
	case in.Scope == lathe.RewindCode:
		err = m.applyCode(ctx)
		warnOfConflicts(r.log, m.changes)
	case back == nil:
		out.Session, err = r.redoAll(ctx, m)
	default:
		if back, err = m.apply(ctx, back); err == nil {
			out.Session, err = r.commitRevert(ctx, m, back)
		}
	}
	if err == nil && len(out.CutOff) > 0 {
		r.log.publish(&lathe.TUIToast{Title: "Changes not known", Message: "lathe ended during a command of " + rewind.Ranges(out.CutOff) + ". What it changed stays.", Variant: "warning"})
	}
	out.Files = undo.Describe(s.session, "", m.changes).Files
	return out, err
}

// rewindConversation moves the conversation and leaves the files.
func (r rewinder) rewindConversation(ctx context.Context, out lathe.Rewound, back *lathe.Revert) (_ lathe.Rewound, err error) {
	if out.DryRun {
		return out, nil
	}
	if had := out.Session.Revert; had != nil && back != nil {
		back.Snapshot, back.Diff = had.Snapshot, had.Diff
	}
	out.Session, err = r.log.edit(ctx, lathe.Edit{Revert: lathe.Some(back)})
	r.jobs.changed = r.jobs.changed || back == nil
	return out, err
}

// planRewind finds what a rewind does to files: those of the undone steps, of their commands, and of the subagents that
// they started. It also notes the steps whose snapshots are deleted, because a dry run must show them.
func (r rewinder) planRewind(ctx context.Context, s state, to rewind.Target, out *lathe.Rewound) (*fileMove, error) {
	gone, err := undo.WithSubagents(ctx, r.engine.store, s.session.ID, undo.CopySteps(s.messages[to.From:]))
	if err != nil {
		return nil, err
	}
	w, err := r.config.snapshots(ctx)
	if err != nil {
		return nil, err
	}
	m := &fileMove{worktree: w, session: s.session, steps: undo.ChangedSteps(gone)}
	if w == nil {
		if len(m.steps) > 0 || out.Scope == lathe.RewindCode {
			return nil, lathe.Errorf(lathe.Unavailable, "files cannot be rewound: snapshots are off for this project; rewind only the conversation")
		}
		return m, nil
	}
	out.Pruned = rewind.Numbers(s.messages[to.From:], to.Step, w.Pruned(m.steps))
	out.CutOff = rewind.CutOff(s.messages[to.From:], to.Step)
	err = m.plan(ctx)
	out.Files = undo.Describe(s.session, "", m.changes).Files
	if err == nil && len(out.Pruned) > 0 {
		err = errPruned(out.Pruned)
	}
	return m, err
}

// errPruned says that files cannot be restored any more. A rewind of some of the files would leave a state that never was.
func errPruned(steps []int) error {
	return lathe.Errorf(lathe.Unavailable, "the snapshots of %s are deleted, because they were too old or too large, so files cannot be rewound; nothing was changed. Rewind only the conversation instead",
		rewind.Ranges(steps))
}

// redoRewind brings back everything that was undone, and only that: a prompt makes an undo final.
func (r rewinder) redoRewind(ctx context.Context, s state, in lathe.Rewind) (lathe.Rewound, error) {
	w, err := r.config.snapshots(ctx)
	if err != nil {
		return lathe.Rewound{}, err
	}
	if s.session.Revert == nil && (w == nil || !w.HasApplied(string(s.session.ID))) {
		return lathe.Rewound{}, lathe.Errorf(lathe.NotFound, "nothing is undone in %s", s.session.ID)
	}
	out := lathe.Rewound{Step: rewind.StepOf(s.messages, ""), Scope: lathe.RewindBoth, DryRun: in.DryRun, Session: s.session}
	m := fileMove{worktree: w, session: s.session}
	if err = m.plan(ctx); err == nil && !in.DryRun {
		out.Session, err = r.redoAll(ctx, &m)
	}
	out.Files = undo.Describe(s.session, "", m.changes).Files
	return out, err
}

// loadSettled is load after that was completed which a dead process left: a step, whose changed files are only in its
// journal, and a rewind between its files and the store.
func (r rewinder) loadSettled(ctx context.Context) (state, error) {
	s, err := r.load(ctx)
	if err != nil {
		return s, err
	}
	if left := s.open(); len(left) > 0 {
		if err = r.repair(ctx, left); err == nil {
			s, err = r.load(ctx)
		}
		if err != nil {
			return s, err
		}
	}
	done, err := r.settleRewind(ctx, s)
	if err != nil || !done {
		return s, err
	}
	return r.load(ctx)
}

// settleRewind commits the intent of a process that died after it had moved the files. It reports whether it did.
func (r rewinder) settleRewind(ctx context.Context, s state) (bool, error) {
	w := r.engine.files.undoable(r.config.place, &StepSettings{})
	key := string(s.session.ID)
	if w == nil || !w.HasApplied(key) {
		return false, nil
	}
	had, err := w.Applied(key)
	if err != nil || had == nil || had.Intent == "" {
		return false, err
	}
	var in rewindIntent
	if err := json.Unmarshal([]byte(had.Intent), &in); err != nil {
		return false, lathe.Errorf(lathe.Unavailable, "finish a rewind: %w", err)
	}
	if in.Revert != nil {
		in.Revert.Diff = had.Diff
	}
	if _, err := r.log.edit(ctx, lathe.Edit{Revert: lathe.Some(in.Revert)}); err != nil {
		return false, err
	}
	r.jobs.changed = true
	if in.Revert == nil {
		return true, w.Finalize(ctx, key)
	}
	return true, w.ClearIntent(ctx, key)
}

// rewoundNote is for the model, if the files alone were rewound since its last step: it would think that they are as it
// left them. The prompt that follows makes that final.
func (r rewinder) rewoundNote(ctx context.Context, s state) []string {
	w := r.engine.files.undoable(r.config.place, &StepSettings{})
	key := string(s.session.ID)
	if w == nil || s.session.Revert != nil || !w.HasApplied(key) {
		return nil
	}
	had, err := w.Applied(key)
	if err == nil {
		err = w.Finalize(ctx, key)
	}
	if err != nil {
		r.engine.log.Warn("rewound files not looked at", "session", s.session.ID, "error", err)
	}
	if err != nil || had == nil {
		return nil
	}
	const most = 50
	files := had.Files[:min(most, len(had.Files))]
	more := ""
	if n := len(had.Files) - len(files); n > 0 {
		more = fmt.Sprintf("\nand %d more", n)
	}
	return []string{"<system-reminder>\nThe user has rewound files to an earlier step. Your later changes to them are gone. Read them again before you rely on them:\n" +
		strings.Join(files, "\n") + more + "\n</system-reminder>"}
}

// rewindIntent is what a rewind commits after it has moved the files.
type rewindIntent struct {
	Revert *lathe.Revert `json:"revert"`
}

// fileMove moves the files of a session to the point before some steps, from wherever they are. If the session is undone
// already, one plan moves each file forward or back and leaves the others alone.
type fileMove struct {
	worktree *snapshot.Worktree // nil has no snapshots
	session  lathe.Session
	steps    []snapshot.StepRef // without any, the files go back to the present
	planned  snapshot.Plan
	changes  []snapshot.Change
}

// plan finds the changes without making them. Without steps it plans the way back to the present.
func (m *fileMove) plan(ctx context.Context) (err error) {
	if m.worktree == nil || len(m.steps) == 0 && !m.worktree.HasApplied(string(m.session.ID)) {
		return nil
	}
	if _, err := os.Stat(m.session.Directory); errors.Is(err, fs.ErrNotExist) {
		return lathe.Errorf(lathe.Unavailable, "the project is no longer at %s, so its files cannot be rewound; move it back there, or rewind only the conversation", m.session.Directory)
	}
	m.planned, err = m.worktree.ReplanUndo(ctx, string(m.session.ID), m.steps)
	m.changes = m.planned.Changes
	return err
}

// apply moves the files. back is what the caller commits next; nil is that nothing is undone any more. It is returned
// with the diff. A crash before that commit is repaired by settleRewind, one before the last file by package snapshot.
func (m *fileMove) apply(ctx context.Context, back *lathe.Revert) (*lathe.Revert, error) {
	if m.worktree == nil {
		return back, nil
	}
	if had := m.session.Revert; had != nil && back != nil {
		back.Snapshot = had.Snapshot
	}
	intent, err := json.Marshal(rewindIntent{back})
	if err != nil {
		return nil, err
	}
	done, err := m.worktree.ApplyWith(ctx, string(m.session.ID), m.planned, string(intent))
	if err != nil {
		return nil, err
	}
	m.changes = done.Changes
	if back == nil {
		return nil, nil
	}
	if back.Snapshot == "" {
		back.Snapshot = done.Tree
	}
	back.Diff = done.Diff
	return back, nil
}

// applyCode moves the files and nothing else, so it needs no intent: the record of the changes is all there is to save.
func (m *fileMove) applyCode(ctx context.Context) error {
	if m.worktree == nil {
		return nil
	}
	done, err := m.worktree.Apply(ctx, string(m.session.ID), m.planned)
	if err == nil {
		m.changes = done.Changes
	}
	return err
}

// clearIntent says that the store has what apply announced. Without it the next process commits the same again.
func (m *fileMove) clearIntent(ctx context.Context, r rewinder) {
	if m.worktree == nil {
		return
	}
	if err := m.worktree.ClearIntent(ctx, string(m.session.ID)); err != nil {
		r.engine.log.Warn("rewind not cleaned up", "session", m.session.ID, "error", err)
	}
}
