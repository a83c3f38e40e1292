package snapshot

import (
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/lathe-agent/lathe/workspace"
)

const (
	defaultAge   = 30 * 24 * time.Hour
	defaultBytes = 1 << 30
)

// Store stores the snapshots of many worktrees. Its methods are safe for concurrent use, and two
// processes may use one directory.
type Store struct {
	o    Options
	disk disk

	mu        sync.Mutex // guards the rest
	trees     map[string]*sharedTree
	worktrees map[[2]string]*Worktree
	wg        sync.WaitGroup // of background work
}

// New creates a store. It does not touch the disk.
func New(o Options) *Store {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	s := &Store{o: o, trees: map[string]*sharedTree{}, worktrees: map[[2]string]*Worktree{}}
	s.disk.before = o.OnWrite
	s.SetLimits(o.MaxAge, o.MaxBytes)
	return s
}

// Close waits for background work and saves the known state of the worktrees for the next process.
func (s *Store) Close() error {
	s.wg.Wait()
	s.mu.Lock()
	trees := s.trees
	s.trees, s.worktrees = map[string]*sharedTree{}, map[[2]string]*Worktree{}
	s.mu.Unlock()
	var errs []error
	for _, t := range trees {
		errs = append(errs, t.close())
	}
	return errors.Join(errs...)
}

// Worktree returns the worktree of a place: the top of its checkout, or its directory without git. Walks
// stay below the directory. The same place returns the same Worktree.
func (s *Store) Worktree(p workspace.Place) *Worktree {
	directory := real(p.Directory)
	root := directory
	if p.VCS == "git" && p.Sandbox != "" && workspace.Inside(p.Sandbox, directory) {
		root = p.Sandbox
	}
	below, err := filepath.Rel(root, directory)
	if err != nil || below == "." {
		below = ""
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	key := [2]string{root, below}
	if w, ok := s.worktrees[key]; ok {
		return w
	}
	t, ok := s.trees[root]
	if !ok {
		t = s.newTree(root, p)
		s.trees[root] = t
	}
	w := &Worktree{t: t, below: filepath.ToSlash(below)}
	s.worktrees[key] = w
	return w
}

func real(path string) string {
	if resolved, err := filepath.EvalSymlinks(path); err == nil {
		return resolved
	}
	return path
}

func (s *Store) newTree(root string, p workspace.Place) *sharedTree {
	sum := sha1.Sum([]byte(root))
	t := &sharedTree{
		store: s, disk: &s.disk, root: root, project: &project{},
		dir:     filepath.Join(s.o.Dir, fileName(p.ProjectID), hex.EncodeToString(sum[:])),
		walking: make(chan struct{}, 1),
		touched: map[string]touch{},
		open:    map[string]*Step{},
	}
	if root == p.Sandbox {
		if own, common, ok := p.GitDirs(); ok {
			t.project.own, t.project.common = own, common
		}
	}
	t.objects = newObjects(t.disk, filepath.Join(t.dir, objectsDir), t.project)
	t.objects.packSize = min(packSize, max(s.o.MaxBytes/32, 4<<10)) // Tidy does not touch a packfile in use
	return t
}

// isPlain reports whether a key consists of letters, digits, _ and -, and begins with a letter or digit.
func isPlain(key string) bool {
	for i, c := range []byte(key) {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if !letter && (i == 0 || c != '_' && c != '-') {
			return false
		}
	}
	return key != "" && len(key) <= 101
}

// fileName turns a key into a file name: the key itself if it is safe.
func fileName(key string) string {
	if isPlain(key) && strings.ToLower(key) != "con" {
		return key
	}
	sum := sha1.Sum([]byte(key))
	return "_" + hex.EncodeToString(sum[:])
}

// background runs f in the background until Close.
func (s *Store) background(f func()) { s.wg.Go(f) }

// SetLimits sets the maximum age and size, starting with the next Tidy. Zero is the default.
func (s *Store) SetLimits(age time.Duration, bytes int64) {
	if age <= 0 {
		age = defaultAge
	}
	if bytes <= 0 {
		bytes = defaultBytes
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.o.MaxAge, s.o.MaxBytes = age, bytes
}

// limits returns the maximum age and size.
func (s *Store) limits() (age time.Duration, bytes int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.o.MaxAge, s.o.MaxBytes
}
