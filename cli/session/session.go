// Package session has the commands for sessions: list, show, undo, export, import, share and more.
package session

import (
	"context"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/api"
	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/internal/termtext"
)

// New returns `lathe session`.
func New(a *cli.App, forks Forker) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "session",
		Short: "Manage sessions",
		Long: `List, search, show, explain, undo, fork, rename, archive, share and delete sessions. A session is a saved conversation in
one directory.

For an ID, a unique beginning or end is enough, and "last" is the latest session of the project that
has messages (except for delete).`,
		Example: `  lathe session list
  lathe session show last
  lathe session rename 4mKq "Fix the parser"`,
		Args: cobra.ArbitraryArgs,
		RunE: cli.RequireSubcommand,
	}
	a.AttachFlag(cmd)
	cmd.AddCommand(newList(a), newSearch(a), newShow(a), newExplain(a), newContext(a), newDelete(a), newFork(a), newRename(a), newArchive(a), newShareOne(a), newDiff(a), newUndo(a), newRedo(a), newRewind(a), newReplay(a, forks))
	return cmd
}

// newFork copies into the current directory, so that a session can move to another worktree.
func newFork(a *cli.App) *cobra.Command {
	var at string
	cmd := &cobra.Command{
		Use:   "fork ID [--at MESSAGE]",
		Short: "Copy a session, or its messages before one of them",
		Long: `Copy a session to a new one in the current directory (or that of -C). With --at, copy only the
messages before that one; "session show" prints message IDs. The original does not change.`,
		Example: `  lathe session fork last
  lathe session fork ses_0b22 --at msg_f4ddc1a2e001Vd0Rk3XbT7uQ9p`,
		Args: cli.RangeArgs(1, 1),
		RunE: func(c *cobra.Command, args []string) error {
			return onNamed(c.Context(), a, args[0], func(e api.Engine, s lathe.Session) error {
				return forkSession(c.Context(), a, e, s, lathe.MessageID(at))
			})
		},
	}
	cmd.Flags().StringVar(&at, "at", "", "copy only the messages before this `MESSAGE`")
	return a.JSONFlag(cmd)
}

func forkSession(ctx context.Context, a *cli.App, e api.Engine, s lathe.Session, before lathe.MessageID) error {
	if before != "" { // for an unknown message the engine would copy everything
		if _, err := e.Message(ctx, s.ID, before); err != nil {
			return err
		}
	}
	copied, err := e.Fork(ctx, cli.EngineDir(a), s.ID, before)
	return printChanged(a, "Forked session: %s\n", copied, err)
}

// printChanged prints a new or changed session: one line, or its record as JSON.
func printChanged(a *cli.App, line string, s lathe.Session, err error) error {
	switch {
	case err != nil:
		return err
	case a.JSON:
		return a.PrintJSON(s)
	}
	a.Printf(line, s.ID)
	return nil
}

func newRename(a *cli.App) *cobra.Command {
	return a.JSONFlag(&cobra.Command{
		Use:     "rename ID TITLE",
		Short:   "Change the title of a session",
		Example: `  lathe session rename last "Fix the parser"`,
		Args:    cli.RangeArgs(2, -1),
		RunE: func(c *cobra.Command, args []string) error {
			title, err := checkTitle(strings.Join(args[1:], " "))
			if err != nil {
				return err
			}
			return onNamed(c.Context(), a, args[0], func(e api.Engine, s lathe.Session) error {
				s, err := e.Rename(c.Context(), s.ID, title)
				return printChanged(a, "Renamed session: %s\n", s, err)
			})
		},
	})
}

// maxTitle is the longest title that a user can set, in characters.
const maxTitle = 1000

// checkTitle rejects titles that would not fit in a list.
func checkTitle(title string) (string, error) {
	title = strings.TrimSpace(title)
	switch {
	case !utf8.ValidString(title):
		return "", cli.Usagef("the title is not valid UTF-8; check the encoding of your terminal")
	case title == "":
		return "", cli.Usagef("a title cannot be empty")
	case utf8.RuneCountInString(title) > maxTitle:
		return "", cli.Usagef("the title is longer than %d characters; give a shorter one", maxTitle)
	case title != termtext.Plain(title):
		return "", cli.Usagef("a title must be one line without control characters")
	}
	return title, nil
}

// newArchive hides a session from lists without deleting it.
func newArchive(a *cli.App) *cobra.Command {
	var undo bool
	cmd := &cobra.Command{
		Use:   "archive ID [--undo]",
		Short: "Archive a session, or restore it",
		Long: `Archive a session. It is no longer listed, but you can still read, export and fork it. List archived
sessions with "session list --archived", and restore one with --undo.`,
		Example: `  lathe session archive last
  lathe session archive 4mKq --undo`,
		Args: cli.RangeArgs(1, 1),
		RunE: func(c *cobra.Command, args []string) error {
			return onNamed(c.Context(), a, args[0], func(e api.Engine, s lathe.Session) error { return archiveSession(c.Context(), a, e, s, undo) })
		},
	}
	cmd.Flags().BoolVar(&undo, "undo", false, "restore the session")
	return a.JSONFlag(cmd)
}

func archiveSession(ctx context.Context, a *cli.App, e api.Engine, s lathe.Session, undo bool) error {
	line, at := "Restored session: %s\n", (*lathe.Time)(nil)
	if !undo {
		now := lathe.TimeOf(a.Now())
		line, at = "Archived session: %s\n", &now
	}
	s, err := e.Archive(ctx, s.ID, at)
	return printChanged(a, line, s, err)
}
