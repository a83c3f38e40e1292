package worktree

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/internal/atomicfile"
	"github.com/lathe-agent/lathe/internal/filelock"
	"github.com/lathe-agent/lathe/internal/gitobj"
	"github.com/lathe-agent/lathe/workspace"
)

// Root is the folder of all trees.
type Root struct {
	Dir string
	// Excludes returns the user's global gitignore file; nil means none.
	Excludes func() string
	Now      func() time.Time
	// Leases are those of this process; nil shares none.
	Leases *Leases
	// OnStep is called before each change on disk, for tests that end the process there.
	OnStep func(name string)
}

// State is how far a tree is.
type State string

// The states of a tree.
const (
	Creating State = "creating" // nothing has used it yet
	Ready    State = "ready"
	Merging  State = "merging" // see [Record.Merge]
	Dropping State = "dropping"
)

// Record has the facts of a tree.
type Record struct {
	Name      string `json:"name"`
	Path      string `json:"path"`      // the tree
	Origin    string `json:"origin"`    // real path of the checkout it was made from
	Directory string `json:"directory"` // where a session works: Path or a folder in it
	Repository
	Owner
	State   State        `json:"state"`
	Created time.Time    `json:"created"`
	Merged  time.Time    `json:"merged,omitzero"`
	Notes   []string     `json:"notes,omitempty"` // parts of the checkout that it does not have
	Links   []Link       `json:"links,omitempty"`
	Merge   *MergeRecord `json:"merge,omitempty"`
	Last    *MergeRecord `json:"last_merge,omitempty"` // the newest that counts
	Test    *TestRecord  `json:"test,omitempty"`
	Scratch bool         `json:"scratch,omitempty"` // see [Options]
}

// Repository is what a tree has in its git repository. It is empty without git.
type Repository struct {
	Branch string `json:"branch,omitempty"`
	Head   string `json:"head,omitempty"`   // the commit it began with
	Common string `json:"common,omitempty"` // the repository's folder
	Admin  string `json:"admin,omitempty"`  // the folder of the tree in it
}

// Owner is who works in a tree. Whether the owner lives is what the lock of the lease file says, never the number.
type Owner struct {
	Session lathe.SessionID `json:"session,omitempty"`
	Parent  lathe.SessionID `json:"parent,omitempty"` // the session that gave the task
	PID     int             `json:"pid,omitempty"`    // of the process that made it or merges it
}

// TestRecord is the last check that ran in a tree.
type TestRecord struct {
	Command string    `json:"command"`
	Exit    int       `json:"exit"`
	Score   *float64  `json:"score,omitempty"`
	At      time.Time `json:"at"`
}

// MergeRecord is a merge that began. It lets recovery know whether the merge counts.
type MergeRecord struct {
	Key     string          `json:"key"`     // of the snapshot that can revert it
	Session lathe.SessionID `json:"session"` // the session that records it
	Message lathe.MessageID `json:"message"` // exists once it counts
}

const (
	metaDir      = workspace.TreesMeta // beside the trees of a project
	recordFile   = workspace.TreeRecord
	leaseFile    = "lease"
	baseFile     = "base"
	nextFile     = "base.next"
	prevFile     = "base.previous"
	contentsFile = "contents"
	lockFile     = "lock"
	lockWait     = 30 * time.Second
)

// maxName is the number of characters of a name.
const maxName = 64

// isPlain reports whether a character is a letter or a digit of ASCII.
func isPlain(c rune) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

// CheckName refuses names that are no good as a folder and as a branch.
func CheckName(name string) error {
	isBad := name == "" || len(name) > maxName || !isPlain(rune(name[0])) ||
		strings.ContainsFunc(name, func(c rune) bool { return !isPlain(c) && !strings.ContainsRune("._-", c) })
	if isBad || strings.Contains(name, "..") || strings.HasSuffix(name, ".") || strings.HasSuffix(strings.ToLower(name), ".lock") || strings.EqualFold(name, metaDir) {
		return lathe.Errorf(lathe.Invalid, "%q is not a name for a worktree: use up to 64 letters, digits, dots, dashes and underscores", name)
	}
	return nil
}

// step tells a test what comes next.
func (r Root) step(name string) {
	if r.OnStep != nil {
		r.OnStep(name)
	}
}

// now is the clock, which tests set.
func (r Root) now() time.Time {
	if r.Now != nil {
		return r.Now()
	}
	return time.Now()
}

// project is the folder for the trees of a repository, or of a directory without one.
func (r Root) project(at workspace.Place) string {
	key := origin(at)
	name := filepath.Base(key)
	if _, common, ok := at.GitDirs(); ok {
		key = common
		if name = filepath.Base(common); name == ".git" {
			name = filepath.Base(filepath.Dir(common))
		}
	}
	sum := sha256.Sum256([]byte(key))
	plain := strings.Map(func(c rune) rune {
		if isPlain(c) || c == '-' || c == '_' {
			return c
		}
		return '-'
	}, name)
	return filepath.Join(r.Dir, plain[:min(len(plain), 32)]+"-"+hex.EncodeToString(sum[:5]))
}

// origin is the top of what is copied.
func origin(at workspace.Place) string {
	if at.VCS == "git" {
		return at.Sandbox
	}
	if real, err := filepath.EvalSymlinks(at.Directory); err == nil {
		return real
	}
	return at.Directory
}

// Tree is a tree and where its facts are.
type Tree struct {
	Record
	root Root
	meta string
}

// file is the path of one of the facts.
func (t *Tree) file(name string) string { return filepath.Join(t.meta, name) }

// save writes the record.
func (t *Tree) save() error {
	t.root.step("save " + string(t.State))
	data, err := json.MarshalIndent(t.Record, "", "  ")
	if err != nil {
		return err
	}
	return atomicfile.Write(t.file(recordFile), append(data, '\n'))
}

// Update changes facts of a tree under the lock of its project.
func (t *Tree) Update(ctx context.Context, change func(*Record)) error {
	release, err := lockProject(ctx, filepath.Dir(filepath.Dir(t.meta)))
	if err != nil {
		return err
	}
	defer release()
	now, err := t.root.read(t.meta)
	if err != nil {
		return err
	}
	change(&now.Record)
	t.Record = now.Record
	return t.save()
}

// read reads the facts of a tree. What it says of paths is checked: the folder may have been moved.
func (r Root) read(meta string) (*Tree, error) {
	data, err := gitobj.ReadFile(filepath.Join(meta, recordFile), 1<<20)
	if err != nil {
		return nil, err
	}
	t := &Tree{root: r, meta: meta}
	if err := json.Unmarshal(data, &t.Record); err != nil {
		return nil, err
	}
	t.Name = filepath.Base(meta)
	t.Path = filepath.Join(filepath.Dir(filepath.Dir(meta)), t.Name)
	if !workspace.Inside(t.Path, t.Directory) {
		t.Directory = t.Path
	}
	return t, nil
}

// lockProject keeps other processes from changing the facts of a project's trees. Only short work runs under it:
// a copy of a large checkout must not make others wait.
func lockProject(ctx context.Context, project string) (func(), error) {
	if err := os.MkdirAll(filepath.Join(project, metaDir), 0o700); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, lockWait)
	defer cancel()
	return filelock.Lock(ctx, filepath.Join(project, metaDir, lockFile))
}

// List returns the trees of a place, by name.
func (r Root) List(at workspace.Place) ([]*Tree, error) { return r.listIn(r.project(at)) }

// listIn reads the records of a project. A damaged one is left out here, and Recover reports it.
func (r Root) listIn(project string) ([]*Tree, error) {
	entries, err := os.ReadDir(filepath.Join(project, metaDir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var out []*Tree
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		if t, err := r.read(filepath.Join(project, metaDir, e.Name())); err == nil {
			out = append(out, t)
		}
	}
	slices.SortFunc(out, func(a, b *Tree) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}

// All returns the trees of all projects.
func (r Root) All() (out []*Tree, err error) {
	entries, err := os.ReadDir(r.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		in, failed := r.listIn(filepath.Join(r.Dir, e.Name()))
		out, err = append(out, in...), errors.Join(err, failed)
	}
	return out, err
}

// Find returns the tree with a name.
func (r Root) Find(at workspace.Place, name string) (*Tree, error) {
	if err := CheckName(name); err != nil {
		return nil, err
	}
	t, err := r.read(filepath.Join(r.project(at), metaDir, name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, lathe.Errorf(lathe.NotFound, "worktree %s of %s not found; `lathe worktree list` shows all", name, origin(at))
	}
	return t, err
}

// Of returns the tree that holds a directory, nil if none does.
func (r Root) Of(dir string) *Tree {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	base := r.Dir
	if real, err := filepath.EvalSymlinks(base); err == nil {
		base = real
	}
	rel, err := filepath.Rel(base, dir)
	if err != nil || !filepath.IsLocal(rel) {
		return nil
	}
	parts := strings.SplitN(filepath.ToSlash(rel), "/", 3)
	if len(parts) < 2 {
		return nil
	}
	t, err := r.read(filepath.Join(base, parts[0], metaDir, parts[1]))
	if err != nil {
		return nil
	}
	return t
}
