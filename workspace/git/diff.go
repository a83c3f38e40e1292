package git

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/workspace"
)

// Mode is the base with which the work tree is compared.
type Mode string

// The modes.
const (
	Uncommitted Mode = "git"    // the last commit
	SinceBranch Mode = "branch" // where the branch left the default one
)

// DiffOptions is which changes are wanted.
type DiffOptions struct {
	Mode        Mode
	Context     int    // lines around a change
	File        string // from the top of the checkout; "" is all of the directory
	NoPatch     bool   // without patches
	TrackedOnly bool   // without files that git does not know yet
}

const (
	// DefaultContext is how many lines git shows around a change.
	DefaultContext = 3

	maxContext = 100_000
	maxPatch   = 32 << 20 // bytes of all patches together
)

// Diff lists what differs in the directory, by path. Files that git does not know yet and does not
// ignore are added ones. Where there is no repository nothing differs. If the patches are larger
// than 32 MiB in all, they are left out.
func (g *Git) Diff(ctx context.Context, at workspace.Place, a DiffOptions) (out []lathe.FileDiff, err error) {
	v, base, err := g.compare(ctx, at, a.Mode)
	if v == nil || err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, v.close()) }()
	if base == "" {
		return nil, nil
	}
	if a.File == "" {
		a.File = below(at)
	}
	out, err = g.tracked(ctx, v, base, a)
	if errors.Is(err, errTooMuch) {
		a.NoPatch = true
		out, err = g.tracked(ctx, v, base, a)
	}
	if err != nil {
		return nil, err
	}
	if a.TrackedOnly {
		return out, nil
	}
	more, err := g.untracked(ctx, v, a)
	if err != nil {
		return nil, err
	}
	out = append(out, more...)
	slices.SortStableFunc(out, func(a, b lathe.FileDiff) int { return cmp.Compare(a.File, b.File) })
	return out, nil
}

// below is the way from the top of the checkout to the directory, "" at the top.
func below(at workspace.Place) string {
	real, err := filepath.EvalSymlinks(at.Directory)
	if err != nil {
		real = at.Directory
	}
	rel, err := filepath.Rel(at.Sandbox, real)
	if err != nil || rel == "." || !filepath.IsLocal(rel) {
		return ""
	}
	return filepath.ToSlash(rel)
}

// compare makes a view and finds what it is compared with; "" is nothing.
func (g *Git) compare(ctx context.Context, at workspace.Place, m Mode) (*view, string, error) {
	v, err := newView(at)
	if v == nil || err != nil {
		return nil, "", err
	}
	if m != SinceBranch {
		return v, v.base(), nil
	}
	name, id := defaultBranch(ctx, at)
	if id.IsZero() || v.head.ID.IsZero() || v.head.Target == heads+name {
		return v, "", nil
	}
	said, err := g.ask(ctx, question{view: v, args: []string{"merge-base", v.head.ID.String(), id.String()}})
	if exitCode(err) == 1 { // they have nothing in common
		return v, "", nil
	}
	if err != nil {
		return nil, "", errors.Join(err, v.close())
	}
	return v, strings.TrimSpace(string(said)), nil
}

// tracked lists the changes of files that git knows.
func (g *Git) tracked(ctx context.Context, v *view, base string, a DiffOptions) ([]lathe.FileDiff, error) {
	args := []string{
		"diff", "--no-ext-diff", "--no-textconv", "--no-color", "--no-renames", "--ignore-submodules=dirty",
		"--src-prefix=a/", "--dst-prefix=b/", "-O/dev/null", "--raw", "--numstat",
	}
	if !a.NoPatch {
		args = append(args, "--patch", "--unified="+strconv.Itoa(min(max(a.Context, 0), maxContext)))
	}
	args = append(args, base, "--")
	if a.File != "" {
		args = append(args, filepath.FromSlash(a.File))
	}
	said, err := g.ask(ctx, question{view: v, limit: maxPatch, args: args})
	if err != nil {
		return nil, err
	}
	return parse(said)
}

// Patch is all uncommitted work of the directory as one text, also of files that git does not
// know yet.
func (g *Git) Patch(ctx context.Context, at workspace.Place) ([]byte, error) {
	all, err := g.Diff(ctx, at, DiffOptions{Mode: Uncommitted, Context: DefaultContext})
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	for _, d := range all {
		if d.Patch == "" && d.Additions+d.Deletions > 0 {
			return nil, lathe.Errorf(lathe.Overflow, "the changes are larger than %d MB; ask for those of a part of the project", maxPatch>>20)
		}
		out.WriteString(d.Patch)
	}
	return out.Bytes(), nil
}

// ErrNotClean is in the chain of the error of [Git.Apply] for a patch that does not fit.
var ErrNotClean = errors.New("the patch does not apply")

// ErrNoGit is in the chain of an error about a directory without a repository.
var ErrNoGit = errors.New("not in a git repository")

// Apply changes the work tree as a patch says, wholly or not at all. Paths begin at the top of the
// checkout; git refuses those that lead out of it, or into the repository itself.
func (g *Git) Apply(ctx context.Context, at workspace.Place, patch string) (err error) {
	v, err := newView(at)
	if err != nil {
		return err
	}
	if v == nil {
		return fmt.Errorf("%w: %s", ErrNoGit, at.Directory)
	}
	defer func() { err = errors.Join(err, v.close()) }()
	_, err = g.ask(ctx, question{view: v, input: patch, args: []string{"apply", "--whitespace=nowarn", "-"}})
	if exitCode(err) > 0 {
		return fmt.Errorf("%w: %v", ErrNotClean, err)
	}
	return err
}
