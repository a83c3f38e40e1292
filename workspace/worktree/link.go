package worktree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/lathe-agent/lathe"
)

// Link is an ignored file or folder of the checkout that a tree has too. It is a copy: nothing that is
// written in the tree reaches the checkout.
type Link struct {
	Path string `json:"path"` // from the top, with slashes
}

// maxLinks is how many a project may name.
const maxLinks = 64

// link copies the ignored names that a project needs. Names that do not exist are passed over.
func (t *Tree) link(ctx context.Context, names []string) error {
	if len(names) > maxLinks {
		return lathe.Errorf(lathe.Invalid, "worktree.link names %d paths; at most %d are allowed", len(names), maxLinks)
	}
	for _, name := range names {
		name = path.Clean(filepath.ToSlash(name))
		if !filepath.IsLocal(filepath.FromSlash(name)) || name == "." || strings.EqualFold(strings.SplitN(name, "/", 2)[0], ".git") {
			return lathe.Errorf(lathe.Invalid, "worktree.link: %q is not a path inside the project", name)
		}
		if err := t.linkOne(ctx, name); err != nil {
			return fmt.Errorf("worktree.link %s: %w", name, err)
		}
	}
	return nil
}

// linkOne copies one name. Both sides are opened as roots, so that no symlink leads out of them.
func (t *Tree) linkOne(ctx context.Context, name string) error {
	from, err := os.OpenRoot(t.Origin)
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := os.OpenRoot(t.Path)
	if err != nil {
		return err
	}
	defer to.Close()
	local := filepath.FromSlash(name)
	info, err := from.Lstat(local)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if _, err := to.Lstat(local); err == nil {
		return nil // it is tracked, or not ignored, so the tree has it
	}
	t.root.step("link")
	if err := to.MkdirAll(filepath.Dir(local), 0o755); err != nil {
		return err
	}
	t.Links = append(t.Links, Link{Path: name})
	if info.IsDir() {
		return t.linkFolder(ctx, from, to, local)
	}
	dir, base := filepath.Split(local)
	src, err := from.OpenRoot(filepath.Join(".", dir))
	if err != nil {
		return err
	}
	defer src.Close()
	dst, err := to.OpenRoot(filepath.Join(".", dir))
	if err != nil {
		return err
	}
	defer dst.Close()
	b := &batch{copier: &copier{root: t.root, all: true, out: &copied{contents: &contents{}}}, folder: folder{from: src, to: dst}}
	if info.Mode()&fs.ModeSymlink != 0 {
		return b.link(base, name, nil)
	}
	return b.regular(base, name, nil)
}

// linkFolder copies a folder with everything in it, whatever is ignored.
func (t *Tree) linkFolder(ctx context.Context, from, to *os.Root, name string) error {
	if err := to.Mkdir(name, 0o755); err != nil {
		return err
	}
	c := &copier{root: t.root, from: filepath.Join(from.Name(), name), to: filepath.Join(to.Name(), name), all: true}
	_, err := c.run(ctx)
	for _, note := range c.notes {
		t.Notes = append(t.Notes, name+"/"+note)
	}
	return err
}
