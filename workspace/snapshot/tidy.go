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

// tidyFile is held by the one who tidies.
const tidyFile = "tidy"

const (
	// smallPack is up to which size heaps are joined once there are manyHeaps of them.
	smallPack, manyPacks = 1 << 20, 8
	// wasteShare is which part of a heap may be of no use before it is replaced.
	wasteShare = 4
)

// worktreeDir is the directory of a work tree, as seen from outside.
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

// packList is a heap and what is in it.
type packList struct {
	packfile
	entries []packEntry
}

type packEntry struct {
	id   oid
	off  int64
	size int
}

// gcRoot is something that keeps objects: the record of a step, what can be redone, or an index.
type gcRoot struct {
	tree *worktreeDir
	file string
	time time.Time
	size int64
	mark func(*reachability)
}

// Tidy removes what is older than MaxAge, then the oldest until the rest is within MaxBytes, then all
// objects that nothing refers to. It may run beside steps, here and in other processes; only one tidies
// at a time, and another returns at once. Wherever it is interrupted, what is left is whole.
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
	houses, err := s.worktreeDirs(ctx)
	if err != nil {
		return err
	}
	defer func() {
		for _, h := range houses {
			h.close(s)
		}
	}()
	var total int64
	var rooms []gcRoot
	for _, h := range houses {
		m := reachability{tree: h}
		h.markRoots(&m)
		total += m.bytes
		rooms = append(rooms, h.roots...)
	}
	slices.SortFunc(rooms, func(a, b gcRoot) int { return b.time.Compare(a.time) })
	age, most := s.limits()
	oldest := s.o.Now().Add(-age)
	full := false
	for _, r := range rooms {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if !full && !r.time.Before(oldest) {
			m := reachability{tree: r.tree}
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
	for _, h := range houses {
		if err := h.sweep(ctx); err != nil {
			return err
		}
	}
	return nil
}

// remove takes it away, unless it is a journal that a step has taken over since it was found dead.
func (r gcRoot) remove() error {
	if filepath.Dir(r.file) == r.tree.path(openDir) {
		f, err := os.OpenFile(r.file, os.O_RDWR, 0)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		defer f.Close() // until it is gone nobody else can have it
		if filelock.TryLock(f) != nil {
			return nil
		}
	}
	return r.tree.disk.remove(r.file)
}

// close lets go of a work tree that this process does not use.
func (h *worktreeDir) close(s *Store) {
	if s.loaded(h.dir) == nil {
		_ = h.sharedTree.objects.close() // it was only read
	}
}

// worktreeDirs reads what there is on disk.
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

// readWorktreeDir reads the directory of a work tree. Objects are listed before anything that refers to them is
// read, so that those of a step that ends meanwhile are too young to be judged.
func (s *Store) readWorktreeDir(dir string) (*worktreeDir, error) {
	h := &worktreeDir{sharedTree: s.loaded(dir), objects: map[oid]object{}}
	if h.sharedTree == nil {
		h.sharedTree = &sharedTree{store: s, disk: &s.disk, dir: dir, project: &project{}}
		h.sharedTree.objects = newObjects(&s.disk, filepath.Join(dir, objectsDir), h.project)
	}
	if err := h.list(); err != nil {
		return nil, err
	}
	lives, _ := os.ReadDir(h.path(liveDir)) // without it nobody is there
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

// addIndex adds what was known when nobody was there any more.
func (h *worktreeDir) addIndex(file string) {
	if info, err := os.Stat(file); err == nil {
		h.roots = append(h.roots, gcRoot{h, file, info.ModTime(), onDisk(info.Size()), func(m *reachability) { m.index(file) }})
	}
}

// addJournals adds the steps whose process died and that nobody has asked for.
func (h *worktreeDir) addJournals() {
	entries, _ := os.ReadDir(h.path(openDir))
	for _, e := range entries {
		file := h.path(openDir, e.Name())
		if info, err := e.Info(); err == nil && isDead(file) {
			h.roots = append(h.roots, gcRoot{h, file, info.ModTime(), onDisk(info.Size()), func(m *reachability) { m.journal(file) }})
		}
	}
}

// loaded is the work tree at a directory that this process uses; nil if it does not.
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

// list finds the objects, and removes what writers that were killed left behind.
func (h *worktreeDir) list() error {
	entries, err := os.ReadDir(h.path(objectsDir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, e := range entries {
		path := h.path(objectsDir, e.Name())
		info, err := e.Info()
		if err != nil {
			continue // it went meanwhile
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

// onDisk is what a file of a size takes.
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
			r = &record{} // damaged: as old as can be
		}
		if r == nil || len(r.Running) > 0 {
			continue
		}
		h.roots = append(h.roots, gcRoot{h, file, r.Time, onDisk(info.Size()), func(m *reachability) { m.record(r) }})
	}
	return nil
}

// removeDead takes away what dead processes left, and the directory of a work tree that nobody needs.
func (h *worktreeDir) removeDead() error {
	lives, _ := os.ReadDir(h.path(liveDir))
	for _, e := range lives {
		info, err := e.Info()
		file := h.path(liveDir, e.Name())
		if err != nil || isThere(file+indexSuffix) || !isDead(strings.TrimSuffix(file, indexSuffix)) || time.Since(info.ModTime()) < graceTime {
			return nil // in use, or it was just now
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
	if heaps, _ := os.ReadDir(h.path(objectsDir)); len(heaps) > 0 {
		return nil
	}
	for _, name := range [...]string{rootFile, lockFile} {
		if err := h.disk.remove(h.path(name)); err != nil {
			return err
		}
	}
	// Only empty ones go: somebody may have come meanwhile.
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
	houses, err := s.worktreeDirs(ctx)
	if err != nil {
		return Stats{}, fmt.Errorf("measure the snapshots: %w", err)
	}
	st := Stats{Worktrees: len(houses)}
	for _, h := range houses {
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
