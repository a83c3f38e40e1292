package worktree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/internal/filelock"
	"github.com/lathe-agent/lathe/sandbox"
	"github.com/lathe-agent/lathe/workspace"
)

// Options are the facts of a new tree.
type Options struct {
	Name            string // "" chooses one
	Session, Parent lathe.SessionID
	Links           []string // untracked names to link or copy, from the top of the checkout
	// Scratch makes a tree for a while. It has a repository of its own, so that no command in it changes branches, tags
	// or the config of the checkout, and recovery removes it when its process has ended.
	Scratch bool
}

// nameTries is how many names are tried when none is given.
const nameTries = 1000

// Create makes a tree of the checkout at a place. The caller has its lease until it calls release. After an
// error nothing is left of it.
func (r Root) Create(ctx context.Context, at workspace.Place, o Options) (t *Tree, release func(), err error) {
	if o.Name != "" {
		if err := CheckName(o.Name); err != nil {
			return nil, nil, err
		}
	}
	from := origin(at)
	if from == filepath.Dir(from) || workspace.Inside(from, r.Dir) {
		return nil, nil, lathe.Errorf(lathe.Invalid, "%s holds lathe's own worktrees and cannot be copied; start in a folder of a project", from)
	}
	repo, err := openRepository(at)
	if err != nil {
		return nil, nil, err
	}
	defer repo.close()
	t, held, err := r.reserve(ctx, at, repo, o)
	if err != nil {
		return nil, nil, err
	}
	if err := t.fill(ctx, at, repo, o); err != nil {
		err = errors.Join(err, t.remove(), filelock.Release(held), t.forget())
		return nil, nil, fmt.Errorf("create worktree %s: %w", t.Name, err)
	}
	return t, r.Leases.add(t.meta, held), nil
}

// reserve chooses the name and writes down that the tree is being made.
func (r Root) reserve(ctx context.Context, at workspace.Place, repo *repository, o Options) (*Tree, *os.File, error) {
	project := r.project(at)
	unlock, err := lockProject(ctx, project)
	if err != nil {
		return nil, nil, err
	}
	defer unlock()
	if real, err := filepath.EvalSymlinks(project); err == nil {
		project = real
	}
	name := o.Name
	for i := 1; name == "" && i <= nameTries; i++ {
		try := fmt.Sprintf("w%d", i)
		if _, err := os.Lstat(filepath.Join(project, metaDir, try)); errors.Is(err, fs.ErrNotExist) && !repo.hasBranch(branchName(repo, try)) {
			name = try
		}
	}
	t := &Tree{root: r, meta: filepath.Join(project, metaDir, name)}
	t.Record = Record{
		Name: name, Path: filepath.Join(project, name), Origin: origin(at), State: Creating, Created: r.now().UTC(),
		Owner: Owner{Session: o.Session, Parent: o.Parent, PID: os.Getpid()},
	}
	t.Directory = filepath.Join(t.Path, filepath.FromSlash(directoryBelow(at)))
	t.Scratch = o.Scratch
	if repo != nil && !o.Scratch {
		t.Branch, t.Head, t.Common = branchName(repo, name), repo.head, repo.common
		if repo.hasBranch(t.Branch) {
			return nil, nil, lathe.Errorf(lathe.Conflict, "the branch %s already exists; choose another name for the worktree, or delete the branch", t.Branch)
		}
	}
	r.step("reserve")
	if err := os.Mkdir(t.meta, 0o700); errors.Is(err, fs.ErrExist) {
		return nil, nil, lathe.Errorf(lathe.Conflict, "worktree %s already exists; choose another name, or remove it with `lathe worktree drop %s`", name, name)
	} else if err != nil {
		return nil, nil, err
	}
	held, err := lease(t.meta)
	if err == nil {
		err = t.save()
	}
	if err != nil {
		return nil, nil, errors.Join(err, t.forget())
	}
	return t, held, nil
}

// directoryBelow is the path of the session's directory below the top of what is copied.
func directoryBelow(at workspace.Place) string {
	if at.VCS != "git" {
		return ""
	}
	if at.ProjectID == lathe.GlobalProject { // a repository without commits: Path begins at the root of the volume
		rel, err := filepath.Rel(at.Sandbox, at.Directory)
		if err != nil || !filepath.IsLocal(rel) {
			return ""
		}
		return filepath.ToSlash(rel)
	}
	return at.Path
}

// fill makes the files of a tree that is reserved.
func (t *Tree) fill(ctx context.Context, at workspace.Place, repo *repository, o Options) error {
	if _, err := os.Lstat(t.Path); err == nil {
		return lathe.Errorf(lathe.Conflict, "%s already exists and lathe did not make it; move it away", t.Path)
	}
	t.root.step("mkdir")
	if err := os.Mkdir(t.Path, 0o700); err != nil {
		return err
	}
	c := &copier{root: t.root, from: t.Origin, to: t.Path, repo: repo}
	copied, err := c.run(ctx)
	if err != nil {
		return err
	}
	t.Notes = c.notes
	switch {
	case repo == nil:
	case o.Scratch:
		err = t.copyRepository(repo, copied)
	default:
		err = t.attach(repo, copied)
	}
	if err != nil {
		return err
	}
	if err := t.link(ctx, o.Links); err != nil {
		return err
	}
	if err := os.MkdirAll(t.Directory, 0o755); err != nil { // an empty folder is not copied
		return err
	}
	t.root.step("base")
	if err := writeBase(t.file(baseFile), copied.files); err != nil {
		return err
	}
	if err := copied.contents.save(t.file(contentsFile)); err != nil {
		return err
	}
	t.State = Ready
	return t.save()
}

// remove deletes the tree, its folder in the repository and its branch, in this order: whoever looks for what
// is left begins with the record.
func (t *Tree) remove() error {
	t.root.step("remove tree")
	if err := sandbox.RemoveTree(t.Path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove %s: %w", t.Path, err)
	}
	if t.Common == "" {
		return nil
	}
	if err := t.detach(); err != nil {
		return fmt.Errorf("remove %s from its repository: %w", t.Name, err)
	}
	return nil
}

// forget deletes the facts of a tree that is gone, the record last.
func (t *Tree) forget() error {
	t.root.step("forget")
	entries, err := os.ReadDir(t.meta)
	if err != nil {
		return err
	}
	var errs []error
	for _, e := range entries {
		if e.Name() != recordFile {
			errs = append(errs, os.RemoveAll(t.file(e.Name())))
		}
	}
	t.root.step("forget record")
	return errors.Join(append(errs, os.RemoveAll(t.meta))...)
}

// branchName is lathe/NAME, or lathe-NAME where a branch lathe is in the way.
func branchName(repo *repository, name string) string {
	if repo != nil && repo.hasBranch("lathe") {
		return "lathe-" + name
	}
	return "lathe/" + strings.TrimSuffix(name, "/")
}
