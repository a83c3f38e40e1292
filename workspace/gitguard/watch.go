package gitguard

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/lathe-agent/lathe/internal/gitobj"
)

// Watch monitors one project while commands run in it. Files that exist when the first of them
// starts are the user's. Later files may come from a command and must pass the checks until no
// command runs anymore.
//
// It does not look at the repositories that were there: the sandbox keeps commands from writing
// what matters in them.
type Watch struct {
	// Trees is where lathe makes work trees for sessions; "" means nowhere. It is set before the first command.
	Trees string

	root  string
	aside func(path string) error
	held  heldFiles

	mu       sync.Mutex
	place    RepoDirs
	live     int // commands that are not gone
	known    folders
	original map[string]stamp
	made     []found             // at the last look, without the originals
	execs    map[string][]string // lines of files that the user has
	head     string              // content of HEAD
	links    []string            // the gitlinks of the index, at
	linksAt  stamp
	lately   struct {
		repos []found
		at    time.Time
	} // the last search for repositories
	obeyed map[string]stamp // guarded files in folders of the project
}

// RepoDirs is where the repository of a project lies.
type RepoDirs struct {
	Own    string // the folder of its work tree: HEAD, index; "" means that there is no repository
	Common string // the folder that all work trees share
}

// MaxProtected is how many repositories inside of a project the sandbox protects.
const MaxProtected = 100

// NewWatch makes one for a project. Aside moves a file or folder away without destroying it and
// without following links.
func NewWatch(root string, aside func(path string) error) *Watch {
	return &Watch{root: root, aside: aside, held: heldFiles{aside: aside}, original: map[string]stamp{}, execs: map[string][]string{}}
}

// Begin is called before a command starts.
func (w *Watch) Begin(p RepoDirs, u Unwatched) []Finding {
	w.mu.Lock()
	defer w.mu.Unlock()
	quiet := w.live == 0
	w.live++
	w.place = p
	repos := w.lately.repos
	if !quiet || time.Since(w.lately.at) > lately {
		repos = w.repos()
	}
	if quiet {
		w.remember(repos, u)
		w.obeyed = w.obeyedNow()
		maps.DeleteFunc(w.obeyed, func(_ string, at stamp) bool { return !u.Since.IsZero() && !at.time.Before(u.Since) })
	}
	return w.check(repos)
}

// Protect looks after configuration files until no command is left. It is called after Begin.
func (w *Watch) Protect(files []string) { w.held.hold(files) }

// Repositories finds the repositories inside of the project, as Begin does, without beginning anything.
func (w *Watch) Repositories() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lately.repos, w.lately.at = w.repos(), time.Now()
	return w.inside(w.lately.repos)
}

// lately is how long what Inside found is good for Begin, which most often follows at once.
const lately = 100 * time.Millisecond

func (w *Watch) inside(repos []found) (paths []string) {
	for _, r := range repos {
		if r.path != filepath.Join(w.root, ".git") && r.path != w.root && len(paths) < MaxProtected {
			paths = append(paths, r.path)
		}
	}
	return paths
}

// Check inspects all files that a command may have made. One that is not full looks only at
// what is known and at the top of the project.
func (w *Watch) Check(full bool) []Finding {
	w.mu.Lock()
	defer w.mu.Unlock()
	held := w.held.take()
	if full {
		return append(held, w.check(w.repos())...)
	}
	repos := slices.Clone(w.made)
	if f, _ := list(w.root); f.bare {
		repos = append(repos, found{path: w.root, bare: true})
	}
	if dot := filepath.Join(w.root, ".git"); exists(dot) {
		repos = append(repos, found{path: dot})
	}
	return append(held, w.check(repos)...)
}

// End is called when nothing of a command is left.
func (w *Watch) End() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.live--; w.live == 0 {
		w.held.release()
	}
}

// repos finds the repositories of the project: those in it, and the gitlinks where not all folders
// were looked at, since git goes into these by itself.
func (w *Watch) repos() []found {
	repos, complete := w.known.look(w.root)
	if complete || w.place.Own == "" {
		return repos
	}
	index := filepath.Join(w.place.Own, "index")
	info, err := os.Lstat(index)
	if err != nil {
		return repos
	}
	if at := stampOf(info); at != w.linksAt {
		w.links, w.linksAt = gitobj.Gitlinks(index), at
	}
	for _, link := range w.links {
		path := filepath.Join(w.root, filepath.FromSlash(link), ".git")
		if exists(path) && !slices.ContainsFunc(repos, func(f found) bool { return f.path == path }) {
			repos = append(repos, found{path: path})
		}
	}
	return repos
}

// remember takes what is there for the user's, but for what changed since a time and was not protected.
func (w *Watch) remember(repos []found, u Unwatched) {
	clear(w.original)
	clear(w.execs)
	w.head = ""
	users := func(path string) bool {
		return u.Since.IsZero() || slices.Contains(u.Protected, filepath.Join(path, "config")) || changedAt(path).Before(u.Since)
	}
	for i, r := range repos {
		if users(r.path) {
			w.original[r.path] = identity(r.path, i < MaxProtected)
		}
	}
	for _, dir := range slices.Concat(w.worktrees(), Modules(w.modules())) {
		if users(dir) {
			w.original[dir] = identity(dir, true)
		}
	}
	if u.Since.IsZero() {
		for _, file := range w.todos() {
			if data, err := readRegular(file); err == nil {
				w.execs[file] = execLines(data)
			}
		}
	}
}

// identity distinguishes repositories under the same name. Of one that is not held its
// configuration counts too.
func identity(path string, held bool) stamp {
	info, err := os.Lstat(path)
	if err != nil {
		return stamp{}
	}
	at := stamp{inode: stampOf(info).inode}
	if config, err := os.Lstat(filepath.Join(path, "config")); err == nil && !held {
		at.time = stampOf(config).time
	}
	return at
}

// changedAt is when a repository or what it obeys was last changed.
func changedAt(path string) (last time.Time) {
	for _, name := range []string{"", "config", "config.worktree", "commondir", "hooks"} {
		if info, err := os.Lstat(filepath.Join(path, name)); err == nil {
			if at := stampOf(info).time; at.After(last) {
				last = at
			}
		}
	}
	return last
}

func (w *Watch) isOriginal(path string) bool {
	was, ok := w.original[path]
	return ok && (was == identity(path, true) || was == identity(path, false))
}

func (w *Watch) check(repos []found) []Finding {
	x := &inspector{root: w.root, common: w.place.Common, trees: w.Trees, aside: w.aside}
	w.made = nil
	for _, r := range repos {
		if w.isOriginal(r.path) {
			continue
		}
		w.made = append(w.made, r)
		if r.bare {
			x.folder(r.path, "")
		} else {
			x.repository(r.path)
		}
	}
	for _, dir := range w.worktrees() {
		if !w.isOriginal(dir) {
			x.inspectLinked(dir)
		}
	}
	for _, dir := range Modules(w.modules()) {
		if !w.isOriginal(dir) {
			x.folder(dir, w.root)
		}
	}
	w.keepHead(x)
	w.keepTodos(x)
	return x.found
}

func (w *Watch) worktrees() (dirs []string) {
	if w.place.Common == "" {
		return nil
	}
	top := filepath.Join(w.place.Common, "worktrees")
	entries, _ := os.ReadDir(top) // most often there is none
	for _, e := range entries {
		if !strings.Contains(e.Name(), ".refused-") {
			dirs = append(dirs, filepath.Join(top, e.Name()))
		}
	}
	return dirs
}

func (w *Watch) modules() string {
	if w.place.Common == "" {
		return ""
	}
	return filepath.Join(w.place.Common, "modules")
}

// Modules finds the repositories of submodules in a folder, whose names may have slashes.
func Modules(top string) (out []string) {
	if top == "" {
		return nil
	}
	looked := 0
	for next := []string{top}; len(next) > 0; next = next[1:] {
		entries, _ := os.ReadDir(next[0]) // there may be none
		for _, e := range entries {
			if looked++; looked > 10*MaxProtected || len(out) == MaxProtected {
				return out
			}
			dir := filepath.Join(next[0], e.Name())
			switch _, err := os.Lstat(filepath.Join(dir, "HEAD")); {
			case !e.IsDir():
			case err == nil:
				out = append(out, dir)
				next = append(next, filepath.Join(dir, "modules"))
			default:
				next = append(next, dir)
			}
		}
	}
	return out
}

// keepHead puts HEAD back if it is gone: without it the folder is no repository, and git takes
// another one that is around it, or that lies in the project as files.
func (w *Watch) keepHead(x *inspector) {
	if w.place.Own == "" {
		return
	}
	file := filepath.Join(w.place.Own, "HEAD")
	now := ""
	if target, err := os.Readlink(file); err == nil && strings.HasPrefix(target, "refs/") {
		now = "ref: " + target + "\n"
	} else if data, err := readRegular(file); err == nil {
		now = string(data)
	}
	if validHead(now) {
		w.head = now
		return
	}
	if w.head == "" {
		return
	}
	finding := Finding{Path: file, Why: "it was gone or not one; it is as it was"}
	if exists(file) {
		finding.Err = w.aside(file)
	}
	err := writeNew(file, []byte(w.head))
	if errors.Is(err, fs.ErrExist) {
		return // git was about to write it
	}
	finding.Err = errors.Join(finding.Err, err)
	x.found = append(x.found, finding)
}

func validHead(text string) bool {
	if ref, ok := strings.CutPrefix(text, "ref:"); ok {
		return strings.HasPrefix(strings.TrimSpace(ref), "refs/")
	}
	text = strings.TrimSpace(text)
	return (len(text) == 40 || len(text) == 64) && strings.Trim(text, "0123456789abcdef") == ""
}

// todos are the instructions of unfinished rebases.
func (w *Watch) todos() (files []string) {
	if w.place.Own == "" {
		return nil
	}
	for _, dir := range append(w.worktrees(), w.place.Own) {
		for _, name := range []string{"rebase-merge/git-rebase-todo", "sequencer/todo"} {
			if file := filepath.Join(dir, filepath.FromSlash(name)); exists(file) && !slices.Contains(files, file) {
				files = append(files, file)
			}
		}
	}
	return files
}

// keepTodos removes the lines that run commands from rebases that a command left unfinished.
func (w *Watch) keepTodos(x *inspector) {
	for _, file := range w.todos() {
		data, err := readRegular(file)
		if err != nil {
			x.take(file, "instructions for a rebase that cannot be checked")
			continue
		}
		own := slices.DeleteFunc(execLines(data), func(line string) bool { return slices.Contains(w.execs[file], line) })
		if len(own) == 0 {
			continue
		}
		x.take(file, "a rebase that runs commands; its exec lines were removed")
		text := ""
		for line := range strings.Lines(string(data)) {
			if !slices.Contains(own, strings.TrimSpace(line)) {
				text += line
			}
		}
		err = writeNew(file, []byte(text))
		if last := &x.found[len(x.found)-1]; last.Err == nil {
			last.Err = err
		}
	}
}

// execLines are the lines of instructions that run a command.
func execLines(data []byte) (lines []string) {
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSpace(line)
		if word, _, _ := strings.Cut(strings.ReplaceAll(line, "\t", " "), " "); word == "exec" || word == "x" {
			lines = append(lines, line)
		}
	}
	return lines
}
