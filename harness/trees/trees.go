// Package trees implements the operations on worktrees that front ends have, on an engine of this process.
//
// It owns no state: trees are on disk (package workspace/worktree), merges are steps of sessions (package engine). A
// Trees is safe for concurrent use. Start at Trees.
package trees

import (
	"context"
	"errors"
	"io/fs"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/api"
	"github.com/lathe-agent/lathe/engine"
	"github.com/lathe-agent/lathe/workspace"
	"github.com/lathe-agent/lathe/workspace/worktree"
)

var _ api.Worktrees = Trees{}

// Trees are the worktrees of an engine.
type Trees struct{ Engine *engine.Engine }

// place locates a directory and repairs what killed processes left there.
func (t Trees) place(ctx context.Context, dir string) (workspace.Place, error) {
	inst, err := t.Engine.Instance(ctx, dir)
	if err != nil {
		return workspace.Place{}, err
	}
	// The first look at trees repairs them, because no process watches over those of a killed one.
	return inst.Place, t.Engine.Trees().Recover(ctx, inst.Place)
}

// find returns a tree by name.
func (t Trees) find(ctx context.Context, dir, name string) (*worktree.Tree, error) {
	at, err := t.place(ctx, dir)
	if err != nil {
		return nil, err
	}
	return t.Engine.Trees().Root().Find(at, name)
}

// ListWorktrees returns the trees by name, with what would be lost if they were dropped.
func (t Trees) ListWorktrees(ctx context.Context, dir string) ([]api.Worktree, error) {
	at, err := t.place(ctx, dir)
	if err != nil {
		return nil, err
	}
	all, err := t.Engine.Trees().Root().List(at)
	out := make([]api.Worktree, 0, len(all))
	for _, tree := range all {
		out = append(out, describe(ctx, tree))
	}
	return out, err
}

// describe compares a tree with its start. A tree that cannot be compared is still listed.
func describe(ctx context.Context, t *worktree.Tree) api.Worktree {
	changes, err := t.Changes(ctx)
	out := api.Worktree{
		Name: t.Name, Branch: t.Branch, Path: t.Path, Directory: t.Directory, Origin: t.Origin, Session: t.Session, State: string(t.State),
		Live: t.IsLive(), Changed: len(changes), Merged: !t.Merged.IsZero(), Missing: errors.Is(err, fs.ErrNotExist), Created: lathe.TimeOf(t.Created),
	}
	if err != nil && !out.Missing {
		out.Problem = err.Error()
	}
	return out
}

// StartWorktree makes a tree and a session in it, and runs the setup command. After a failure nothing is left.
func (t Trees) StartWorktree(ctx context.Context, dir, name string) (api.Worktree, error) {
	return t.start(ctx, dir, name, func(tree *worktree.Tree) (lathe.Session, error) {
		return t.Engine.Create(ctx, tree.Directory, lathe.NewSession{})
	})
}

// ForkWorktree makes a tree with the files at the end of a step of a session, and a copy of the session in it.
func (t Trees) ForkWorktree(ctx context.Context, id lathe.SessionID, step int, name string) (api.Worktree, error) {
	s, err := t.Engine.Get(ctx, id)
	if err != nil {
		return api.Worktree{}, err
	}
	var left []lathe.UndoneFile
	out, err := t.start(ctx, s.Directory, name, func(tree *worktree.Tree) (s lathe.Session, err error) {
		s, left, err = t.Engine.Trees().ForkStep(ctx, tree, id, step, lathe.Session{})
		return s, err
	})
	out.Left = left
	return out, err
}

// start makes a tree and its session.
func (t Trees) start(ctx context.Context, dir, name string, session func(*worktree.Tree) (lathe.Session, error)) (api.Worktree, error) {
	at, err := t.place(ctx, dir)
	if err != nil {
		return api.Worktree{}, err
	}
	tree, release, err := t.Engine.Trees().Create(ctx, at, worktree.Options{Name: name})
	if err != nil {
		return api.Worktree{}, err
	}
	defer release()
	s, err := session(tree)
	if err == nil {
		err = tree.Update(ctx, func(r *worktree.Record) { r.Session = s.ID })
	}
	if err == nil {
		err = t.Engine.Trees().SetUp(ctx, tree, "")
	}
	if err != nil {
		if s.ID != "" {
			_ = t.Engine.Remove(context.WithoutCancel(ctx), s.ID) // it is empty, or a copy
		}
		release()
		_, _ = tree.Drop(context.WithoutCancel(ctx), true) // only the setup command has worked in it
		return api.Worktree{}, err
	}
	// The lease that makes it look busy is the one of this call, which ends now.
	out := describe(ctx, tree)
	out.Live = false
	return out, nil
}

// CompareWorktree returns the changes of a tree.
func (t Trees) CompareWorktree(ctx context.Context, dir, name string) ([]lathe.FileDiff, error) {
	tree, err := t.find(ctx, dir, name)
	if err != nil {
		return nil, err
	}
	return t.Engine.Trees().Diff(ctx, tree)
}

// ApplyWorktree merges a tree, or says what that would do.
func (t Trees) ApplyWorktree(ctx context.Context, dir, name string, o api.WorktreeMerge) (api.WorktreeReport, error) {
	tree, err := t.find(ctx, dir, name)
	if err != nil {
		return api.WorktreeReport{}, err
	}
	r, err := t.Merge(ctx, tree, o)
	if err != nil {
		return api.WorktreeReport{}, err
	}
	out := api.WorktreeReport{Name: r.Name, Session: r.Session, Changed: len(r.Files), Conflicts: []string{}, Text: r.Text()}
	for _, m := range r.Files {
		if m.Outcome == worktree.Conflict {
			out.Conflicts = append(out.Conflicts, m.Path)
		}
	}
	return out, nil
}

// Merge is ApplyWorktree for a tree that is known, with the whole report.
func (t Trees) Merge(ctx context.Context, tree *worktree.Tree, o api.WorktreeMerge) (worktree.Report, error) {
	plan, err := t.Engine.Trees().Report(ctx, tree)
	if err != nil || len(plan.Files) == 0 || o.DryRun {
		return plan, err
	}
	if o.Session != "" {
		return t.mergeInto(ctx, tree, o.Session)
	}
	s, err := t.Engine.Create(ctx, tree.Origin, lathe.NewSession{Title: "Merge worktree " + tree.Name})
	if err != nil {
		return worktree.Report{}, err
	}
	r, err := t.Engine.Trees().Merge(ctx, s.ID, tree)
	if err != nil {
		_ = t.Engine.Remove(context.WithoutCancel(ctx), s.ID) // it holds nothing
	}
	return r, err
}

// mergeInto merges as a step of a session, which must work in the checkout of the tree: an undo of the session could
// not revert files elsewhere.
func (t Trees) mergeInto(ctx context.Context, tree *worktree.Tree, id lathe.SessionID) (worktree.Report, error) {
	s, err := t.Engine.Get(ctx, id)
	if err != nil {
		return worktree.Report{}, err
	}
	at, err := t.Engine.Locate(ctx, s.Directory)
	if err != nil {
		return worktree.Report{}, err
	}
	if at.VCS == "git" && at.Sandbox != tree.Origin || at.VCS != "git" && !workspace.Inside(tree.Origin, at.Directory) {
		return worktree.Report{}, lathe.Errorf(lathe.Invalid, "session %s does not work in %s, which the worktree was made from; merge into another session", id, tree.Origin)
	}
	return t.Engine.Trees().Merge(ctx, id, tree)
}

// DropWorktree removes a tree.
func (t Trees) DropWorktree(ctx context.Context, dir, name string, force bool) (string, error) {
	tree, err := t.find(ctx, dir, name)
	if err != nil {
		return "", err
	}
	return tree.Drop(ctx, force)
}
