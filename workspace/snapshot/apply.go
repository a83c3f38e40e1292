package snapshot

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/workspace"
)

func (t *sharedTree) undoPath(key string) string { return t.path(undoDir, fileName(key)+recordSuffix) }

// errChanged means that a file changed after the plan was made.
var errChanged = errors.New("it changed just now, so it stays as it is")

// Apply applies a plan, except its conflicts. It checks each file again right before it replaces it, and
// a file that changed meanwhile becomes a conflict. If anything else fails, Apply restores the previous
// state. Changes under one key add up until Redo and Apply revert them or Finalize makes them final.
// Diff shows all changes under the key.
func (w *Worktree) Apply(ctx context.Context, key string, p Plan) (Applied, error) {
	return w.ApplyWith(ctx, key, p, "")
}

// ApplyWith is Apply that saves an intent together with the changes: what the caller does next outside of this package,
// so that a kill in between leaves nothing half done. [Worktree.Applied] returns it until [Worktree.ClearIntent]. A plan
// that changes no file saves none.
func (w *Worktree) ApplyWith(ctx context.Context, key string, p Plan, intent string) (Applied, error) {
	t := w.t
	t.load()
	release, err := t.lock(ctx)
	if err != nil {
		return Applied{}, lathe.Errorf(lathe.Unavailable, "undo: %w", err)
	}
	defer release()
	if err := t.repairLocked(); err != nil {
		return Applied{}, err
	}
	done := Applied{Plan: Plan{slices.Clone(p.Changes)}}
	t.prepare(done.Changes)
	known, _ := t.moment()
	if done.Tree, err = t.objects.keepRoot(known); err != nil {
		return Applied{}, lathe.Errorf(lathe.Unavailable, "undo: %w", err)
	}
	r, err := readRecord(t.undoPath(key))
	if err != nil {
		return Applied{}, lathe.Errorf(lathe.Unavailable, "undo: %w", err)
	}
	if r == nil {
		r = &record{Key: key}
	}
	r.Time = t.store.o.Now().UTC()
	if err := t.run(r, done.Changes, intent); err != nil {
		return Applied{}, lathe.Errorf(lathe.Unavailable, "undo: %w", err)
	}
	done.Diff = t.diffText(r.Files)
	t.saveSoon()
	return done, nil
}

// prepare reads the files of a plan again and stores their contents.
func (t *sharedTree) prepare(changes []Change) {
	deleted := map[string]bool{}
	for i := range changes { // by path: parents come first
		c := &changes[i]
		rel, ok := t.rel(c.Path)
		switch {
		case c.Conflict != "":
			continue
		case !ok:
			c.Conflict = whyOutside
			continue
		}
		c.complete(rel)
		now, err := t.look(rel, true)
		now = now.unblock(deleted)
		switch {
		case err != nil:
			c.Conflict = err.Error()
		case now.blocked != "":
			c.Conflict = now.blocked
		case !now.state.same(c.from):
			c.Conflict = errChanged.Error()
		case !t.available(c.to):
			c.Conflict = whyNotStored
		default:
			c.from = now.state
			deleted[rel] = c.deletes()
			t.note(rel, now.knownItem(), nil)
		}
	}
}

// complete fills in the fields that a plan loses when it is saved and read again.
func (c *Change) complete(rel string) {
	if c.rel == rel {
		return
	}
	c.rel = rel
	c.from = state{Mode: c.From.Mode, ID: c.From.ID}
	c.to = treeEntry{mode: c.To.Mode}.state()
	c.to.ID = c.To.ID
}

// run replaces files between two writes of the record. The first marks the change as incomplete, the
// second as complete.
func (t *sharedTree) run(r *record, changes []Change, intent string) error {
	var todo []*Change
	for i := range changes {
		if c := &changes[i]; c.Conflict == "" {
			todo = append(todo, c)
			r.Running = append(r.Running, fileTrace{c.rel, []fileChange{{Before: c.from, After: c.to, Made: t.missing(c)}}})
		}
	}
	if len(todo) == 0 {
		return nil
	}
	file := t.undoPath(r.Key)
	r.Temp = strings.TrimPrefix(tempName(), tempPrefix)
	// Sync the old contents before they are replaced.
	if err := errors.Join(t.objects.sync(), t.writeRecord(file, r)); err != nil {
		return err
	}
	running := map[string]fileChange{}
	for _, f := range r.Running {
		running[f.Path] = f.Changes[0]
	}
	for _, c := range deletionsFirst(todo) {
		err := t.replace(c, r.Temp)
		if errors.Is(err, errChanged) {
			c.Conflict = err.Error()
			delete(running, c.rel)
			continue
		}
		if err != nil {
			return errors.Join(err, t.revertRunning(file, r))
		}
	}
	before := *r
	before.Files = slices.Clone(r.Files) // merge works in place
	r.Running, r.Temp, r.Intent = nil, "", intent
	r.merge(running)
	for _, c := range todo {
		if now, err := t.look(c.rel, false); err == nil {
			t.note(c.rel, now.knownItem(), nil)
		}
	}
	if err := t.writeRecord(file, r); err != nil { // a full disk, say
		return errors.Join(err, t.revertRunning(file, &before))
	}
	return nil
}

// missing counts the directories to create for a file.
func (t *sharedTree) missing(c *Change) int {
	if c.to.absent() {
		return 0
	}
	now, err := t.look(c.rel, false)
	if err != nil {
		return 0
	}
	return now.missing
}

// deletionsFirst puts deletions before creations, so that a file can replace a directory and vice versa.
func deletionsFirst(todo []*Change) []*Change {
	out := slices.Clone(todo)
	slices.SortStableFunc(out, func(a, b *Change) int {
		switch x, y := a.to.absent(), b.to.absent(); {
		case x && !y:
			return -1
		case y && !x:
			return 1
		case x && y: // the deepest first
			return strings.Compare(b.rel, a.rel)
		}
		return strings.Compare(a.rel, b.rel)
	})
	return out
}

// merge adds changes to the earlier ones under the same key.
func (r *record) merge(done map[string]fileChange) {
	for i := range r.Files {
		f := &r.Files[i]
		if s, ok := done[f.Path]; ok {
			f.Changes = netChanges(append(f.Changes, s))
			delete(done, f.Path)
		}
	}
	for path, s := range done {
		r.Files = append(r.Files, fileTrace{path, []fileChange{s}})
	}
	r.Files = slices.DeleteFunc(r.Files, func(f fileTrace) bool { return len(f.Changes) == 0 })
	slices.SortFunc(r.Files, func(a, b fileTrace) int { return strings.Compare(a.Path, b.Path) })
}

// revertRunning reverts an incomplete change, except for files that someone else changed meanwhile.
func (t *sharedTree) revertRunning(file string, r *record) error {
	var back []*Change
	deleted := map[string]bool{}
	for _, f := range r.Running {
		s := f.Changes[0]
		removeLeftovers(t, f.Path, s, r.Temp)
		now, err := t.look(f.Path, false)
		if err != nil {
			return err
		}
		if now = now.unblock(deleted); now.state.same(s.After) && now.blocked == "" {
			c := &Change{rel: f.Path, from: s.After, to: s.Before, made: s.Made}
			deleted[f.Path] = c.deletes()
			back = append(back, c)
		}
	}
	for _, c := range deletionsFirst(back) {
		if err := t.replace(c, r.Temp); err != nil && !errors.Is(err, errChanged) {
			return err
		}
		if now, err := t.look(c.rel, false); err == nil {
			t.note(c.rel, now.knownItem(), nil)
		}
	}
	r.Running, r.Temp = nil, ""
	return t.writeRecord(file, r)
}

// removeLeftovers removes the temporary file that a killed process left next to a path, and the empty directories that it
// made for a file and did not come to use. A failure leaves what no snapshot and no search sees.
func removeLeftovers(t *sharedTree, rel string, s fileChange, temp string) {
	if temp == "" { // an older version wrote the record
		return
	}
	if dir, err := t.folder(rel); err == nil {
		_ = dir.Remove(workspace.TempName(temp))
		_ = dir.Close() // it was only read
	}
	root, err := os.OpenRoot(t.root)
	if err != nil {
		return
	}
	defer root.Close()
	if now, _, err := lookAbove(root, rel); err != nil || now.blocked != "" || s.After.absent() {
		return
	}
	for above := path.Dir(rel); s.Made > 0 && above != "."; above, s.Made = path.Dir(above), s.Made-1 {
		info, err := root.Lstat(filepath.FromSlash(above))
		if isGone(err) {
			continue // the kill came between two of them
		}
		if err != nil || !info.IsDir() || root.Remove(filepath.FromSlash(above)) != nil {
			return // it is someone's, or something is in it
		}
	}
}

// revertInterrupted reverts what an interrupted process was applying.
func (t *sharedTree) revertInterrupted(ctx context.Context) error {
	names, err := os.ReadDir(t.path(undoDir))
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(names) == 0 {
		return nil
	}
	release, err := t.lock(ctx)
	if err != nil {
		return err
	}
	defer release()
	return t.repairLocked()
}

// revertInterruptedOnce is revertInterrupted for readers, which need nothing else that is loaded.
func (t *sharedTree) revertInterruptedOnce() {
	ctx, cancel := context.WithTimeout(context.Background(), maxLockWait)
	defer cancel()
	if err := t.revertInterrupted(ctx); err != nil {
		t.store.o.Log.Warn("cannot revert an interrupted undo", "dir", t.root, "error", err)
	}
}

func (t *sharedTree) repairLocked() error {
	names, err := os.ReadDir(t.path(undoDir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, name := range names {
		if !strings.HasSuffix(name.Name(), recordSuffix) || strings.HasPrefix(name.Name(), tempPrefix) {
			continue
		}
		file := t.path(undoDir, name.Name())
		r, err := readRecord(file)
		if err != nil {
			return err
		}
		if r != nil && len(r.Running) > 0 {
			if err := t.revertRunning(file, r); err != nil {
				return err
			}
		}
	}
	return nil
}

// replace makes a change, if the path still is as the change expects. It follows no symlink, neither on the way nor at
// the end. temp names its temporary file.
func (t *sharedTree) replace(c *Change, temp string) error {
	rel, from, to := c.rel, c.from, c.to
	root, err := os.OpenRoot(t.root)
	if err != nil {
		return err
	}
	defer root.Close()
	name := filepath.FromSlash(rel)
	if to.absent() {
		return t.delete(root, rel, from, c.made)
	}
	id, _ := parseOID(to.ID)
	data, err := t.objects.blob(id)
	if err != nil {
		return fmt.Errorf("restore %s: %w", rel, err)
	}
	if above, ok, err := lookAbove(root, rel); err != nil {
		return err
	} else if !ok {
		if above.blocked != "" {
			return errChanged
		}
		t.disk.at("mkdir", rel)
		if err := root.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			return meanwhile(err)
		}
	}
	perm := t.permFor(root, name, from, to)
	t.disk.at("open", rel)
	dir, err := t.folder(rel)
	if err != nil {
		return err
	}
	defer dir.Close()
	return t.exchange(dir, c, workspace.TempName(temp), perm, data)
}

// folder opens the directory of a path. A symlink that replaces a part of the path later has no effect.
func (t *sharedTree) folder(rel string) (*os.Root, error) {
	dir, err := workspace.OpenDir(filepath.Dir(t.abs(rel)))
	if errors.Is(err, workspace.ErrMoved) {
		return nil, errChanged
	}
	if err != nil {
		return nil, meanwhile(err)
	}
	return dir, nil
}

// exchange writes a temporary file and renames it over the old one.
func (t *sharedTree) exchange(dir *os.Root, c *Change, temp string, perm fs.FileMode, data []byte) error {
	rel := c.rel
	t.disk.at("stage", rel)
	if err := stage(dir, temp, path.Base(rel), c.from, c.to, perm, data); err != nil {
		_ = dir.Remove(temp) // the error is reported
		return fmt.Errorf("restore %s: %w", rel, err)
	}
	t.disk.at("staged", rel)
	if err := t.stillIs(rel, c.from); err != nil {
		_ = dir.Remove(temp)
		return err
	}
	t.disk.at("replace", rel)
	if err := dir.Rename(temp, path.Base(rel)); err != nil {
		_ = dir.Remove(temp)
		return meanwhile(err)
	}
	return nil
}

// meanwhile turns an obstacle on the path into a conflict; anything else is a failure.
func meanwhile(err error) error {
	if isGone(err) || errors.Is(err, fs.ErrExist) || errors.Is(err, errIsDir) || errors.Is(err, errNotEmpty) {
		return errChanged
	}
	return err
}

func (t *sharedTree) stillIs(rel string, from state) error {
	now, err := t.look(rel, false)
	if err != nil {
		return err
	}
	if now.blocked != "" || !now.state.same(from) {
		return errChanged
	}
	return nil
}

func (t *sharedTree) delete(root *os.Root, rel string, from state, made int) error {
	if err := t.stillIs(rel, from); err != nil {
		return err
	}
	dir, err := t.folder(rel)
	if err != nil {
		return err
	}
	defer dir.Close()
	t.disk.at("delete", rel)
	if err := dir.Remove(path.Base(rel)); err != nil {
		return meanwhile(err)
	}
	for above := path.Dir(rel); made > 0 && above != "."; above, made = path.Dir(above), made-1 {
		if root.Remove(filepath.FromSlash(above)) != nil {
			break // something else is in it
		}
	}
	return nil
}

// permFor returns the permissions of a restored file: those of the existing file with the executable bit
// adjusted, or else the recorded ones.
func (t *sharedTree) permFor(root *os.Root, name string, from, to state) fs.FileMode {
	perm := fs.FileMode(to.Perm) & 0o777
	if info, err := root.Lstat(name); err == nil && !from.absent() && info.Mode().IsRegular() {
		perm = info.Mode().Perm()
	}
	perm = cmp.Or(perm, 0o644)
	if to.Mode == modeExec {
		return perm | perm&0o444>>2 | 0o100
	}
	return perm &^ 0o111
}

// stage writes a temporary file or link in the same directory.
func stage(root *os.Root, temp, name string, from, to state, perm fs.FileMode, data []byte) error {
	if to.Mode == modeLink {
		return root.Symlink(filepath.FromSlash(string(data)), temp)
	}
	f, err := root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil && !from.absent() && from.Mode != modeLink {
		_ = workspace.CopyAttributes(f, root, name) // the file may be gone, which the next check reports
	}
	if err == nil {
		err = f.Chmod(perm)
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	return err
}
