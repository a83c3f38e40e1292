package debug

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/config/datadir"
	"github.com/lathe-agent/lathe/internal/termtext"
	"github.com/lathe-agent/lathe/workspace"
	"github.com/lathe-agent/lathe/workspace/snapshot"
)

// newDebugSnapshot takes the state of a work tree and compares with it later, as turns do for undo.
func newDebugSnapshot(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "snapshot", Short: "Keep what the files of this project are, and tell what changed since",
		Example: "  lathe debug snapshot track\n  lathe debug snapshot diff 4b825dc642cb6eb9a060e54bf8d69288fbee4904",
		Args:    cobra.ArbitraryArgs, RunE: cli.RequireSubcommand,
	}
	cmd.AddCommand(
		&cobra.Command{
			Use: "track", Short: "Look at all files and print a name for their state", Example: "  before=$(lathe debug snapshot track)", Args: cli.NoArgs,
			RunE: func(c *cobra.Command, _ []string) error {
				return withWork(c.Context(), a, func(w *snapshot.Worktree) error { return trackSnapshot(c.Context(), a, w) })
			},
		},
		&cobra.Command{
			Use: "patch TREE", Short: "List the files that changed since, as JSON", Example: "  lathe debug snapshot patch \"$before\" | jq -r '.files[]'", Args: cli.RangeArgs(1, 1),
			RunE: func(c *cobra.Command, args []string) error {
				return withWork(c.Context(), a, func(w *snapshot.Worktree) error {
					p, err := w.Patch(c.Context(), args[0])
					if err != nil {
						return noTree(args[0], err)
					}
					return a.PrintJSON(patchJSON{args[0], append([]string{}, p.Files...)})
				})
			},
		},
		&cobra.Command{
			Use: "diff TREE", Short: "Show what changed since", Example: "  lathe debug snapshot diff \"$before\"", Args: cli.RangeArgs(1, 1),
			RunE: func(c *cobra.Command, args []string) error {
				return withWork(c.Context(), a, func(w *snapshot.Worktree) error {
					text, err := w.Diff(c.Context(), args[0])
					if err != nil {
						return noTree(args[0], err)
					}
					if a.Printf("%s", text); text != "" && !strings.HasSuffix(text, "\n") {
						a.Printf("\n")
					}
					return nil
				})
			},
		},
	)
	return cmd
}

// patchJSON is what a patch part says.
type patchJSON struct {
	Hash  string   `json:"hash"`
	Files []string `json:"files"`
}

// withWork runs f on the work tree of the directory.
func withWork(ctx context.Context, a *cli.App, f func(*snapshot.Worktree) error) error {
	at, err := datadir.Find(a.Env)
	if err != nil {
		return err
	}
	place, err := workspace.Locate(ctx, a.Dir, nil)
	if err != nil {
		return err
	}
	s := snapshot.New(snapshot.Options{Dir: at.Snapshots(), Log: a.Log, Excludes: a.UserExcludes})
	return cli.CloseAfter(s, f(s.Worktree(place)))
}

// trackSnapshot frames nothing: what a frame sees when it begins is what is there.
func trackSnapshot(ctx context.Context, a *cli.App, w *snapshot.Worktree) error {
	step := w.Step(fmt.Sprintf("debug-%d", a.Now().UnixNano()))
	frame, err := step.BeginCommand(ctx)
	if err != nil {
		return err
	}
	err = frame.End(ctx)
	tree, e := step.Tree(ctx)
	_, ended := step.End(ctx)
	if err := errors.Join(err, e, ended); err != nil {
		return err
	}
	a.Printf("%s\n", tree)
	return nil
}

// noTree says what a tree is when none is named.
func noTree(name string, err error) error {
	if lathe.CodeOf(err) == lathe.Canceled {
		return err
	}
	if !regexp.MustCompile(`^[0-9a-f]{40}$`).MatchString(name) {
		return cli.Usagef("%s is no tree: `lathe debug snapshot track` prints one, of 40 digits", termtext.Quote(name))
	}
	return lathe.Errorf(lathe.NotFound, "the tree %s is not kept here: %w", name, err)
}
