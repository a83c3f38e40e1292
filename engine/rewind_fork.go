package engine

import (
	"context"
	"os"
	"path/filepath"
	"slices"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine/undo"
	"github.com/lathe-agent/lathe/workspace/snapshot"
	"github.com/lathe-agent/lathe/workspace/worktree"
)

// ForkStep copies the messages up to the end of a step into a new session of a directory, as Fork does. Files stay as
// they are.
func (e *Engine) ForkStep(ctx context.Context, dir string, id lathe.SessionID, step int) (lathe.Session, error) {
	before, err := e.store.AfterStep(ctx, id, step)
	if err != nil {
		return lathe.Session{}, err
	}
	return e.Fork(ctx, dir, id, before)
}

// ForkStep copies the messages of a session up to the end of a step into a new session of a tree, which was just made
// from the session's checkout, and brings the files of the tree to that step. It returns those that it left alone. The
// checkout does not change. The new session is a child of parent, unless that has no ID.
func (e Trees) ForkStep(ctx context.Context, t *worktree.Tree, id lathe.SessionID, step int, parent lathe.Session) (lathe.Session, []lathe.UndoneFile, error) {
	before, err := e.store.AfterStep(ctx, id, step)
	if err != nil {
		return lathe.Session{}, nil, err
	}
	left, err := e.restoreStep(ctx, t, id, before)
	if err != nil {
		return lathe.Session{}, nil, err
	}
	s, err := e.ForkBelow(ctx, t.Directory, id, before, parent)
	return s, left, err
}

// CheckFork reports why ForkStep could not bring a tree to a step.
func (e Trees) CheckFork(ctx context.Context, id lathe.SessionID, step int) error {
	before, err := e.store.AfterStep(ctx, id, step)
	if err == nil {
		_, err = e.planFork(ctx, id, before)
	}
	return err
}

// DiffSince returns what a session and its subagents have changed since a message. Unlike the summary in that message,
// which a job writes after the turn, it is complete as soon as the turn has ended, and has all texts.
func (e Trees) DiffSince(ctx context.Context, id lathe.SessionID, from lathe.MessageID) ([]lathe.FileDiff, error) {
	m, err := e.stepsSince(ctx, id, from)
	if err != nil || m.worktree == nil {
		return nil, err
	}
	return m.worktree.Diffs(ctx, m.steps)
}

// restoreStep undoes the steps of a session from a message on in a copy of its checkout. Files that the user changed
// since stay as they are, and are returned.
func (e Trees) restoreStep(ctx context.Context, t *worktree.Tree, id lathe.SessionID, from lathe.MessageID) ([]lathe.UndoneFile, error) {
	m, err := e.planFork(ctx, id, from)
	if err != nil || m.worktree == nil {
		return nil, err
	}
	root, err := os.OpenRoot(t.Path)
	if err != nil {
		return nil, lathe.Errorf(lathe.Unavailable, "open the worktree: %w", err)
	}
	defer root.Close()
	var files []snapshot.Former
	for i := range m.changes {
		c := &m.changes[i]
		if rel, err := filepath.Rel(t.Origin, c.Path); c.Conflict == "" && (err != nil || !filepath.IsLocal(rel)) {
			c.Conflict = "it is outside the checkout"
		}
		if c.Conflict != "" {
			continue
		}
		f, err := m.worktree.Planned(*c)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	if _, err := snapshot.Restore(root, t.Origin, files); err != nil {
		return nil, lathe.Errorf(lathe.Unavailable, "prepare the worktree: %w", err)
	}
	left := undo.Describe(m.session, "", m.changes).Files
	return slices.DeleteFunc(left, func(f lathe.UndoneFile) bool { return f.Conflict == "" }), nil
}

// planFork finds what has to change in a copy of a checkout, so that it is as before a message.
func (e Trees) planFork(ctx context.Context, id lathe.SessionID, from lathe.MessageID) (*fileMove, error) {
	m, err := e.stepsSince(ctx, id, from)
	if err != nil || m.worktree == nil {
		return m, err
	}
	if pruned := m.worktree.Pruned(m.steps); len(pruned) > 0 {
		return nil, lathe.Errorf(lathe.Unavailable, "the snapshots of %d of the later steps are deleted, so the files of that step cannot be restored; choose a later step, or fork only the conversation", len(pruned))
	}
	return m, m.plan(ctx)
}

// stepsSince lists the steps from a message on that changed files. The worktree is nil where nothing can be undone.
func (e Trees) stepsSince(ctx context.Context, id lathe.SessionID, from lathe.MessageID) (*fileMove, error) {
	s, err := e.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	messages, err := e.store.Steps(ctx, id)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(messages, func(m lathe.Message) bool { return m.ID == from })
	if at < 0 { // the last step
		at = len(messages)
	}
	gone, err := undo.WithSubagents(ctx, e.store, id, messages[at:])
	if err != nil {
		return nil, err
	}
	inst, err := e.Instance(ctx, s.Directory)
	if err != nil {
		return nil, err
	}
	return &fileMove{worktree: e.files.undoable(inst.Place, &StepSettings{}), session: s, steps: undo.ChangedSteps(gone)}, nil
}
