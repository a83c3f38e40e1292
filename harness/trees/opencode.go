package trees

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/api"
	"github.com/lathe-agent/lathe/workspace/worktree"
)

// OpenCode knows a worktree by its directory, has no merge, and takes any text as a name. Its clients make a worktree,
// wait for an event, and then open sessions with that directory.

// nameTries is how many names are tried if the wanted one is taken.
const nameTries = 100

// MakeWorktree makes a tree without a session, as OpenCode's clients expect: it returns when the files are there, and
// the setup commands run on. An event says when they are done. Any text becomes a name.
func (t Trees) MakeWorktree(ctx context.Context, dir, name, command string) (api.Worktree, error) {
	at, err := t.place(ctx, dir)
	if err != nil {
		return api.Worktree{}, err
	}
	wanted := slug(name)
	for i := 1; ; i++ {
		o := worktree.Options{Name: wanted}
		if i > 1 {
			o.Name = fmt.Sprintf("%s-%d", wanted, i)
		}
		tree, release, err := t.Engine.Trees().Create(ctx, at, o)
		if wanted != "" && i < nameTries && lathe.CodeOf(err) == lathe.Conflict {
			continue
		}
		if err != nil {
			return api.Worktree{}, err
		}
		t.Engine.Trees().SetUpLater(tree, command, release)
		return describe(ctx, tree), nil
	}
}

// slug makes a name of a text.
func slug(text string) string {
	out := strings.Map(func(c rune) rune {
		switch {
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9':
			return c
		case c >= 'A' && c <= 'Z':
			return c + 'a' - 'A'
		default:
			return '-'
		}
	}, text)
	words := strings.FieldsFunc(out, func(c rune) bool { return c == '-' })
	out = strings.Join(words, "-")
	return strings.Trim(out[:min(len(out), 50)], "-")
}

// byDirectory finds a tree of the project by the directory of its sessions.
func (t Trees) byDirectory(ctx context.Context, dir, directory string) (*worktree.Tree, error) {
	at, err := t.place(ctx, dir)
	if err != nil {
		return nil, err
	}
	all, err := t.Engine.Trees().Root().List(at)
	if err != nil {
		return nil, err
	}
	directory = filepath.Clean(directory)
	if real, err := filepath.EvalSymlinks(directory); err == nil {
		directory = real
	}
	i := slices.IndexFunc(all, func(w *worktree.Tree) bool { return w.Directory == directory || w.Path == directory })
	if i < 0 {
		return nil, lathe.Errorf(lathe.NotFound, "%s is not a worktree of this project", directory)
	}
	return all[i], nil
}

// RemoveWorktree removes the tree of a directory with its changes: the client has asked its user. Commits stay on the
// branch.
func (t Trees) RemoveWorktree(ctx context.Context, dir, directory string) error {
	tree, err := t.byDirectory(ctx, dir, directory)
	if err != nil {
		return err
	}
	_, err = tree.Drop(ctx, true)
	return err
}

// ResetWorktree makes the tree of a directory again, with the files that the checkout has now. A tree with commits of
// its own is refused: they would be lost.
func (t Trees) ResetWorktree(ctx context.Context, dir, directory string) error {
	tree, err := t.byDirectory(ctx, dir, directory)
	if err != nil {
		return err
	}
	if tip := tree.Tip(); tip != tree.Head {
		return lathe.Errorf(lathe.Conflict, "the branch %s has commits; merge or delete them first", tree.Branch)
	}
	at, err := t.Engine.Locate(ctx, tree.Origin)
	if err != nil {
		return err
	}
	if _, err := tree.Drop(ctx, true); err != nil {
		return err
	}
	again, release, err := t.Engine.Trees().Create(ctx, at, worktree.Options{Name: tree.Name, Session: tree.Session, Parent: tree.Parent})
	if err != nil {
		return err
	}
	t.Engine.Trees().SetUpLater(again, "", release)
	return nil
}
