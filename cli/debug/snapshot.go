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

// newDebugSnapshot takes snapshots and compares with them, as turns do for undo.
func newDebugSnapshot(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "snapshot", Short: "Take a snapshot of the project, and show changes since",
		Example: "  lathe debug snapshot track\n  lathe debug snapshot diff 4b825dc642cb6eb9a060e54bf8d69288fbee4904",
		Args:    cobra.ArbitraryArgs, RunE: cli.RequireSubcommand,
	}
	cmd.AddCommand(
		&cobra.Command{
			Use: "track", Short: "Take a snapshot of all files and print its ID", Example: "  before=$(lathe debug snapshot track)", Args: cli.NoArgs,
			RunE: func(c *cobra.Command, _ []string) error {
				return withWork(c.Context(), a, func(w *snapshot.Worktree) error { return trackSnapshot(c.Context(), a, w) })
			},
		},
		&cobra.Command{
			Use: "patch TREE", Short: "List the files changed since a snapshot as JSON", Example: "  lathe debug snapshot patch \"$before\" | jq -r '.files[]'", Args: cli.RangeArgs(1, 1),
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
			Use: "diff TREE", Short: "Show the changes since a snapshot", Example: "  lathe debug snapshot diff \"$before\"", Args: cli.RangeArgs(1, 1),
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

// patchJSON is the content of a patch part.
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

// noTree explains an invalid snapshot ID.
func noTree(name string, err error) error {
	if lathe.CodeOf(err) == lathe.Canceled {
		return err
	}
	if !regexp.MustCompile(`^[0-9a-f]{40}$`).MatchString(name) {
		return cli.Usagef("%s is not a snapshot ID of 40 digits; `lathe debug snapshot track` prints one", termtext.Quote(name))
	}
	return lathe.Errorf(lathe.NotFound, "snapshot not found: %s: %w", name, err)
}
