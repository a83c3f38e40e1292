package worktree

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/lathe-agent/lathe/internal/gitobj"
)

// maxRepository is how much of a repository is copied, in bytes: everything but its objects.
const maxRepository = 256 << 20

// copyRepository gives a scratch tree a repository of its own, with the branches, the config and the index of the
// checkout. It reads objects of the checkout's repository and adds its own beside them, so that a commit, a tag or a
// garbage collection in the tree leaves the checkout as it is.
func (t *Tree) copyRepository(repo *repository, copied *copied) error {
	dir := filepath.Join(t.Path, ".git")
	t.root.step("scratch mkdir")
	if err := os.MkdirAll(filepath.Join(dir, "objects", "info"), 0o755); err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	c := &repositoryCopy{to: root}
	for _, name := range []string{"refs", "reftable", "logs", "packed-refs", "shallow", "info/exclude", "info/attributes"} {
		if err := c.add(filepath.Join(repo.common, filepath.FromSlash(name)), name); err != nil {
			return fmt.Errorf("copy %s of the repository: %w", name, err)
		}
	}
	if err := c.add(filepath.Join(repo.own, "HEAD"), "HEAD"); err != nil {
		return err
	}
	index, err := repo.indexFor(copied)
	if err != nil {
		return err
	}
	config, err := gitobj.ReadFile(filepath.Join(repo.common, "config"), 1<<20)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	files := append(repo.sparseFiles(), [2]string{"objects/info/alternates", filepath.ToSlash(filepath.Join(repo.common, "objects")) + "\n"})
	text := string(config)
	if repo.config.Last("core.worktree") != "" || strings.EqualFold(repo.config.Last("core.bare"), "true") { // of a submodule: they mean another folder
		text += "\n[core]\n\tbare = false\n\tworktree = ..\n"
	}
	files = append(files, [2]string{"config", text})
	if len(index) > 0 {
		files = append(files, [2]string{"index", string(index)})
	}
	for _, f := range files {
		t.root.step("scratch " + f[0])
		if err := writeNew(root, f[0], f[1]); err != nil {
			return err
		}
	}
	return root.MkdirAll("refs/heads", 0o755) // without it git sees no repository
}

// repositoryCopy copies regular files of a repository, up to a limit.
type repositoryCopy struct {
	to   *os.Root
	size int64
}

// add copies a file, or all files of a folder. One that does not exist is left out, and so are links.
func (c *repositoryCopy) add(from, name string) error {
	return filepath.WalkDir(from, func(at string, e fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case !e.Type().IsRegular() || strings.HasSuffix(at, ".lock"):
			return nil
		}
		data, err := gitobj.ReadFile(at, maxRepository-c.size)
		if errors.Is(err, fs.ErrNotExist) {
			return nil // git has packed it meanwhile
		}
		if err != nil {
			return err
		}
		c.size += int64(len(data))
		rel, err := filepath.Rel(from, at)
		if err != nil {
			return err
		}
		return writeNew(c.to, path.Join(name, filepath.ToSlash(rel)), string(data))
	})
}
