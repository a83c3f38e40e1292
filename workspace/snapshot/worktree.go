package snapshot

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/lathe-agent/lathe/internal/filelock"
	"github.com/lathe-agent/lathe/workspace"
	"github.com/lathe-agent/lathe/workspace/search"
)

// The entries in the directory of a worktree.
const (
	rootFile   = "root"    // its path, for people
	indexFile  = "index"   // the known state at the end of the last process
	lockFile   = "lock"    // locked while files of the worktree are replaced
	objectsDir = "objects" // contents and trees
	stepsDir   = "steps"   // a record for each step
	openDir    = "open"    // a journal for each step that runs
	undoDir    = "undo"    // applied changes that can be reverted
	liveDir    = "live"    // a lock and an index for each process
)

// saveEvery is how often the known state is saved while steps run.
const saveEvery = 30 * time.Second

// refuseTime is how long a too large tree is not ensureWalked again.
const refuseTime = 10 * time.Minute

// Worktree is the view of a session on a worktree.
type Worktree struct {
	t     *sharedTree
	below string // limit of walks, with slashes; "" is the whole tree
}

// sharedTree is the state that all sessions of one worktree share.
type sharedTree struct {
	store   *Store
	disk    *disk
	root    string // real
	dir     string // its directory in the store
	project *project
	objects *objects
	walking chan struct{} // allows one walk at a time

	once sync.Once // for load
	live live

	mu      sync.Mutex // guards the rest
	known   *dir
	rules   *search.GitRules // from info/exclude and the user's gitignore
	exclude excluded
	seq     uint64           // sequence number of states
	touched map[string]touch // paths that tools wrote during a command window
	open    map[string]*Step // paths that tools are about to write
	windows int
	dirty   bool // known is not saved
	saved   time.Time
	saving  bool

	refused   error // why the tree cannot be ensureWalked
	refusedAt time.Time
}

// touch records which step last captured a path.
type touch struct {
	seq  uint64
	step *Step
}

// live shows other processes that this one uses the worktree.
type live struct {
	file *os.File
	name string
}

func (t *sharedTree) path(parts ...string) string {
	return filepath.Join(append([]string{t.dir}, parts...)...)
}

// rel returns the path below the root with slashes. It reports false for paths outside and in .git.
func (t *sharedTree) rel(file string) (string, bool) {
	file = filepath.FromSlash(file)
	if !filepath.IsAbs(file) || !workspace.Inside(t.root, file) {
		return "", false
	}
	rel, err := filepath.Rel(t.root, file)
	if err != nil || rel == "." {
		return "", false
	}
	rel = filepath.ToSlash(rel)
	for name := range strings.SplitSeq(rel, "/") {
		if strings.EqualFold(name, repoDir) {
			return "", false
		}
	}
	return rel, true
}

// ownDirs returns lathe's own directories in the worktree, which a home directory can contain. Changes
// there are not the user's.
func (t *sharedTree) ownDirs() []string {
	var own []string
	dir := real(t.store.o.Dir)
	for _, dir := range [...]string{dir, filepath.Dir(dir)} {
		if rel, err := filepath.Rel(t.root, dir); err == nil && rel != "." && filepath.IsLocal(rel) {
			own = append(own, filepath.ToSlash(rel))
		}
	}
	return own
}

// abs returns the absolute path used in patches.
func (t *sharedTree) abs(rel string) string { return path.Join(filepath.ToSlash(t.root), rel) }

// spelled reports whether the disk has exactly this file name. On a case-insensitive disk, another
// spelling is another file.
func (t *sharedTree) spelled(rel string) bool {
	full := filepath.Join(t.root, filepath.FromSlash(rel))
	dir, err := workspace.Resolve(t.root, filepath.Dir(full))
	if err != nil {
		return true
	}
	info, err := os.Lstat(full)
	if err != nil || info.Mode()&fs.ModeSymlink != 0 {
		return true
	}
	f, err := workspace.Resolve(dir.Path, filepath.Base(full))
	return err != nil || filepath.Base(f.Path) == filepath.Base(full)
}

// load loads the known state, once. A failure only costs time later.
func (t *sharedTree) load() {
	t.once.Do(func() {
		if err := t.enter(); err != nil {
			t.store.o.Log.Warn("cannot store snapshots of a directory", "dir", t.root, "error", err)
		}
		if err := t.objects.find(); err != nil {
			t.store.o.Log.Warn("cannot read snapshots", "dir", t.root, "error", err)
		}
		known, err := t.readIndexes()
		if known == nil {
			known = t.seed()
		}
		if err != nil {
			t.store.o.Log.Debug("read the snapshot index", "dir", t.root, "error", err)
		}
		t.mu.Lock()
		t.known, t.saved = known, time.Now()
		t.mu.Unlock()
		t.revertInterruptedOnce()
	})
}

// enter creates the directory and marks it as used by this process.
func (t *sharedTree) enter() error {
	if err := os.MkdirAll(t.path(liveDir), 0o700); err != nil {
		return err
	}
	if _, err := os.Lstat(t.path(rootFile)); errors.Is(err, fs.ErrNotExist) {
		if err := t.disk.write(t.path(rootFile), []byte(t.root+"\n"), false); err != nil {
			return err
		}
	}
	t.live.name = strconv.FormatUint(rand.Uint64(), 36)
	f, err := os.OpenFile(t.path(liveDir, t.live.name), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	if err := filelock.TryLock(f); err != nil {
		return errors.Join(err, f.Close())
	}
	t.live.file = f
	// Protect the objects of the current index from Tidy, even after the index is replaced.
	_ = os.Link(t.path(indexFile), t.path(liveDir, t.live.name+indexSuffix)) // a failure only means less protection
	return nil
}

// lock prevents other processes from changing files of the worktree and undo records.
func (t *sharedTree) lock(ctx context.Context) (func(), error) {
	if err := os.MkdirAll(t.dir, 0o700); err != nil {
		return nil, fmt.Errorf("lock the snapshots of %s: %w", t.root, err)
	}
	return filelock.Lock(ctx, t.path(lockFile))
}

// walk updates the known state below a path.
func (t *sharedTree) walk(ctx context.Context, below string) error {
	t.load()
	select {
	case t.walking <- struct{}{}:
		defer func() { <-t.walking }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	rules := t.rootRules()
	t.mu.Lock()
	base, refused := t.known, t.refused
	if time.Since(t.refusedAt) > refuseTime {
		refused = nil
	}
	t.mu.Unlock()
	if refused != nil {
		return refused
	}
	_, most := t.store.limits()
	w := &walker{
		root: filepath.ToSlash(t.root), objects: t.objects, gitIndex: t.project.index(), own: t.ownDirs(),
		budget: most / 2, newcome: maxFresh,
	}
	next, err := w.walk(ctx, base, below, rules)
	t.mu.Lock()
	defer t.mu.Unlock()
	if errors.Is(err, errTooMuch) {
		t.refused, t.refusedAt = err, time.Now()
	}
	if err != nil {
		return err
	}
	if t.known != base { // tools wrote meanwhile, and their state is newer
		compareAll(base, t.known, func(path string, it item) { next = next.with(path, it) })
	}
	if next != t.known {
		t.known, t.dirty = next, true
	}
	return nil
}

// compareAll calls set for each path whose item changed, even if only its stat did.
func compareAll(a, b *dir, set func(path string, it item)) {
	compare(a, b, "", func(path string, _, y *item) {
		if y == nil {
			set(path, item{})
		} else {
			set(path, *y)
		}
	})
}

// note sets the known item of a path and returns the new sequence number.
func (t *sharedTree) note(rel string, it item, step *Step) uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.seq++
	it.flags |= unfiltered
	if it.mode == 0 {
		it.flags = 0
	}
	old, _ := t.known.at(rel)
	if isDir := old != nil && old.sub != nil; !sameKnown(old, &it) && (it.mode != 0 || !isDir) {
		t.known, t.dirty = t.known.with(rel, it), true
	}
	if step != nil && t.windows > 0 {
		t.touched[rel] = touch{t.seq, step}
	}
	return t.seq
}

// opening records that a tool of a step is about to write a path, until closing.
func (t *sharedTree) opening(rel string, st *Step) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.open[rel] = st
}

func (t *sharedTree) closing(rel string, st *Step) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.open[rel] == st {
		delete(t.open, rel)
	}
}

// closeAll removes the open paths of an ended step.
func (t *sharedTree) closeAll(st *Step) {
	t.mu.Lock()
	defer t.mu.Unlock()
	maps.DeleteFunc(t.open, func(_ string, by *Step) bool { return by == st })
}

// sameKnown reports whether an item equals the known one.
func sameKnown(old, it *item) bool {
	if old == nil || it.mode == 0 || old.sub != nil {
		return old == nil && it.mode == 0
	}
	return old.mode == it.mode && old.id == it.id && old.stat == it.stat && (old.flags|unfiltered) == it.flags
}

// moment returns the known state and a new sequence number.
func (t *sharedTree) moment() (*dir, uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.seq++
	return t.known, t.seq
}

// saveSoon saves the known state in the background if the last save is old.
func (t *sharedTree) saveSoon() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.dirty || t.saving || t.live.file == nil || time.Since(t.saved) < saveEvery {
		return
	}
	t.saving = true
	t.store.background(func() {
		if err := t.save(t.path(liveDir, t.live.name+indexSuffix)); err != nil {
			t.store.o.Log.Debug("save the snapshot index", "dir", t.root, "error", err)
		}
		t.mu.Lock()
		defer t.mu.Unlock()
		t.saving = false
	})
}

func (t *sharedTree) close() error {
	var errs []error
	t.mu.Lock()
	dirty := t.dirty
	t.mu.Unlock()
	if t.live.file != nil {
		if dirty {
			errs = append(errs, t.save(t.path(indexFile)))
		}
		errs = append(errs,
			t.disk.remove(t.path(liveDir, t.live.name+indexSuffix)),
			t.disk.remove(t.path(liveDir, t.live.name)),
			t.live.file.Close())
	}
	return errors.Join(append(errs, t.objects.close(), t.project.close())...)
}
