package worktree

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/internal/filelock"
	"github.com/lathe-agent/lathe/workspace"
)

// A tree is named by three places: its record, its folder in the repository and its branch. The record is the first to be
// written and the last to be deleted, so that every half made tree can be found again by its record, and a record without
// anything else is only deleted. Locks decide who is alive: process numbers are used again, and clocks jump.

// Recover completes or reverts what killed processes left in the trees of a place: a tree that was being made
// is removed, since no session has seen it; one that was being dropped is removed. Trees that are ready stay,
// whether a session lives or not. A merge that was cut off is returned for its owner to settle.
func (r Root) Recover(ctx context.Context, at workspace.Place) (merging []*Tree, err error) {
	project := r.project(at)
	if _, err := os.Lstat(filepath.Join(project, metaDir)); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	release, err := lockProject(ctx, project)
	if err != nil {
		return nil, err
	}
	defer release()
	entries, err := os.ReadDir(filepath.Join(project, metaDir))
	if err != nil {
		return nil, err
	}
	var errs []error
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		t, err := r.recoverOne(project, e.Name())
		if t != nil {
			merging = append(merging, t)
		}
		errs = append(errs, err)
	}
	return merging, errors.Join(errs...)
}

// recoverOne repairs one tree. A tree whose lease is held is at work and stays as it is.
func (r Root) recoverOne(project, name string) (merging *Tree, err error) {
	meta := filepath.Join(project, metaDir, name)
	held, err := lease(meta)
	if errors.Is(err, filelock.ErrLocked) {
		return nil, nil // it is at work
	}
	if err != nil {
		return nil, err
	}
	defer filelock.Release(held)
	t, err := r.read(meta)
	if errors.Is(err, fs.ErrNotExist) { // it had only a name
		if _, err := os.Lstat(filepath.Join(project, name)); err == nil {
			return nil, nil // never delete files without a record that says so
		}
		return nil, os.RemoveAll(meta)
	}
	if err != nil {
		return nil, lathe.Errorf(lathe.Unavailable, "the record of worktree %s is damaged (%w); its files are in %s", name, err, filepath.Join(project, name))
	}
	switch {
	case t.State == Creating, t.State == Dropping, t.Scratch:
		if err := t.remove(); err != nil {
			return nil, err
		}
		return nil, t.forget()
	case t.State == Merging:
		return t, nil
	}
	return nil, nil
}

// Drop removes a tree with its branch. Without force it refuses one with changes that no merge has taken, or
// with commits. A branch with commits of its own stays even then, for git to delete.
func (t *Tree) Drop(ctx context.Context, force bool) (keptBranch string, err error) {
	held, err := t.Hold()
	if err != nil {
		return "", err
	}
	defer held()
	tip := t.Tip()
	if !force {
		changes, err := t.Changes(ctx)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return "", err
		case len(changes) > 0:
			return "", lathe.Errorf(lathe.Conflict, "worktree %s has %s not merged yet; merge it with `lathe worktree merge %s`, or drop it with --force", t.Name, count(len(changes), "changed file"), t.Name)
		case tip != "" && tip != t.Head && t.Merged.IsZero():
			return "", lathe.Errorf(lathe.Conflict, "the branch %s of worktree %s has commits that are not merged; merge it, or drop it with --force, which keeps the branch", t.Branch, t.Name)
		}
	}
	if tip != "" && tip != t.Head {
		keptBranch = t.Branch
	}
	if err := t.Update(ctx, func(r *Record) { r.State = Dropping }); err != nil {
		return "", err
	}
	if err := t.remove(); err != nil {
		return "", err
	}
	release, err := lockProject(ctx, filepath.Dir(filepath.Dir(t.meta)))
	if err != nil {
		return keptBranch, err
	}
	defer release()
	return keptBranch, t.forget()
}
