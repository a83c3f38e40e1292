package builtin

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lathe-agent/lathe/tool"
	"github.com/lathe-agent/lathe/tool/target"
	"github.com/lathe-agent/lathe/workspace/patch"
)

// lock takes the locks of all files, always in the same order.
func (a *patchRun) lock() (unlock func()) {
	var paths []string
	for _, t := range a.targets {
		paths = append(paths, t.Path)
	}
	slices.Sort(paths)
	var undo []func()
	for _, p := range slices.Compact(paths) {
		undo = append(undo, a.cfg.Tracker.lock(p))
	}
	return func() {
		for _, f := range slices.Backward(undo) {
			f()
		}
	}
}

// write makes the changes, after saving the files for an undo.
func (a *patchRun) write(ctx context.Context, files []patched) error {
	var paths []string
	for _, f := range files {
		paths = append(paths, f.from.Path, f.to.Path)
	}
	slices.Sort(paths)
	done, err := beginChange(ctx, a.call, slices.Compact(paths)...)
	if err != nil {
		return err
	}
	defer done()
	return write(ctx, files)
}

// write makes the changes, first what is written and then what goes. Where one fails those that
// were made are undone.
func write(ctx context.Context, files []patched) error {
	var made []func() error
	for _, f := range files {
		if f.Kind == patch.Delete || f.Kind == patch.Update && f.After == f.Before {
			continue
		}
		if err := f.files.write(ctx, f.to, content{unsaved: f.unsaved}, f.After); err != nil {
			return undoWrites(made, err)
		}
		made = append(made, func() error { return f.unwrite(context.WithoutCancel(ctx)) })
		if f.Kind == patch.Move {
			keepMode(f.to, f.from)
		}
	}
	for _, f := range files {
		if f.Kind != patch.Delete && f.Kind != patch.Move {
			continue
		}
		if err := f.from.Within(ctx).Remove(); err != nil {
			return undoWrites(made, tool.Failf("Cannot remove %s: %w.", f.from.Shown, err))
		}
		made = append(made, func() error { return f.unremove(context.WithoutCancel(ctx)) })
	}
	return nil
}

// unwrite restores the old content.
func (f patched) unwrite(ctx context.Context) error {
	if f.Kind == patch.Update {
		return f.files.write(ctx, f.to, content{unsaved: f.unsaved}, f.Before)
	}
	return f.to.Within(ctx).Remove()
}

// unremove brings back what was removed.
func (f patched) unremove(ctx context.Context) error {
	if err := f.from.Within(ctx).Write([]byte(f.Before)); err != nil {
		return err
	}
	keepMode(f.from, f.from)
	return nil
}

// undoWrites undoes what was made, the last first, and returns why.
func undoWrites(made []func() error, why error) error {
	var left []string
	for _, undo := range slices.Backward(made) {
		if err := undo(); err != nil {
			left = append(left, err.Error())
		}
	}
	if len(left) > 0 {
		return tool.Failf("%w The patch was not applied, but some changes could not be undone: %s. Check these files first.", why, strings.Join(left, "; "))
	}
	return tool.Failf("%w Nothing was changed: the earlier changes of the patch were undone.", why)
}

// keepMode gives a file the mode that another had when it was resolved. It does what it can: a
// file system may know no modes.
func keepMode(t, from target.Target) {
	if from.Info == nil {
		return
	}
	dir, err := os.OpenRoot(filepath.Dir(t.Path))
	if err != nil {
		return
	}
	defer dir.Close()
	if info, err := dir.Lstat(filepath.Base(t.Path)); err == nil && info.Mode().IsRegular() {
		_ = dir.Chmod(filepath.Base(t.Path), from.Info.Mode().Perm())
	}
}
