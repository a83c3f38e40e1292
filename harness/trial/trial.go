// Package trial makes the projects in which the runs of an eval work, and puts the files of a check into them when the
// agent has ended.
//
// A base has the files of a case: those of a commit, read without git, or those of a folder. It has no history, in which a
// model could find the solution, and none of the hooks and settings of a repository. Runs work in scratch copies of it
// (package workspace/worktree). Bases are below one folder, in a slot for each process that is locked while the process
// lives. OpenBases removes what killed processes left.
//
// A Bases is safe for concurrent use. Start at OpenBases.
package trial

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine"
	"github.com/lathe-agent/lathe/eval"
	"github.com/lathe-agent/lathe/internal/filelock"
	"github.com/lathe-agent/lathe/internal/gitobj"
	"github.com/lathe-agent/lathe/sandbox"
	"github.com/lathe-agent/lathe/workspace"
)

// maxSlots is how many evals may run at the same time.
const maxSlots = 100

const lockFile = "lock"

// Bases are the projects of one eval.
type Bases struct {
	dir  string   // the slot
	lock *os.File // held until Close

	mu   sync.Mutex       // guards the field below
	made map[string]*base // by source
}

// base is a project that is made once.
type base struct {
	once sync.Once // others wait for it
	dir  string
	err  error // of making it, for all its runs
}

// OpenBases takes a slot below a folder and removes the bases and copies of processes that have ended.
func OpenBases(ctx context.Context, e *engine.Engine, root string) (*Bases, error) {
	if err := os.MkdirAll(root, 0o700); err != nil {
		return nil, err
	}
	b := &Bases{made: map[string]*base{}}
	entries, err := os.ReadDir(root)
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		if err := sweep(ctx, e, filepath.Join(root, entry.Name())); err != nil {
			return nil, lathe.Errorf(lathe.Unavailable, "remove what an earlier eval left in %s: %w", filepath.Join(root, entry.Name()), err)
		}
	}
	for n := 1; n <= maxSlots; n++ {
		dir := filepath.Join(root, strconv.Itoa(n))
		lock, err := take(dir)
		switch {
		case err == nil:
			b.dir, b.lock = dir, lock
			return b, nil
		case !errors.Is(err, filelock.ErrLocked):
			return nil, err
		}
	}
	return nil, lathe.Errorf(lathe.Unavailable, "%d evals run at the same time; wait for one of them", maxSlots)
}

// take locks a slot.
func take(dir string) (*os.File, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(dir, lockFile), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := filelock.TryLock(f); err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// sweep empties a slot whose process has ended, and removes the scratch copies of its bases first: only a base leads to
// them.
func sweep(ctx context.Context, e *engine.Engine, dir string) error {
	lock, err := take(dir)
	if errors.Is(err, filelock.ErrLocked) {
		return nil
	}
	if err != nil {
		return err
	}
	defer lock.Close()
	return empty(ctx, e, dir)
}

// empty removes all bases of a slot that the caller has locked.
func empty(ctx context.Context, e *engine.Engine, dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	var errs []error
	for _, entry := range entries {
		if !entry.IsDir() {
			continue
		}
		at := filepath.Join(dir, entry.Name())
		// Recovery removes the scratch copies without an owner. Those of another process would have its lock.
		if place, err := e.Locate(ctx, at); err == nil {
			errs = append(errs, e.Trees().Recover(ctx, place))
		}
		errs = append(errs, sandbox.RemoveTree(at))
	}
	return errors.Join(errs...)
}

// Close removes all bases.
func (b *Bases) Close(ctx context.Context, e *engine.Engine) error {
	return errors.Join(empty(context.WithoutCancel(ctx), e, b.dir), b.lock.Close())
}

// Dir is a folder of lathe without settings of a project.
func (b *Bases) Dir() string { return b.dir }

// Make returns the folder with the files of a source. It is made on first use.
func (b *Bases) Make(ctx context.Context, s eval.Source, r Reader) (string, error) {
	key := strings.Join(append([]string{s.Repo, s.Commit, s.Folder}, s.Exclude...), "\x00")
	b.mu.Lock()
	one := b.made[key]
	if one == nil {
		one = &base{dir: filepath.Join(b.dir, "project-"+strconv.Itoa(len(b.made)+1))}
		b.made[key] = one
	}
	b.mu.Unlock()
	one.once.Do(func() { one.err = fill(ctx, one.dir, s, r) })
	return one.dir, one.err
}

// fill makes a base. A canceled one is not used again: the eval ends.
func fill(ctx context.Context, dir string, s eval.Source, r Reader) error {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	if s.Repo != "" {
		if err := r.check(s.Repo); err != nil {
			return err
		}
		return checkOut(ctx, root, s.Repo, s.Commit)
	}
	return r.copyFolder(ctx, root, s.Folder, s.Exclude)
}

// checkOut writes the files of a commit. Submodules and large files that are stored elsewhere are left as they are.
func checkOut(ctx context.Context, to *os.Root, dir, commit string) error {
	repo, id, err := open(ctx, dir, commit)
	if err != nil {
		return err
	}
	defer repo.Close()
	files, err := repo.Files(ctx, id)
	if err != nil {
		return lathe.Errorf(lathe.Unavailable, "read commit %.100q of %s: %w", commit, dir, err)
	}
	size := int64(0)
	for _, f := range files {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		if f.Mode == gitobj.ModeGitlink {
			continue
		}
		_, data, err := repo.Object(f.ID)
		if err != nil {
			return lathe.Errorf(lathe.Unavailable, "read %s of commit %.100q: %w", f.Path, commit, err)
		}
		if size += int64(len(data)); size > maxBytes {
			return errLarge
		}
		if err := put(to, filepath.FromSlash(f.Path), data, f.Mode); err != nil {
			return lathe.Errorf(lathe.Unavailable, "write %s of commit %.100q: %w", f.Path, commit, err)
		}
	}
	return nil
}

// Resolve returns the full hash of a commit, to which a tag or branch may lead.
func Resolve(ctx context.Context, dir, commit string) (string, error) {
	repo, id, err := open(ctx, dir, commit)
	if err != nil {
		return "", err
	}
	return id.String(), repo.Close()
}

// open opens a repository, which the caller closes, and finds a commit in it.
func open(ctx context.Context, dir, commit string) (*gitobj.Repo, gitobj.ID, error) {
	_, own, common, ok := workspace.GitDirs(dir)
	if !ok {
		own, common = dir, dir // a bare repository
	}
	repo, err := gitobj.Open(own, common)
	if err != nil {
		return nil, gitobj.ID{}, lathe.Errorf(lathe.Invalid, "%s is not a git repository that can be read: %w", dir, err)
	}
	id, err := resolve(ctx, repo, commit)
	if err != nil {
		return nil, id, errors.Join(lathe.Errorf(lathe.NotFound, "commit %.100q of %s: %w", commit, dir, err), repo.Close())
	}
	return repo, id, nil
}

// resolve finds a commit by its full hash, or by the name of a tag or branch.
func resolve(ctx context.Context, repo *gitobj.Repo, commit string) (gitobj.ID, error) {
	if id, err := gitobj.ParseID(commit); err == nil {
		if !repo.Has(id) {
			return id, lathe.Errorf(lathe.NotFound, "the repository does not have it; fetch it first")
		}
		return id, nil
	}
	refs, err := repo.Refs(ctx)
	if err != nil {
		return gitobj.ID{}, err
	}
	// In the order in which git looks: a tag wins over a branch of the same name.
	for _, prefix := range []string{"", "refs/", "refs/tags/", "refs/heads/", "refs/remotes/"} {
		for _, r := range refs {
			if r.Name == prefix+commit && !r.ID.IsZero() {
				return r.ID, nil
			}
		}
	}
	return gitobj.ID{}, lathe.Errorf(lathe.NotFound, "no tag or branch has this name; give a full hash, a tag or a branch")
}

// put writes a file of a commit. Nothing is written through a link that leads out of the folder.
func put(to *os.Root, name string, data []byte, mode uint32) error {
	if err := to.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	if mode == gitobj.ModeLink {
		return to.Symlink(string(data), name)
	}
	perm := fs.FileMode(0o644)
	if mode&0o100 != 0 {
		perm = 0o755
	}
	f, err := to.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, perm)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}
