package snapshot

import (
	"context"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/lathe-agent/lathe"
)

func octal(mode uint32) string { return strconv.FormatUint(uint64(mode), 8) }

// Track walks the tree and names its state.
func (w *Worktree) Track(ctx context.Context) (string, error) {
	if err := w.t.walk(ctx, w.below); err != nil {
		return "", err
	}
	known, _ := w.t.moment()
	return w.t.objects.keepRoot(known)
}

// Patch walks the tree and lists what differs from an earlier one.
func (w *Worktree) Patch(ctx context.Context, tree string) (Patch, error) {
	p := Patch{Before: tree}
	files, now, err := w.since(ctx, tree)
	if err != nil {
		return p, err
	}
	p.After = now
	for _, f := range files {
		p.Files = append(p.Files, w.t.abs(f.Path))
	}
	slices.Sort(p.Files)
	return p, nil
}

// Diff walks the tree and shows what differs from an earlier one.
func (w *Worktree) Diff(ctx context.Context, tree string) (string, error) {
	files, _, err := w.since(ctx, tree)
	if err != nil {
		return "", err
	}
	return w.t.diffText(files), nil
}

// since compares a tree with the state of now.
func (w *Worktree) since(ctx context.Context, tree string) ([]fileTrace, string, error) {
	now, err := w.Track(ctx)
	if err != nil {
		return nil, "", err
	}
	files, err := w.t.between(tree, now)
	return files, now, err
}

// between lists what differs from one tree to another.
func (t *sharedTree) between(from, to string) ([]fileTrace, error) {
	a, err := parseTree(from)
	b, err2 := parseTree(to)
	if err = errors.Join(err, err2); err != nil {
		return nil, lathe.Errorf(lathe.NotFound, "compare snapshots: %w", err)
	}
	var files []fileTrace
	err = t.objects.diffTrees(a, b, "", func(path string, x, y treeEntry) {
		if x.mode == modeRepo || y.mode == modeRepo {
			return
		}
		files = append(files, fileTrace{path, []fileChange{{Before: x.state(), After: y.state()}}})
	})
	if err != nil {
		return nil, lathe.Errorf(lathe.NotFound, "compare snapshots: %w", err)
	}
	return files, nil
}

// DiffFull compares two trees file by file.
func (w *Worktree) DiffFull(ctx context.Context, from, to string) ([]lathe.FileDiff, error) {
	files, err := w.t.between(from, to)
	if err != nil {
		return nil, err
	}
	var out []lathe.FileDiff
	for _, f := range files {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if d, ok := w.t.fileDiff(f.Path, f.Changes, math.MaxInt32); ok {
			out = append(out, d)
		}
	}
	slices.SortFunc(out, func(a, b lathe.FileDiff) int { return strings.Compare(a.File, b.File) })
	return out, nil
}

// Restore plans to bring back all files of a tree. Files that are not in it stay.
func (w *Worktree) Restore(ctx context.Context, tree string) (Plan, error) {
	files, _, err := w.since(ctx, tree)
	if err != nil {
		return Plan{}, err
	}
	var p Plan
	for _, f := range files {
		if to := f.Changes[0].Before; !to.absent() {
			c, err := w.t.change(f.Path, to)
			if err != nil {
				return Plan{}, err
			}
			p.Changes = append(p.Changes, c)
		}
	}
	p.sort()
	return p, nil
}

// change plans to make a path a state, whatever it is now.
func (t *sharedTree) change(rel string, to state) (Change, error) {
	now, err := t.look(rel, false)
	if err != nil {
		return Change{}, lathe.Errorf(lathe.Unavailable, "look at %s: %w", t.abs(rel), err)
	}
	c := Change{Path: t.abs(rel), From: now.entry(), To: to.entry(), rel: rel, from: now.state, to: to}
	switch {
	case now.blocked != "":
		c.Conflict = now.blocked
	case now.Lost:
		c.Conflict = "it is too large to store"
	case !t.available(to):
		c.Conflict = whyNotStored
	}
	return c, nil
}

// Revert plans to bring the files of patches back to what they were before the first that names them.
func (w *Worktree) Revert(ctx context.Context, ps []Patch) (Plan, error) {
	done := make([]StepRef, len(ps))
	for i, p := range ps {
		done[i] = StepRef{Before: p.Before, After: p.After, Files: p.Files}
	}
	return w.Undo(ctx, done)
}
