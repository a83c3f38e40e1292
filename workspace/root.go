package workspace

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/internal/gitobj"
)

// rootDeadline bounds the walk through a history. Half a million commits take less.
const rootDeadline = 5 * time.Second

// identify chooses the id: the origin, which all clones share, before the id another
// program left, before the first root commit.
func identify(ctx context.Context, p Place, c checkout, mem Memory) (string, error) {
	if p.Remote != "" {
		return remoteID(p.Remote), nil
	}
	if p.Cached != "" {
		return p.Cached, nil
	}
	key := "root:" + c.common
	if mem != nil {
		known, err := mem.Cached(ctx, key)
		if err != nil {
			return "", fmt.Errorf("recall root commit: %w", err)
		}
		if isObjectID(known) {
			return known, nil
		}
	}
	root, err := c.firstRoot(ctx, rootDeadline)
	if err != nil {
		return "", err
	}
	if root == "" { // not remembered: the first commit may come any moment
		return lathe.GlobalProject, nil
	}
	if mem != nil {
		if err := mem.SaveCached(ctx, key, root); err != nil {
			return "", fmt.Errorf("remember root commit: %w", err)
		}
	}
	return root, nil
}

// firstRoot returns the smallest id among the commits without parents, "" if there is
// none or the history cannot be read: damaged, in a format of the future, too long for the
// deadline. It fails only when ctx ends.
//
// It looks at the branches, the remote branches, the tags and the HEADs of all checkouts, so
// that each checkout of a repository finds the same. Stashes, notes and what other programs
// keep below refs/ do not count: they begin their own histories, which are not the project's.
// Such a branch, as for published pages, cannot be recognized.
func (c checkout) firstRoot(ctx context.Context, deadline time.Duration) (string, error) {
	limited, cancel := context.WithTimeout(ctx, deadline)
	defer cancel()
	root, err := c.readRoot(limited)
	if ctx.Err() != nil {
		return "", fmt.Errorf("find the root commit: %w", context.Cause(ctx))
	}
	if err != nil {
		return "", nil // a history that cannot be read names nothing
	}
	return root, nil
}

func (c checkout) readRoot(ctx context.Context) (string, error) {
	repo, err := gitobj.Open(c.gitDir, c.common)
	if err != nil {
		return "", err
	}
	defer repo.Close()
	refs, err := repo.Refs(ctx)
	if err != nil {
		return "", err
	}
	refs = slices.DeleteFunc(refs, func(r gitobj.Ref) bool { return !namesProject(r.Name) })
	roots, err := repo.Roots(ctx, refs)
	if err != nil || len(roots) == 0 {
		return "", err
	}
	return roots[0].String(), nil
}

func namesProject(ref string) bool {
	return ref == "HEAD" || strings.HasSuffix(ref, "/HEAD") || strings.HasPrefix(ref, "refs/heads/") ||
		strings.HasPrefix(ref, "refs/remotes/") || strings.HasPrefix(ref, "refs/tags/")
}

// isObjectID says whether s can be the name of a git object, SHA-1 or SHA-256.
func isObjectID(s string) bool {
	_, err := gitobj.ParseID(s)
	return err == nil
}

// CheckoutTop returns the directory, absolute and cleaned, and the real path of the top of the
// checkout it lies in; without one, the root of the volume. It asks nothing about identity,
// so it is cheap: a few looks at files.
func CheckoutTop(dir string) (directory, top string, err error) {
	if directory, err = absolute(dir); err != nil {
		return "", "", err
	}
	if c, ok := findCheckout(realPath(directory)); ok {
		return directory, c.top, nil
	}
	return directory, volumeRoot(directory), nil
}

// GitDirs returns the top of the checkout that holds a directory, its repository, and the
// folder it shares with other checkouts of it; ok is false if there is none that can be read.
func GitDirs(dir string) (top, repository, common string, ok bool) {
	c, ok := findCheckout(realPath(dir))
	return c.top, c.gitDir, c.common, ok
}
