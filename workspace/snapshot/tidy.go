package snapshot

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/internal/filelock"
)

// tidyFile is locked by the running Tidy.
const tidyFile = "tidy"

const (
	// Packfiles up to smallPack are joined once there are manyPacks of them.
	smallPack, manyPacks = 1 << 20, 8
	// A packfile is replaced if more than one wasteShare-th of it is unreferenced.
	wasteShare = 4
)

// worktreeDir is the directory of a worktree in the store.
type worktreeDir struct {
	*sharedTree
	live    bool
	objects map[oid]object
	packs   []*packList
	roots   []gcRoot
}

type object struct {
	size   int64
	marked bool
}

// packList is a packfile and its objects.
type packList struct {
	packfile
	entries []packEntry
}

type packEntry struct {
	id   oid
	off  int64
	size int
}

// gcRoot refers to objects: the record of a step, an undo that can be redone, or an index.
type gcRoot struct {
	tree *worktreeDir
	file string
	time time.Time
	size int64
	mark func(*reachability)
}

// Tidy removes data older than MaxAge, then the oldest until the rest is within MaxBytes, then all
// unreferenced objects. It may run next to steps of this and other processes. Only one runs at a time;
// another returns at once. An interrupted Tidy leaves a valid store.
func (s *Store) Tidy(ctx context.Context) error {
	if _, err := os.Stat(s.o.Dir); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	f, err := os.OpenFile(filepath.Join(s.o.Dir, tidyFile), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return lathe.Errorf(lathe.Unavailable, "tidy the snapshots: %w", err)
	}
	defer f.Close()
	if err := filelock.TryLock(f); err != nil {
		if errors.Is(err, filelock.ErrLocked) {
			return nil
		}
		return lathe.Errorf(lathe.Unavailable, "tidy the snapshots: %w", err)
	}
	if err := s.tidy(ctx); err != nil {
		return lathe.Errorf(lathe.Unavailable, "tidy the snapshots: %w", err)
	}
	return nil
}

func (s *Store) tidy(ctx context.Context) error {
	trees, err := s.worktreeDirs(ctx)
	if err != nil {
		return err
	}
	defer func() {
		for _, h := range trees {
			h.close(s)
		}
	}()
	var total int64
	var roots []gcRoot
	for _, h := range trees {
		m := reachability{dir: h}
		h.markRoots(&m)
		total += m.bytes
		roots = append(roots, h.roots...)
	}
	slices.SortFunc(roots, func(a, b gcRoot) int { return b.time.Compare(a.time) })
	age, most := s.limits()
	oldest := s.o.Now().Add(-age)
	full := false
	for _, r := range roots {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if !full && !r.time.Before(oldest) {
			m := reachability{dir: r.tree}
			r.mark(&m)
			if full = total+m.bytes+r.size > most; !full {
				total += m.bytes + r.size
				continue
			}
			m.forget()
		}
		if err := r.remove(); err != nil {
			return err
		}
	}
	for _, h := range trees {
		if err := h.sweep(ctx); err != nil {
			return err
		}
	}
	return nil
}

// remove removes its file, unless it is a journal that a step has taken over meanwhile.
func (r gcRoot) remove() error {
	if filepath.Dir(r.file) == r.tree.path(openDir) {
		f, err := os.OpenFile(r.file, os.O_RDWR, 0)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		defer f.Close() // the lock keeps others away until the file is gone
		if filelock.TryLock(f) != nil {
			return nil
		}
	}
	return r.tree.disk.remove(r.file)
}

// close closes a worktree that this process does not use.
func (h *worktreeDir) close(s *Store) {
	if s.loaded(h.dir) == nil {
		_ = h.sharedTree.objects.close() // it was only read
	}
}

// worktreeDirs reads all worktree directories.
func (s *Store) worktreeDirs(ctx context.Context) ([]*worktreeDir, error) {
	var out []*worktreeDir
	projects, err := os.ReadDir(s.o.Dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, project := range projects {
		trees, err := os.ReadDir(filepath.Join(s.o.Dir, project.Name()))
		if err != nil {
			continue // not a directory
		}
		for _, tree := range trees {
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			h, err := s.readWorktreeDir(filepath.Join(s.o.Dir, project.Name(), tree.Name()))
			if err != nil {
				return nil, err
			}
			out = append(out, h)
		}
	}
	return out, nil
}

// readWorktreeDir reads the directory of a worktree. It lists objects before their references, so that
// the objects of a step that ends meanwhile are young enough to stay.
func (s *Store) readWorktreeDir(dir string) (*worktreeDir, error) {
	h := &worktreeDir{sharedTree: s.loaded(dir), objects: map[oid]object{}}
	if h.sharedTree == nil {
		h.sharedTree = &sharedTree{store: s, disk: &s.disk, dir: dir, project: &project{}}
		h.sharedTree.objects = newObjects(&s.disk, filepath.Join(dir, objectsDir), h.project)
	}
	if err := h.list(); err != nil {
		return nil, err
	}
	lives, _ := os.ReadDir(h.path(liveDir)) // a missing directory means no process
	for _, e := range lives {
		if !strings.HasSuffix(e.Name(), indexSuffix) && !strings.HasPrefix(e.Name(), tempPrefix) && !isDead(h.path(liveDir, e.Name())) {
			h.live = true
		}
	}
	for _, name := range [...]string{stepsDir, undoDir} {
		if err := h.addRecords(name); err != nil {
			return nil, err
		}
	}
	if !h.live {
		h.addIndex(h.path(indexFile))
	}
	for _, file := range h.deadIndexes() {
		h.addIndex(file)
	}
	h.addJournals()
	return h, nil
}

// addIndex adds the index of an ended process.
func (h *worktreeDir) addIndex(file string) {
	if info, err := os.Stat(file); err == nil {
		h.roots = append(h.roots, gcRoot{h, file, info.ModTime(), onDisk(info.Size()), func(m *reachability) { m.index(file) }})
	}
}

// addJournals adds steps whose process died and that were not recovered.
func (h *worktreeDir) addJournals() {
	entries, _ := os.ReadDir(h.path(openDir))
	for _, e := range entries {
		file := h.path(openDir, e.Name())
		if info, err := e.Info(); err == nil && isDead(file) {
			h.roots = append(h.roots, gcRoot{h, file, info.ModTime(), onDisk(info.Size()), func(m *reachability) { m.journal(file) }})
		}
	}
}

// loaded returns the worktree that this process uses at a directory, or nil.
func (s *Store) loaded(dir string) *sharedTree {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range s.trees {
		if t.dir == dir {
			return t
		}
	}
	return nil
}

// list finds the objects, and removes the temporary files of killed writers.
func (h *worktreeDir) list() error {
	entries, err := os.ReadDir(h.path(objectsDir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, e := range entries {
		path := h.path(objectsDir, e.Name())
		info, err := e.Info()
		if err != nil {
			continue // removed meanwhile
		}
		if strings.HasPrefix(e.Name(), tempPrefix) {
			if time.Since(info.ModTime()) > graceTime {
				if err := h.disk.remove(path); err != nil {
					return err
				}
			}
			continue
		}
		f, err := os.Open(path)
		if err != nil {
			continue
		}
		l := &packList{packfile: packfile{path: path, file: f, young: info.ModTime()}}
		err = l.packfile.entries(info.Size(), func(id oid, off int64, size int) {
			l.entries = append(l.entries, packEntry{id, off, size})
			h.objects[id] = object{size: int64(headSize + size)}
		})
		l.file = nil
		if err = errors.Join(err, f.Close()); err != nil {
			return err
		}
		l.size = info.Size()
		h.packs = append(h.packs, l)
	}
	return h.sharedTree.objects.find()
}

// onDisk returns the disk space for a file of a given size.
func onDisk(size int64) int64 { return (size + 4095) &^ 4095 }

func (h *worktreeDir) addRecords(name string) error {
	entries, err := os.ReadDir(h.path(name))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), recordSuffix) || strings.HasPrefix(e.Name(), tempPrefix) {
			continue
		}
		file := h.path(name, e.Name())
		info, err := e.Info()
		if err != nil {
			continue
		}
		r, err := readRecord(file)
		if err != nil {
			r = &record{} // a damaged record counts as the oldest
		}
		if r == nil || len(r.Running) > 0 {
			continue
		}
		h.roots = append(h.roots, gcRoot{h, file, r.Time, onDisk(info.Size()), func(m *reachability) { m.record(r) }})
	}
	return nil
}

// removeDead removes the files of dead processes, and the directory of an unused worktree.
func (h *worktreeDir) removeDead() error {
	lives, _ := os.ReadDir(h.path(liveDir))
	for _, e := range lives {
		info, err := e.Info()
		file := h.path(liveDir, e.Name())
		if err != nil || isThere(file+indexSuffix) || !isDead(strings.TrimSuffix(file, indexSuffix)) || time.Since(info.ModTime()) < graceTime {
			return nil // in use, or recently used
		}
		if err := h.disk.remove(file); err != nil {
			return err
		}
	}
	for _, dir := range [...]string{stepsDir, undoDir, openDir} {
		if entries, _ := os.ReadDir(h.path(dir)); len(entries) > 0 {
			return nil
		}
	}
	if isThere(h.path(indexFile)) {
		return nil
	}
	if packs, _ := os.ReadDir(h.path(objectsDir)); len(packs) > 0 {
		return nil
	}
	for _, name := range [...]string{rootFile, lockFile} {
		if err := h.disk.remove(h.path(name)); err != nil {
			return err
		}
	}
	// Remove fails for directories that are in use again.
	for _, dir := range [...]string{h.path(objectsDir), h.path(stepsDir), h.path(undoDir), h.path(openDir), h.path(liveDir), h.dir, filepath.Dir(h.dir)} {
		_ = os.Remove(dir)
	}
	return nil
}

func isThere(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// Stats measures the store.
func (s *Store) Stats(ctx context.Context) (Stats, error) {
	trees, err := s.worktreeDirs(ctx)
	if err != nil {
		return Stats{}, fmt.Errorf("measure the snapshots: %w", err)
	}
	st := Stats{Worktrees: len(trees)}
	for _, h := range trees {
		defer h.close(s)
		st.Objects += len(h.objects)
		for _, l := range h.packs {
			st.Bytes += l.size
		}
		for _, r := range h.roots {
			st.Bytes += r.size
			if filepath.Base(filepath.Dir(r.file)) != stepsDir {
				continue
			}
			st.Steps++
			if st.Oldest.IsZero() || r.time.Before(st.Oldest) {
				st.Oldest = r.time
			}
		}
	}
	return st, nil
}
