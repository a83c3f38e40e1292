package engine

import (
	"context"
	"errors"
	"io/fs"
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
// checkout does not change.
func (e Trees) ForkStep(ctx context.Context, t *worktree.Tree, id lathe.SessionID, step int) (lathe.Session, []lathe.UndoneFile, error) {
	before, err := e.store.AfterStep(ctx, id, step)
	if err != nil {
		return lathe.Session{}, nil, err
	}
	left, err := e.restoreStep(ctx, t, id, before)
	if err != nil {
		return lathe.Session{}, nil, err
	}
	s, err := e.Fork(ctx, t.Directory, id, before)
	return s, left, err
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
	for i := range m.changes {
		c := &m.changes[i]
		rel, err := filepath.Rel(t.Origin, c.Path)
		switch {
		case c.Conflict != "":
			continue
		case err != nil || !filepath.IsLocal(rel):
			c.Conflict = "it is outside the checkout"
			continue
		}
		if err := restoreIn(root, rel, m.worktree, *c); err != nil {
			return nil, lathe.Errorf(lathe.Unavailable, "restore %s in the worktree: %w", rel, err)
		}
	}
	left := undo.Describe(m.session, "", m.changes).Files
	return slices.DeleteFunc(left, func(f lathe.UndoneFile) bool { return f.Conflict == "" }), nil
}

// planFork finds what has to change in a copy of a checkout, so that it is as before a message.
func (e Trees) planFork(ctx context.Context, id lathe.SessionID, from lathe.MessageID) (*fileMove, error) {
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
	m := &fileMove{worktree: e.files.undoable(inst.Place, &StepSettings{}), session: s, steps: undo.ChangedSteps(gone)}
	if m.worktree == nil {
		return m, nil
	}
	if pruned := m.worktree.Pruned(m.steps); len(pruned) > 0 {
		return nil, lathe.Errorf(lathe.Unavailable, "the snapshots of %d of the later steps are deleted, so the files of that step cannot be restored; fork without a worktree", len(pruned))
	}
	return m, m.plan(ctx)
}

// restoreIn brings one file of a copy to the state that a plan names.
func restoreIn(root *os.Root, rel string, w *snapshot.Worktree, c snapshot.Change) error {
	if err := root.Remove(rel); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if c.To == (snapshot.Entry{}) {
		return nil
	}
	data, err := w.Content(c.To)
	if err != nil {
		return err
	}
	if err := root.MkdirAll(filepath.Dir(rel), 0o755); err != nil {
		return err
	}
	if c.To.Mode == 0o120000 {
		return root.Symlink(string(data), rel)
	}
	perm := fs.FileMode(0o644)
	if c.To.Mode == 0o100755 {
		perm = 0o755
	}
	return root.WriteFile(rel, data, perm)
}
