package snapshot

import (
	"context"
	"errors"
	"io/fs"
	"os"

	"github.com/lathe-agent/lathe"
)

// AppliedChanges are the changes under a key that can still be reverted.
type AppliedChanges struct {
	Files  []string // absolute
	Intent string   // of the last [Worktree.ApplyWith], if it was not cleared
	Diff   string   // as in [Applied]
}

// HasApplied reports whether there may be changes under a key. It looks at one name only.
func (w *Worktree) HasApplied(key string) bool {
	_, err := os.Lstat(w.t.undoPath(key))
	return !errors.Is(err, fs.ErrNotExist)
}

// Applied returns the changes under a key; nil if there are none. It first reverts what an interrupted process left.
func (w *Worktree) Applied(key string) (*AppliedChanges, error) {
	if !w.HasApplied(key) {
		return nil, nil
	}
	w.t.revertInterruptedOnce()
	r, err := readRecord(w.t.undoPath(key))
	if err != nil {
		return nil, lathe.Errorf(lathe.Unavailable, "read the applied changes: %w", err)
	}
	if r == nil || len(r.Files) == 0 && r.Intent == "" {
		return nil, nil
	}
	out := &AppliedChanges{Intent: r.Intent, Diff: w.t.diffText(r.Files)}
	for _, f := range r.Files {
		out.Files = append(out.Files, w.t.abs(f.Path))
	}
	return out, nil
}

// ClearIntent removes the intent under a key: the caller has done it.
func (w *Worktree) ClearIntent(ctx context.Context, key string) error {
	if !w.HasApplied(key) {
		return nil
	}
	release, err := w.t.lock(ctx)
	if err != nil {
		return lathe.Errorf(lathe.Unavailable, "finish a rewind: %w", err)
	}
	defer release()
	file := w.t.undoPath(key)
	r, err := readRecord(file)
	if err == nil && r != nil && r.Intent != "" {
		r.Intent = ""
		err = w.t.writeRecord(file, r)
	}
	if err != nil {
		return lathe.Errorf(lathe.Unavailable, "finish a rewind: %w", err)
	}
	return nil
}

// Pruned lists the keys of steps whose files cannot be restored, because neither their record nor their trees are stored
// any more.
func (w *Worktree) Pruned(steps []StepRef) (keys []string) {
	for _, s := range steps {
		if _, err := os.Lstat(w.t.recordPath(s.Key)); err == nil || len(s.Files) == 0 {
			continue
		}
		if !w.t.objects.hasTree(s.Before) || s.After != "" && !w.t.objects.hasTree(s.After) {
			keys = append(keys, s.Key)
		}
	}
	return keys
}

// hasTree reports whether a tree is stored, here or in the repository of the project: a clean checkout has that of its
// commit.
func (o *objects) hasTree(name string) bool {
	id, err := parseTree(name)
	return err == nil && o.has(id)
}
