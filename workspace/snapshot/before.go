package snapshot

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/lathe-agent/lathe"
)

// Former is a file as it was before some steps.
type Former struct {
	Path string      // absolute, where it was
	Mode fs.FileMode // type and permissions; 0 if there was no file
	Data []byte      // content, or the target of a link

	made int // how many parent directories to remove with the file, if they are empty
}

// Before reads the files that steps changed as they were before the first of them; steps are given oldest first. It
// changes nothing. Files whose content is not stored, or that are outside of the worktree, are in unknown.
func (w *Worktree) Before(ctx context.Context, steps []StepRef) (files []Former, unknown []string, err error) {
	all, unknown, err := w.t.histories(ctx, steps)
	if err != nil {
		return nil, nil, err
	}
	for _, rel := range slices.Sorted(maps.Keys(all)) {
		if ctx.Err() != nil {
			return nil, nil, context.Cause(ctx)
		}
		f := Former{Path: filepath.Join(w.t.root, filepath.FromSlash(rel))}
		h := all[rel]
		if len(h.changes) == 0 || !readFormer(w.t, h.changes[0].Before, &f) {
			unknown = append(unknown, f.Path)
			continue
		}
		f.made = h.changes[0].Made
		files = append(files, f)
	}
	slices.Sort(unknown)
	return files, slices.Compact(unknown), nil
}

// Planned returns the file as a change of a plan makes it.
func (w *Worktree) Planned(c Change) (Former, error) {
	f := Former{Path: c.Path, made: c.made}
	if c.To != (Entry{}) && !readFormer(w.t, c.to, &f) {
		return f, lathe.Errorf(lathe.NotFound, "%s: %s", c.Path, whyNotStored)
	}
	return f, nil
}

// Restore brings files of a copy to their former state. origin is where the files were. What is no file any more goes first,
// so that a file can take the place of a directory and vice versa. Files that were outside of origin are returned.
func Restore(root *os.Root, origin string, files []Former) (outside []string, err error) {
	var put []Former
	for _, f := range slices.Backward(files) { // by path: the deepest first
		rel, err := filepath.Rel(origin, f.Path)
		switch {
		case err != nil || !filepath.IsLocal(rel):
			outside = append(outside, f.Path)
		case f.Mode != 0:
			f.Path = rel
			put = append(put, f)
		case isBelowDirs(root, rel):
			if err := root.RemoveAll(rel); err != nil {
				return outside, fmt.Errorf("remove %s: %w", rel, err)
			}
			for n := f.made; n > 0 && root.Remove(filepath.Dir(rel)) == nil; n-- {
				rel = filepath.Dir(rel)
			}
		}
	}
	for _, f := range slices.Backward(put) {
		if err := f.put(root); err != nil {
			return outside, fmt.Errorf("restore %s: %w", f.Path, err)
		}
	}
	return outside, nil
}

// isBelowDirs reports whether all parents of a path are directories. A link leads to other files.
func isBelowDirs(root *os.Root, rel string) bool {
	_, ok, err := lookAbove(root, filepath.ToSlash(rel))
	return ok && err == nil
}

// put writes the file below a folder. What is in its way goes: all parents of a file are directories.
func (f Former) put(root *os.Root) error {
	for dir := filepath.Dir(f.Path); dir != "."; dir = filepath.Dir(dir) {
		if info, err := root.Lstat(dir); err == nil && !info.IsDir() {
			if err := root.Remove(dir); err != nil {
				return err
			}
		}
	}
	if err := root.RemoveAll(f.Path); err != nil {
		return err
	}
	if err := root.MkdirAll(filepath.Dir(f.Path), 0o755); err != nil {
		return err
	}
	if f.Mode&os.ModeSymlink != 0 {
		return root.Symlink(string(f.Data), f.Path)
	}
	return root.WriteFile(f.Path, f.Data, f.Mode.Perm())
}

// readFormer reads the content of a state.
func readFormer(t *sharedTree, s state, f *Former) bool {
	if s.Lost || s.absent() {
		return !s.Lost
	}
	id, ok := parseOID(s.ID)
	if !ok {
		return false
	}
	data, err := t.objects.blob(id)
	if err != nil {
		if lathe.CodeOf(err) != lathe.NotFound {
			t.store.o.Log.Warn("read a former file", "path", f.Path, "error", err)
		}
		return false
	}
	f.Data = data
	switch {
	case s.Mode == 0o120000:
		f.Mode = os.ModeSymlink | 0o777
	case s.Mode == 0o100755:
		f.Mode = 0o755
	default:
		f.Mode = 0o644
	}
	return true
}
