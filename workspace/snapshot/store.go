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

// Store keeps the snapshots of many work trees. Its methods may be called from many goroutines, and
// two processes may use one directory.
type Store struct {
	o    Options
	disk disk

	mu        sync.Mutex // guards the rest
	trees     map[string]*sharedTree
	worktrees map[[2]string]*Worktree
	wg        sync.WaitGroup // of all that runs beside a call
}

// New makes a store. It touches no disk.
func New(o Options) *Store {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	s := &Store{o: o, trees: map[string]*sharedTree{}, worktrees: map[[2]string]*Worktree{}}
	s.SetLimits(o.MaxAge, o.MaxBytes)
	return s
}

// Close waits for what runs and saves what is known of the work trees, so that the next process need
// not read them anew.
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

// Worktree is the work tree of a place: the top of its checkout, or its directory without git. Walks stay
// below the directory. The same place gives the same Work.
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
	t.objects.packSize = min(packSize, max(s.o.MaxBytes/32, 4<<10)) // what is being written is not tidied
	return t
}

// isPlain reports whether a key is made of letters, digits, _ and - and begins with one of the
// first two.
func isPlain(key string) bool {
	for i, c := range []byte(key) {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if !letter && (i == 0 || c != '_' && c != '-') {
			return false
		}
	}
	return key != "" && len(key) <= 101
}

// fileName makes a key a name of a file: itself where that is harmless.
func fileName(key string) string {
	if isPlain(key) && strings.ToLower(key) != "con" {
		return key
	}
	sum := sha1.Sum([]byte(key))
	return "_" + hex.EncodeToString(sum[:])
}

// go runs f beside the caller until Close.
func (s *Store) beside(f func()) { s.wg.Go(f) }

// SetLimits changes how long and how much is kept, from the next tidying on; zero is the default.
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

// limits are how long and how much is kept.
func (s *Store) limits() (age time.Duration, bytes int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.o.MaxAge, s.o.MaxBytes
}
