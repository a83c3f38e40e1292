package git

import (
	"context"
	"strings"

	"github.com/lathe-agent/lathe/internal/gitobj"
	"github.com/lathe-agent/lathe/workspace"
)

const (
	heads   = "refs/heads/"
	remotes = "refs/remotes/"
)

// Branch is the name of the branch that is checked out, "" if there is none: outside git, and
// at a commit without one. It reads files and starts nothing.
func Branch(at workspace.Place) string {
	r, _, _, ok := repository(at)
	if !ok {
		return ""
	}
	defer func() { _ = r.Close() }() // it was only read
	head, err := r.Head()
	if err != nil {
		return ""
	}
	name, _ := strings.CutPrefix(head.Target, heads)
	return name
}

// DefaultBranch is the name of the branch that others start from, "" where none is known: what the
// remote says, or main or master. It reads files and starts nothing.
func DefaultBranch(ctx context.Context, at workspace.Place) string {
	name, _ := defaultBranch(ctx, at)
	return name
}

// defaultBranch returns the name and the commit of the default branch, the remote's before ours.
func defaultBranch(ctx context.Context, at workspace.Place) (string, gitobj.ID) {
	r, _, _, ok := repository(at)
	if !ok {
		return "", gitobj.ID{}
	}
	defer func() { _ = r.Close() }() // it was only read
	refs, err := r.Refs(ctx)
	if err != nil {
		return "", gitobj.ID{}
	}
	known := make(map[string]gitobj.Ref, len(refs))
	for _, ref := range refs {
		known[ref.Name] = ref
	}
	for _, remote := range []string{"origin", "upstream"} {
		head, ok := known[remotes+remote+"/HEAD"]
		if name, of := strings.CutPrefix(head.Target, remotes+remote+"/"); ok && of {
			return name, head.ID
		}
	}
	for _, name := range []string{"main", "master"} {
		for _, at := range []string{remotes + "origin/" + name, heads + name} {
			if ref, ok := known[at]; ok {
				return name, ref.ID
			}
		}
	}
	return "", gitobj.ID{}
}
