package search

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/lathe-agent/lathe"
)

const (
	// maxWorkers is where more of them only wait for the same disk.
	maxWorkers = 16
	// batch is how many files of one directory a worker takes at once; the rest of a large
	// directory is for the others.
	batch = 128
)

// walk is one pass over a tree by several workers. Each takes a directory, lists it, gives its
// files to its visitor and leaves the directories below to idle workers.
type walk struct {
	root     string // absolute and real, with slashes
	volume   volume
	hidden   bool   // also names that begin with a dot
	all      bool   // also what is ignored
	excludes string // the file of what the user ignores everywhere
	// enter says whether a directory can hold anything of interest; nil is always.
	enter func(dir string) bool

	stop       atomic.Bool
	unreadable atomic.Int64

	mu    sync.Mutex
	work  *sync.Cond
	tasks []task
	busy  int
	err   error
}

// task is a directory to list, or files of it to visit.
type task struct {
	dir   string   // below the root, with slashes; "" is the root
	rules *ignores // that hold above it
	files []string // nil: to be listed
}

// visitor looks at files. Each worker has one of its own.
type visitor interface {
	visit(in folder, dir, name string)
}

// newWalk opens a tree. Root is a real path: one with a symlink in it is refused.
func newWalk(root string) (*walk, error) {
	if !filepath.IsAbs(root) {
		return nil, lathe.Errorf(lathe.Invalid, "search %q: the path is not absolute", root)
	}
	w := &walk{root: filepath.ToSlash(filepath.Clean(root))}
	if kernelDir(w.root) {
		return nil, lathe.Errorf(lathe.Invalid, "search %s: it shows the state of the kernel, not files, and reading there can wait for ever; search another directory", root)
	}
	w.work = sync.NewCond(&w.mu)
	var err error
	if w.volume, err = openVolume(root); err != nil {
		code := lathe.Unavailable
		if errors.Is(err, fs.ErrNotExist) {
			code = lathe.NotFound
		}
		return nil, lathe.Errorf(code, "search %s: %w", root, err)
	}
	return w, nil
}

// kernelDir reports whether a Linux directory holds only kernel files.
func kernelDir(dir string) bool {
	if runtime.GOOS != "linux" {
		return false
	}
	for _, d := range [...]string{"/proc", "/sys", "/dev"} {
		if rest, ok := strings.CutPrefix(dir, d); ok && (rest == "" || rest[0] == '/') {
			return true
		}
	}
	return false
}

// run visits all files and returns when every worker is done. Its error is that of ctx, or a
// bug; unreadable files are only counted. The walk cannot be run again.
func (w *walk) run(ctx context.Context, workers int, visitors func() visitor) error {
	defer w.volume.close()
	if workers <= 0 {
		workers = min(runtime.GOMAXPROCS(0), maxWorkers)
	}
	rules := &ignores{}
	if !w.all {
		rules = above(w.root, userRules(w.excludes))
	}
	w.tasks = append(w.tasks, task{rules: rules})
	defer context.AfterFunc(ctx, w.halt)()
	var group sync.WaitGroup
	for range workers {
		v := visitors()
		group.Go(func() { w.worker(v) })
	}
	group.Wait()
	if err := context.Cause(ctx); err != nil {
		return err
	}
	return w.err
}

// halt makes all workers stop at the next entry or block of a file.
func (w *walk) halt() {
	w.stop.Store(true)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.work.Broadcast()
}

func (w *walk) worker(v visitor) {
	defer func() {
		if r := recover(); r != nil { // no other code can catch it, and it must not end the process
			err := fmt.Errorf("search %s: %v\n%s", w.root, r, debug.Stack())
			w.mu.Lock()
			w.err = errors.Join(w.err, err)
			w.mu.Unlock()
			w.halt()
		}
	}()
	var list []entry
	for {
		t, ok := w.take()
		if !ok {
			return
		}
		list = w.do(t, v, list[:0])
		w.done()
	}
}

// take waits for a task. The newest comes first, so that few wait at any time.
func (w *walk) take() (task, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for len(w.tasks) == 0 && w.busy > 0 && !w.stop.Load() {
		w.work.Wait()
	}
	if len(w.tasks) == 0 || w.stop.Load() {
		return task{}, false
	}
	last := len(w.tasks) - 1
	t := w.tasks[last]
	w.tasks[last] = task{}
	w.tasks = w.tasks[:last]
	w.busy++
	return t, true
}

func (w *walk) done() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.busy--; w.busy == 0 && len(w.tasks) == 0 {
		w.work.Broadcast()
	}
}

func (w *walk) give(tasks []task) {
	if len(tasks) == 0 {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tasks = append(w.tasks, tasks...)
	if len(tasks) == 1 {
		w.work.Signal()
	} else {
		w.work.Broadcast()
	}
}

// do runs a task; list is a buffer for its entries, which it returns for reuse.
func (w *walk) do(t task, v visitor, list []entry) []entry {
	in, err := w.volume.folder(t.dir)
	if err != nil {
		w.countFailure(err)
		return list
	}
	defer in.close()
	if t.files == nil {
		if list, err = in.entries(list); err != nil {
			w.countFailure(err)
		}
		t.files = w.sift(t, in, list)
	}
	for _, name := range t.files {
		if w.stop.Load() {
			break
		}
		v.visit(in, t.dir, name)
	}
	return list
}

// sift gives away the directories among the entries, and returns the files to visit.
func (w *walk) sift(t task, in folder, list []entry) []string {
	at := w.root
	if t.dir != "" {
		at = joinPath(at, t.dir)
	}
	rules := w.rulesIn(t, in, at, list)
	var more []task
	files := make([]string, 0, len(list))
	for _, e := range list {
		if e.kind == other || e.name == gitDir || w.stop.Load() || w.skips(rules, at, e) {
			continue
		}
		if e.kind == file {
			files = append(files, e.name)
			continue
		}
		dir := joinPath(t.dir, e.name)
		if w.enter != nil && !w.enter(dir) || at == "/" && kernelDir("/"+e.name) {
			continue
		}
		more = append(more, task{dir: dir, rules: rules})
	}
	for len(files) > batch+batch/2 {
		more = append(more, task{dir: t.dir, rules: rules, files: files[len(files)-batch:]})
		files = files[:len(files)-batch]
	}
	w.give(more)
	return files
}

func (w *walk) rulesIn(t task, in folder, at string, list []entry) *ignores {
	if w.all {
		return t.rules
	}
	var has special
	for _, e := range list {
		if s := specialName(e.name); s != 0 && (s == hasGit || e.kind == file) {
			has |= s
		}
	}
	return t.rules.enter(at, has, func(name string) string {
		f, err := in.open(name)
		if err != nil {
			return ""
		}
		defer f.Close()
		return limited(f)
	})
}

// skips reports whether rules or a dot hide an entry of the directory at a path.
func (w *walk) skips(rules *ignores, at string, e entry) bool {
	v := unnamed
	if !w.all {
		v = rules.match(at, e.name, e.kind == directory)
	}
	return v == ignored || v == unnamed && !w.hidden && e.name[0] == '.'
}

// countFailure counts what could not be read. What has gone meanwhile is no failure.
func (w *walk) countFailure(err error) {
	if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, errNotRegular) {
		w.unreadable.Add(1)
	}
}

func joinPath(dir, name string) string {
	if dir == "" {
		return name
	}
	if dir[len(dir)-1] == '/' {
		return dir + name
	}
	return dir + "/" + name
}

// comparePaths orders paths as a tree is read: what is in a directory stays together.
func comparePaths(a, b string) int {
	for i := range min(len(a), len(b)) {
		if a[i] == b[i] {
			continue
		}
		if a[i] == '/' || b[i] != '/' && a[i] < b[i] {
			return -1
		}
		return 1
	}
	return len(a) - len(b)
}
