package server

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"sync"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/internal/phrase"
	"github.com/lathe-agent/lathe/workspace"
	"github.com/lathe-agent/lathe/workspace/git"
)

// vcsAPI answers for the git repository of a directory.
type vcsAPI struct {
	git      *git.Git
	branches *branches
}

func (a vcsAPI) routes() []row {
	bad := []failure{failsBad}
	return []row{
		answer(route("GET /vcs", "vcs.get", "instance", mayRead,
			"Get the branch and the default branch; both are null outside Git", bad, in(atPlaceOr)), inPlace(a.vcs)),
		answer(route("GET /vcs/status", "vcs.status", "instance", mayRead,
			"List the files that differ from the last commit", bad), inPlace(a.vcsStatus)),
		answer(route("GET /vcs/diff", "vcs.diff", "instance", mayRead,
			"List the changes since the last commit, or since the branch left the default branch", bad), inPlace(a.vcsDiff)),
		raw(route("GET /vcs/diff/raw", "vcs.diff.raw", "instance", mayRead,
			"Get all changes since the last commit as one patch", bad), "text/x-diff", a.vcsPatch),
		answer(route("POST /vcs/apply", "vcs.apply", "instance", mayAll,
			"Apply a patch, completely or not at all", []failure{failsBad, failsApply}), inPlace(a.vcsApply)),
	}
}

type vcsReply struct {
	Branch  *string `json:"branch"`
	Default *string `json:"default_branch"`
}

func (vcsReply) schemaName() string { return "VcsInfo" }

func (a vcsAPI) vcs(c *call, at workspace.Place, _, _ none) (vcsReply, error) {
	branch, main := a.branches.check(at), git.DefaultBranch(c.Context(), at)
	return vcsReply{Branch: orNull(branch), Default: orNull(main)}, nil
}

func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// branches records the branch of each requested directory and publishes changes. It checks on request
// and with every heartbeat of streams.
type branches struct {
	publisher

	mu  sync.Mutex // guards all
	all map[string]seenBranch
}

type seenBranch struct {
	at   workspace.Place
	name string
}

// mostBranches is how many directories are watched; beyond it, others are forgotten.
const mostBranches = 100

// check returns the branch of a place, and publishes an event if it changed.
func (b *branches) check(at workspace.Place) string {
	name := git.Branch(at)
	b.mu.Lock()
	was, known := b.all[at.Directory]
	if b.all == nil || len(b.all) >= mostBranches && !known {
		b.all = map[string]seenBranch{}
	}
	b.all[at.Directory] = seenBranch{at, name}
	b.mu.Unlock()
	if known && was.name != name {
		b.publish(at, &lathe.BranchChanged{Branch: name})
	}
	return name
}

// checkAll looks at all that are known.
func (b *branches) checkAll() {
	b.mu.Lock()
	var places []workspace.Place
	for _, seen := range b.all {
		places = append(places, seen.at)
	}
	b.mu.Unlock()
	for _, at := range places {
		b.check(at)
	}
}

type vcsFile struct {
	File      string `json:"file"`
	Additions int    `json:"additions"`
	Deletions int    `json:"deletions"`
	Status    string `json:"status" enum:"added,deleted,modified"`
}

func (vcsFile) schemaName() string { return "VcsFileStatus" }

func (a vcsAPI) vcsStatus(c *call, at workspace.Place, _, _ none) ([]vcsFile, error) {
	all, err := a.git.Diff(c.Context(), at, git.DiffOptions{Mode: git.Uncommitted, NoPatch: true})
	out := make([]vcsFile, 0, len(all))
	for _, d := range all {
		out = append(out, vcsFile{d.File, d.Additions, d.Deletions, d.Status})
	}
	return out, unreadable(err)
}

// unreadable is the error for a repository that git cannot read.
func unreadable(err error) error {
	if err == nil || lathe.CodeOf(err) != lathe.Internal {
		return err
	}
	return lathe.Errorf(lathe.Unavailable, "git cannot read this repository: %w", err)
}

type vcsQuery struct {
	Mode    string  `query:"mode"`
	Context *string `query:"context"`
}

func (a vcsAPI) vcsDiff(c *call, at workspace.Place, q vcsQuery, _ none) ([]lathe.FileDiff, error) {
	mode := git.Mode(q.Mode)
	if mode != git.Uncommitted && mode != git.SinceBranch {
		return nil, badRequest("Query", "mode: expected git or branch, not %q", phrase.Shorten(q.Mode, 40))
	}
	ask := git.DiffOptions{Mode: mode, Context: git.DefaultContext}
	if q.Context != nil {
		n, err := strconv.Atoi(*q.Context)
		if err != nil || n < 0 {
			return nil, badRequest("Query", "context: expected a whole number, 0 or more, not %q", phrase.Shorten(*q.Context, 40))
		}
		ask.Context = n
	}
	return Changes(c.Context(), a.git, at, ask)
}

// Changes returns the files that differ according to git.
func Changes(ctx context.Context, g *git.Git, at workspace.Place, ask git.DiffOptions) ([]lathe.FileDiff, error) {
	all, err := g.Diff(ctx, at, ask)
	return all, unreadable(err)
}

// vcsPatch is a patch for git apply.
func (a vcsAPI) vcsPatch(c *call, _ none) error {
	at, _, err := c.place()
	if err != nil {
		return err
	}
	patch, err := a.git.Patch(c.Context(), at)
	if err != nil {
		return unreadable(err)
	}
	c.w.Header().Set("Content-Type", "text/x-diff; charset=utf-8")
	c.w.whole(http.StatusOK, patch)
	return nil
}

type (
	patchBody struct {
		Patch string `json:"patch"`
	}
	applyReply struct {
		Applied bool `json:"applied"`
	}
	applyData struct {
		Message string `json:"message"`
		Reason  string `json:"reason"`
	}
)

func (a vcsAPI) vcsApply(c *call, at workspace.Place, _ none, in patchBody) (applyReply, error) {
	err := a.git.Apply(c.Context(), at, in.Patch)
	reason := ""
	switch {
	case errors.Is(err, git.ErrNoGit):
		reason = "non-git"
	case errors.Is(err, git.ErrNotClean):
		reason = "not-clean"
	default:
		return applyReply{Applied: err == nil}, err
	}
	return applyReply{}, &problem{status: http.StatusBadRequest, cause: err, body: named("VcsApplyError", applyData{phrase.Shorten(err.Error(), mostMessage), reason})}
}
