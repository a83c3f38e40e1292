package api

import (
	"context"

	"github.com/lathe-agent/lathe"
)

// Worktrees manages isolated copies of a checkout in which sessions work. All calls are about the repository of a
// directory.
type Worktrees interface {
	// ListWorktrees returns the worktrees by name, after a repair of those that a killed process left half made.
	ListWorktrees(ctx context.Context, dir string) ([]Worktree, error)
	// StartWorktree makes a worktree and a session that works in it. Without a name it chooses one.
	StartWorktree(ctx context.Context, dir, name string) (Worktree, error)
	// ForkWorktree makes a worktree with the files at the end of a step of a session, and a copy of the session up to
	// there that works in it.
	ForkWorktree(ctx context.Context, id lathe.SessionID, step int, name string) (Worktree, error)
	// CompareWorktree returns what a worktree changed since it was made or last merged.
	CompareWorktree(ctx context.Context, dir, name string) ([]lathe.FileDiff, error)
	// ApplyWorktree merges the changes of a worktree into the checkout that it was made from.
	ApplyWorktree(ctx context.Context, dir, name string, o WorktreeMerge) (WorktreeReport, error)
	// DropWorktree removes a worktree. Unless forced it refuses one with changes that are not merged. A branch with
	// commits of its own stays, and its name is returned.
	DropWorktree(ctx context.Context, dir, name string, force bool) (keptBranch string, err error)
}

// Worktree is an isolated copy of a checkout.
type Worktree struct {
	Name      string          `json:"name"`
	Branch    string          `json:"branch,omitempty"` // none without git
	Path      string          `json:"path"`
	Directory string          `json:"directory"` // where its session works: path, or a folder in it
	Origin    string          `json:"origin"`    // the checkout
	Session   lathe.SessionID `json:"session,omitempty"`
	State     string          `json:"state" enum:"creating,ready,merging,dropping"`
	Live      bool            `json:"live"`    // a session works in it now
	Changed   int             `json:"changed"` // files that are not merged
	Merged    bool            `json:"merged"`  // at least once
	Missing   bool            `json:"missing"` // its files are gone
	Created   lathe.Time      `json:"created"`
	Problem   string          `json:"problem,omitempty"` // why it cannot be compared
	// Left are the files that a fork from a step did not bring to that step, because the user changed them since.
	Left []lathe.UndoneFile `json:"left,omitempty"`
}

// WorktreeMerge says how to merge.
type WorktreeMerge struct {
	// Session gets the merge as a step that can be undone, and its agent sees the result. Without one a new session does.
	Session lathe.SessionID `json:"session,omitempty"`
	DryRun  bool            `json:"dryRun,omitempty"` // only report
}

// WorktreeReport is the result of a merge, or what a merge would do.
type WorktreeReport struct {
	Name      string          `json:"name"`
	Session   lathe.SessionID `json:"session,omitempty"` // that has the merge as a step
	Changed   int             `json:"changed"`           // files
	Conflicts []string        `json:"conflicts"`         // paths that need a decision
	Text      string          `json:"text"`              // for people
}
