package snapshot

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/internal/gitobj"
	"github.com/lathe-agent/lathe/workspace"
	"github.com/lathe-agent/lathe/workspace/search"
)

const (
	// maxUntracked is the largest file to store that git does not track.
	maxUntracked = 2 << 20
	// maxFresh is how many untracked files a walk accepts, because a home directory is no project.
	maxFresh = 200_000
	// maxDepth limits the depth of a walk; every level keeps a directory open.
	maxDepth = 256
	// maxWorkers limits workers, because more would only wait for the same disk.
	maxWorkers = 8
	scanBuffer = 32 << 10
	repoDir    = ".git"
)

// listed is a directory entry.
type listed struct {
	name string
	kind entryKind
	old  int // its position among the known items; -1 if it is new
}

type entryKind uint8

const (
	aSpecial entryKind = iota // never opened
	aFile
	aLink
	aFolder
)

// walker is one walk, which compares the known state of a tree with the disk.
type walker struct {
	root     string // with slashes
	objects  *objects
	gitIndex gitIndex
	budget   int64    // bytes that may be stored
	newcome  int64    // files that may be new
	own      []string // lathe's own directories, which are skipped

	tokens  chan struct{} // limits the helpers
	buffers sync.Pool     // of *walkBuffers
	stop    atomic.Bool
	stored  atomic.Int64
	fresh   atomic.Int64
	mu      sync.Mutex
	err     error // the first error
}

type walkBuffers struct {
	scan [scanBuffer]byte
	list []listed
}

// errTooMuch means that a tree is too large for a snapshot.
var errTooMuch = errors.New("too large for a snapshot")

// errNested means that a directory is another repository.
var errNested = errors.New("another repository")

// walk reads the tree below a path and returns the new state of the whole tree.
func (w *walker) walk(ctx context.Context, known *dir, below string, rules *search.GitRules) (*dir, error) {
	w.tokens = make(chan struct{}, min(runtime.GOMAXPROCS(0), maxWorkers)-1)
	w.buffers.New = func() any { return &walkBuffers{} }
	defer context.AfterFunc(ctx, func() { w.stop.Store(true) })()
	top, err := openHandle(w.root)
	if err != nil {
		return nil, lathe.Errorf(lathe.Unavailable, "read the files of %s: %w", w.root, err)
	}
	defer top.close()
	next, err := w.descend(top, "", below, known, rules)
	if cause := context.Cause(ctx); cause != nil {
		return nil, cause
	}
	return next, errors.Join(err, w.err)
}

// descend goes down to the directory of a walk.
func (w *walker) descend(h handle, path, below string, known *dir, above *search.GitRules) (*dir, error) {
	if below == "" {
		return w.dir(h, path, known, above)
	}
	name, rest, _ := strings.Cut(below, "/")
	rules := w.rulesIn(h, path, known, above)
	if rules.Ignores(w.abs(path), name, true) {
		return known, nil
	}
	in, err := h.open(name)
	if err != nil {
		return known, nil
	}
	defer in.close()
	var sub *dir
	if it := known.get(name); it != nil {
		sub = it.sub
	}
	next, err := w.descend(in, join(path, name), rest, sub, rules)
	if err != nil || next == sub {
		return known, err
	}
	return known.with(name, item{sub: next}), nil
}

func (w *walker) abs(path string) string {
	if path == "" {
		return w.root
	}
	return join(w.root, path)
}

func join(dir, name string) string {
	if dir == "" {
		return name
	}
	if dir[len(dir)-1] == '/' {
		return dir + name
	}
	return dir + "/" + name
}

// rulesIn returns the ignore rules of a directory, the previous ones if nothing changed.
func (w *walker) rulesIn(h handle, path string, known *dir, above *search.GitRules) *search.GitRules {
	s, mode, err := h.lstat(search.GitIgnoreFile)
	has := err == nil && mode&kindMask == 0o100000
	if known != nil && known.rules != nil && known.above == above {
		it := known.get(search.GitIgnoreFile)
		if !has && known.rules == above {
			return above
		}
		if has && it.isFile() && it.stat == s && !it.is(racy) && known.rules != above {
			return known.rules
		}
	}
	if !has {
		return above
	}
	data, _, _, _, err := h.read(search.GitIgnoreFile, aFile)
	if err != nil || len(data) == 0 {
		return above
	}
	return above.Enter(w.abs(path), string(data))
}

// dir reads a directory and all below it.
func (w *walker) dir(h handle, path string, known *dir, above *search.GitRules) (*dir, error) {
	buf := w.buffers.Get().(*walkBuffers)
	defer w.buffers.Put(buf)
	list, err := h.list(known, buf.list[:0], &buf.scan)
	buf.list = list
	if err != nil {
		return nil, err
	}
	hasRules := false
	for i := range list {
		hasRules = hasRules || list[i].name == search.GitIgnoreFile
		if list[i].name == repoDir && path != "" && list[i].kind != aSpecial {
			return nil, errNested
		}
	}
	rules := above
	if hasRules {
		rules = w.rulesIn(h, path, known, above)
	}
	scan := scan{walker: w, h: h, path: path, known: known, rules: rules, seen: make([]bool, known.len())}
	scan.trusted = known != nil && known.rules == rules
	for i := range list {
		if w.stop.Load() {
			break
		}
		if list[i].name != repoDir {
			scan.entry(&list[i])
		}
	}
	scan.below.Wait()
	return scan.result(above), nil
}

// scan reads one directory.
type scan struct {
	*walker
	h       handle
	path    string
	known   *dir
	rules   *search.GitRules
	trusted bool // the rules did not change since the last walk
	seen    []bool
	added   []item // new items, and replacements of known ones
	below   sync.WaitGroup
	mu      sync.Mutex // guards added while helpers run
}

func (s *scan) add(it item) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.added = append(s.added, it)
}

// entry processes one entry.
func (s *scan) entry(e *listed) {
	var old *item
	if e.old >= 0 {
		old = &s.known.items[e.old]
		s.seen[e.old] = true
	}
	if s.isIgnored(e, old) {
		s.pass(e, old, ignored)
		return
	}
	switch e.kind {
	case aFolder:
		s.folder(e, old)
	case aFile, aLink:
		s.file(e, old)
	default:
		s.pass(e, old, 0)
	}
}

// isIgnored checks the ignore rules, unless the known item already has the answer.
func (s *scan) isIgnored(e *listed, old *item) bool {
	isDir := e.kind == aFolder
	if !isDir && workspace.IsTempName(e.name) {
		return true // of a tool that writes beside a command
	}
	if s.trusted && old != nil && !old.is(unfiltered) {
		if wasDir := old.sub != nil || old.is(folder) || old.mode == modeRepo; wasDir == isDir {
			return old.is(ignored)
		}
	}
	return s.rules.Ignores(s.abs(s.path), e.name, isDir)
}

// pass records an entry that is skipped.
func (s *scan) pass(e *listed, old *item, why itemFlags) {
	if e.kind == aFolder {
		why |= folder
	}
	if old.passed() && old.flags == why {
		return
	}
	s.add(item{name: e.name, flags: why})
}

// folder reads a directory, in a helper if one is free.
func (s *scan) folder(e *listed, old *item) {
	name, place := e.name, e.old
	path := join(s.path, name)
	if s.path == "" && kernelDir(s.abs(path)) || slices.Contains(s.own, path) || strings.Count(path, "/") > maxDepth {
		s.pass(e, old, 0)
		return
	}
	if old == nil || old.mode == modeRepo {
		if there, ok := s.gitIndex.find(path); ok && there.Mode == modeRepo {
			if id, ok := there.ID.SHA1(); ok && (old == nil || old.id != id) {
				s.add(item{name: name, mode: modeRepo, id: id})
			}
			return
		}
	}
	select {
	case s.tokens <- struct{}{}:
		s.below.Go(func() {
			defer func() { <-s.tokens }()
			s.read(listed{name, aFolder, place}, path, old)
		})
	default:
		s.read(listed{name, aFolder, place}, path, old)
	}
}

func (s *scan) read(e listed, path string, old *item) {
	defer func() {
		if r := recover(); r != nil { // no caller could recover it
			s.fail(fmt.Errorf("look at %s: %v", path, r))
		}
	}()
	var known *dir
	if old != nil {
		known = old.sub
	}
	in, err := s.h.open(e.name)
	if err == nil {
		defer in.close()
		var next *dir
		if next, err = s.dir(in, path, known, s.rules); err == nil {
			if next != known || old == nil || old.flags != 0 {
				s.add(item{name: e.name, sub: next})
			}
			return
		}
	}
	switch {
	case isGone(err):
		if e.old >= 0 {
			s.seen[e.old] = false
		}
	case errors.Is(err, errNested) || known == nil:
		s.pass(&e, old, 0)
	default: // an entry that was readable before does not count as deleted
	}
}

func (w *walker) fail(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil {
		w.err = err
	}
	w.stop.Store(true)
}

// file processes a file or link.
func (s *scan) file(e *listed, old *item) {
	now, mode, err := s.h.lstat(e.name)
	if err != nil {
		if isGone(err) && e.old >= 0 {
			s.seen[e.old] = false
		}
		return
	}
	if mode == 0 {
		s.pass(e, old, 0)
		return
	}
	if old.isFile() && old.mode == mode && old.stat == now && old.flags&(racy|unfiltered|pinned) == 0 {
		return
	}
	it := s.renew(e, old, now, mode)
	if it.mode == 0 {
		s.pass(e, old, 0)
		return
	}
	if old == nil || *old != it {
		s.add(it)
	}
}

// renew returns the item of a file that changed.
func (s *scan) renew(e *listed, old *item, now stat, mode uint32) item {
	it := item{name: e.name, mode: mode, stat: now}
	path := join(s.path, e.name)
	entry, tracked := s.gitIndex.find(path)
	switch {
	case now.size > maxUntracked && !tracked && !old.isFile():
		return item{}
	case now.size > maxContent:
		it.flags = lost
		return it
	}
	looksClean := tracked && s.gitIndex.clean(entry, now, mode)
	if looksClean && s.gitIndex.exact {
		if id, ok := entry.ID.SHA1(); ok && s.objects.repo.has(id) {
			it.id = id
			return it
		}
	}
	return s.content(e, old, it, looksClean)
}

// content reads a file for its item, and reads it again if it changes meanwhile.
func (s *scan) content(e *listed, old *item, it item, looksClean bool) item {
	for try := 0; ; try++ {
		data, st, mode, steady, err := s.h.read(e.name, e.kind)
		if err != nil || mode == 0 || data == nil && st.size > maxContent {
			if errors.Is(err, fs.ErrPermission) && old.isFile() {
				return *old
			}
			return item{}
		}
		if !steady && try < 3 {
			continue
		}
		it.stat, it.mode, it.id = st, mode, hashObject(gitobj.BlobKind, data)
		if !steady || st.racy(time.Now()) {
			it.flags |= racy
		}
		if (!old.isFile() || old.id != it.id) && !s.keep(&it, data, looksClean) {
			it.flags |= lost
			it.id = oid{}
		}
		return it
	}
}

// keep stores a content as an object. It does not store a large content that a filter produced, which
// the project has in another form.
func (s *scan) keep(it *item, data []byte, filtered bool) bool {
	if s.objects.repo.has(it.id) {
		return true
	}
	if filtered && len(data) > maxUntracked {
		return false
	}
	if s.stored.Add(int64(len(data))) > s.budget || s.fresh.Add(1) > s.newcome {
		s.fail(lathe.Errorf(lathe.Unavailable, "too many files below %s to snapshot for undo (over %d MB or %d untracked files): %w; start in a smaller directory, or add files that are not yours to .gitignore", s.root, s.budget>>20, s.newcome, errTooMuch))
		return false
	}
	if err := s.objects.keep(it.id, gitobj.BlobKind, data); err != nil {
		s.fail(err)
		return false
	}
	return true
}

// result builds the directory, or returns the known one if nothing changed.
func (s *scan) result(above *search.GitRules) *dir {
	missing := 0
	for i, seen := range s.seen {
		if seen {
			continue
		}
		missing++
		if kept, ok := s.absent(&s.known.items[i], s.path); ok {
			s.added = append(s.added, kept)
		}
	}
	if len(s.added) == 0 && missing == 0 && s.known != nil && s.known.rules == s.rules && s.known.above == above {
		return s.known
	}
	next := &dir{above: above, rules: s.rules}
	next.items = make([]item, 0, len(s.seen)-missing+len(s.added))
	replaced := make(map[string]bool, len(s.added))
	for i := range s.added {
		replaced[s.added[i].name] = true
	}
	for i, seen := range s.seen {
		if seen && !replaced[s.known.items[i].name] {
			next.items = append(next.items, s.known.items[i])
		}
	}
	next.items = append(next.items, s.added...)
	slices.SortFunc(next.items, func(a, b item) int { return strings.Compare(a.name, b.name) })
	return next
}

// absent returns the remaining item of a file that git deliberately does not check out.
func (s *scan) absent(it *item, path string) (item, bool) {
	path = join(path, it.name)
	if it.sub == nil {
		if e, ok := s.gitIndex.find(path); ok && e.Skip && it.isFile() {
			kept := *it
			kept.flags = pinned
			return kept, true
		}
		return item{}, false
	}
	if e, ok := s.gitIndex.find(path + "/"); ok && e.Mode == modeTree { // a sparse index names the whole directory
		return *it, true
	}
	kept := &dir{}
	for i := range it.sub.items {
		if below, ok := s.absent(&it.sub.items[i], path); ok {
			kept.items = append(kept.items, below)
		}
	}
	return item{name: it.name, sub: kept}, len(kept.items) > 0
}

// kernelDir reports whether a Linux directory holds no user files.
func kernelDir(path string) bool {
	return runtime.GOOS == "linux" && (path == "/proc" || path == "/sys" || path == "/dev")
}
