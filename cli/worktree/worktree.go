// Package worktree implements `lathe worktree`: list, compare, merge and remove the isolated trees of a project.
package worktree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/api"
	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/cli/layout"
	"github.com/lathe-agent/lathe/engine"
	"github.com/lathe-agent/lathe/harness/trees"
	"github.com/lathe-agent/lathe/internal/termtext"
	"github.com/lathe-agent/lathe/workspace"
	"github.com/lathe-agent/lathe/workspace/worktree"
)

// New returns `lathe worktree`.
func New(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "worktree",
		Short: "Manage the isolated trees of this project",
		Long: `List, compare, merge and remove worktrees: isolated copies of this checkout in which an agent works.
A worktree starts with your last commit plus your uncommitted changes. In a git repository it has
its own branch lathe/NAME and shares all objects. Commands of its session cannot write to your
checkout or see other worktrees.

Make one with "lathe run --worktree [NAME]". A worktree stays until you drop it, also if lathe is
killed.`,
		Example: `  lathe run --worktree parser "Rewrite the parser"
  lathe worktree list
  lathe worktree diff parser
  lathe worktree merge parser
  lathe worktree drop parser`,
		RunE: cli.RequireSubcommand,
	}
	cmd.AddCommand(newList(a), newDiff(a), newMerge(a), newDrop(a))
	return cmd
}

// with runs f on the engine and the place of the command, after a repair of what killed processes left.
func with(ctx context.Context, a *cli.App, f func(*engine.Engine, workspace.Place) error) error {
	e, err := a.Open(ctx)
	if err != nil {
		return err
	}
	run := func() error {
		at, err := e.Locate(ctx, a.Dir)
		if err != nil {
			return err
		}
		if err := e.Trees().Recover(ctx, at); err != nil {
			return err
		}
		return f(e, at)
	}
	return cli.CloseAfter(e, run())
}

// treeJSON is a tree in the output of list --json.
type treeJSON struct {
	worktree.Record
	Live    bool   `json:"live"`    // a process works in it
	Dirty   bool   `json:"dirty"`   // it has changes that are not merged
	Changed int    `json:"changed"` // files
	Missing bool   `json:"missing"` // its folder is gone
	Problem string `json:"problem,omitempty"`
}

// newList also shows trees whose session died: those are the ones that get lost elsewhere.
func newList(a *cli.App) *cobra.Command {
	all := false
	cmd := &cobra.Command{
		Use: "list", Aliases: []string{"ls"}, Short: "List worktrees with their state and changes",
		Long: `List the worktrees of this repository. A worktree without a live session is idle: resume its session,
merge it or drop it. lathe never deletes a worktree with changes by itself.`,
		Example: "  lathe worktree list\n  lathe worktree list --all --json",
		Args:    cli.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return with(c.Context(), a, func(e *engine.Engine, at workspace.Place) error { return list(c.Context(), a, e, at, all) })
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "list the worktrees of all projects")
	return a.JSONFlag(cmd)
}

// list compares each tree with its base, so that it can tell what would be lost.
func list(ctx context.Context, a *cli.App, e *engine.Engine, at workspace.Place, all bool) error {
	found, err := e.Trees().Root().List(at)
	if all {
		found, err = e.Trees().Root().All()
	}
	if err != nil {
		return err
	}
	out := []treeJSON{}
	table := layout.Table{Head: []string{"NAME", "STATE", "CHANGED", "BRANCH", "AGE", "SESSION", "PATH"}, Flexible: []int{6, 3}, Paths: 6}
	for _, t := range found {
		j := treeJSON{Record: t.Record, Live: t.IsLive()}
		changes, err := t.Changes(ctx)
		j.Changed, j.Dirty, j.Missing = len(changes), len(changes) > 0, errors.Is(err, fs.ErrNotExist)
		if err != nil && !j.Missing {
			j.Problem = err.Error()
		}
		out = append(out, j)
		table.Rows = append(table.Rows, []string{t.Name, j.state(), fmt.Sprint(j.Changed), termtext.Plain(t.Branch), layout.FormatAge(lathe.Time(t.Created.UnixMilli()), a.Now()), string(t.Session), termtext.Plain(t.Path)})
	}
	return a.PrintList(out, table, "No worktrees. Make one with `lathe run --worktree [NAME] PROMPT`.")
}

// state is the state in one word or two.
func (j treeJSON) state() string {
	switch {
	case j.Missing:
		return "missing"
	case j.Live:
		return "running"
	case j.Dirty:
		return "idle, not merged"
	case !j.Merged.IsZero():
		return "merged"
	}
	return "idle"
}

// newDiff compares with the base, not with the checkout: the user may have moved on.
func newDiff(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "diff NAME", Short: "Show the changes of a worktree",
		Long:    "Show what a worktree changed since it was made or last merged, as a unified diff.",
		Example: "  lathe worktree diff parser\n  lathe worktree diff parser --json",
		Args:    cli.RangeArgs(1, 1),
		RunE: func(c *cobra.Command, args []string) error {
			return with(c.Context(), a, func(e *engine.Engine, at workspace.Place) error {
				t, err := e.Trees().Root().Find(at, args[0])
				if err != nil {
					return err
				}
				diffs, err := e.Trees().Diff(c.Context(), t)
				if err != nil {
					return err
				}
				if a.JSON {
					return a.PrintJSON(diffs)
				}
				for _, d := range diffs {
					if a.Printf("%s", termtext.PlainText(d.Patch)); d.Patch == "" {
						a.Printf("%s %s (no text)\n", d.Status, termtext.Plain(d.File))
					}
				}
				if len(diffs) == 0 {
					a.Notify("Worktree %s has no changes.", t.Name)
				}
				return nil
			})
		},
	}
	return a.JSONFlag(cmd)
}

// mergeFlags choose where the changes go.
type mergeFlags struct {
	dry, branch, drop bool
	message, session  string
}

// newMerge has an exit code for conflicts, so that scripts notice them.
func newMerge(a *cli.App) *cobra.Command {
	var f mergeFlags
	cmd := &cobra.Command{
		Use: "merge NAME", Short: "Merge the changes of a worktree into this checkout",
		Long: `Merge the changes of a worktree into the checkout it was made from, next to your own changes. The merge
is three-way, file by file and line by line, and is one step that "lathe session undo" reverts.

Where both changed the same lines, the file gets both versions between conflict markers. Where that is
not possible (binary files, deleted files) your file stays as it is. Both are listed as conflicts, and
the exit code is 1. lathe never resolves a conflict by itself.

--branch leaves your checkout alone and commits the worktree to its branch, for "git merge". Your
uncommitted changes from the start become a commit of their own.`,
		Example: `  lathe worktree merge parser --dry-run
  lathe worktree merge parser
  lathe worktree merge parser --branch --message "Rewrite the parser"`,
		Args: cli.RangeArgs(1, 1),
		RunE: func(c *cobra.Command, args []string) error {
			if f.message != "" && !f.branch {
				return cli.Usagef("--message needs --branch")
			}
			if f.branch && (f.session != "" || f.drop) {
				return cli.Usagef("--branch cannot be combined with --session or --drop")
			}
			if f.dry && (f.branch || f.drop) {
				return cli.Usagef("--dry-run cannot be combined with --branch or --drop")
			}
			return with(c.Context(), a, func(e *engine.Engine, at workspace.Place) error {
				t, err := e.Trees().Root().Find(at, args[0])
				if err != nil {
					return err
				}
				if f.branch {
					return commit(c.Context(), a, t, f)
				}
				return mergeTree(c.Context(), a, e, t, f)
			})
		},
	}
	cmd.Flags().BoolVarP(&f.dry, "dry-run", "n", false, "show the merge without making it")
	cmd.Flags().BoolVar(&f.branch, "branch", false, "commit to the worktree's branch instead")
	cmd.Flags().BoolVar(&f.branch, "commit", false, "same as --branch")
	cmd.Flags().StringVarP(&f.session, "session", "s", "", "`ID` of the session that gets the merge as a step, or last (default: a new one)")
	cmd.Flags().StringVar(&f.message, "message", "", "`TEXT` of the commit")
	cmd.Flags().BoolVar(&f.drop, "drop", false, "drop the worktree after a merge without conflicts")
	return a.JSONFlag(cmd)
}

// mergeTree shows or makes the merge.
func mergeTree(ctx context.Context, a *cli.App, e *engine.Engine, t *worktree.Tree, f mergeFlags) error {
	if f.dry {
		r, err := e.Trees().Report(ctx, t)
		if err != nil {
			return err
		}
		return printReport(a, r)
	}
	var into lathe.SessionID
	if f.session != "" {
		s, err := a.Find(ctx, e, f.session)
		if err != nil {
			return err
		}
		into = s.ID
	}
	r, err := Merge(ctx, e, t, into)
	if err != nil {
		return err
	}
	end := printReport(a, r)
	if r.Session != "" && !a.JSON {
		a.Flush()
		a.Notify("Undo with `lathe session undo %s`.", r.Session)
		if r.Conflicts > 0 {
			a.Notify("Let an agent resolve the conflicts with `lathe run -s %s \"Resolve the conflicts\"`.", r.Session)
		}
	}
	if f.drop && end == nil {
		_, end = t.Drop(ctx, false)
	}
	return end
}

// Merge merges a tree as a step of a session in its checkout, of a new one if id is "".
func Merge(ctx context.Context, e *engine.Engine, t *worktree.Tree, id lathe.SessionID) (worktree.Report, error) {
	return trees.Trees{Engine: e}.Merge(ctx, t, api.WorktreeMerge{Session: id})
}

// printReport ends with an exit code if there are conflicts.
func printReport(a *cli.App, r worktree.Report) error {
	if a.JSON {
		if err := a.PrintJSON(r); err != nil {
			return err
		}
	} else {
		a.Printf("%s", termtext.PlainText(r.Text()))
	}
	if r.Conflicts > 0 {
		return cli.Reported{Code: cli.ExitFailed}
	}
	return nil
}

// commit commits to the branch of the tree.
func commit(ctx context.Context, a *cli.App, t *worktree.Tree, f mergeFlags) error {
	id, err := t.Commit(ctx, f.message)
	switch {
	case err != nil:
		return err
	case a.JSON:
		return a.PrintJSON(map[string]string{"branch": t.Branch, "commit": id})
	case id == "":
		a.Notify("Worktree %s has nothing to commit.", t.Name)
	default:
		a.Printf("Committed %s to %s. Merge it with `git merge %s`.\n", id[:min(12, len(id))], t.Branch, t.Branch)
	}
	return nil
}

// newDrop refuses to lose work without --force.
func newDrop(a *cli.App) *cobra.Command {
	force := false
	cmd := &cobra.Command{
		Use: "drop NAME...", Aliases: []string{"rm"}, Short: "Remove worktrees",
		Long: `Remove worktrees with their branches. A worktree with changes or commits that are not merged stays
unless you add --force. A branch with commits always stays; delete it with "git branch -D".`,
		Example: "  lathe worktree drop parser\n  lathe worktree drop parser --force",
		Args:    cli.RangeArgs(1, 64),
		RunE: func(c *cobra.Command, args []string) error {
			return with(c.Context(), a, func(e *engine.Engine, at workspace.Place) error { return drop(c.Context(), a, e, at, args, force) })
		},
	}
	cmd.Flags().BoolVar(&force, "force", false, "also drop changes that are not merged")
	return a.JSONFlag(cmd)
}

// drop stops at the first tree that it cannot remove.
func drop(ctx context.Context, a *cli.App, e *engine.Engine, at workspace.Place, names []string, force bool) error {
	type dropped struct {
		Name   string `json:"name"`
		Branch string `json:"kept_branch,omitempty"`
	}
	out := []dropped{}
	for _, name := range names {
		t, err := e.Trees().Root().Find(at, name)
		if err != nil {
			return err
		}
		kept, err := t.Drop(ctx, force)
		if err != nil {
			return err
		}
		out = append(out, dropped{name, kept})
		if !a.JSON {
			a.Printf("Dropped worktree %s.\n", name)
			if kept != "" {
				a.Printf("Its branch %s has commits and stays.\n", kept)
			}
		}
	}
	if a.JSON {
		return a.PrintJSON(out)
	}
	return nil
}
