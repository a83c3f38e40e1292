package session

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/api"
	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/internal/termtext"
)

// UndoFlags select how much to undo or redo.
type UndoFlags struct {
	message, part string
	all, dry      bool
}

// newUndo also lists conflicts, since undo never overwrites the user's own edits.
func newUndo(a *cli.App) *cobra.Command {
	var f UndoFlags
	cmd := &cobra.Command{
		Use:   "undo [ID] [--message MESSAGE | --part PART] [--dry-run]",
		Short: "Undo the last exchange, or everything since a message",
		Long: `Undo the last exchange of a session: restore its files and hide its messages. Repeat to undo earlier
exchanges, or use --message. "session redo" restores everything until the next prompt, which
deletes the hidden messages.

Undo changes only files that the undone steps wrote, and only if they are unchanged since. A file
that you changed since is a conflict: it is listed and left alone, and the exit code is 1, although
everything else is undone.`,
		Example: `  lathe session undo last --dry-run
  lathe session undo last
  lathe session undo 4mKq --message msg_f4ddc1a2e001Vd0Rk3XbT7uQ9p`,
		Args: cli.RangeArgs(0, 1),
		RunE: func(c *cobra.Command, args []string) error {
			return onSession(c.Context(), a, args, func(e api.Engine, s lathe.Session) error { return UndoExchange(c.Context(), a, e, s, f) })
		},
	}
	f.define(cmd)
	return a.JSONFlag(cmd)
}

// newRedo reverts an undo, as long as no prompt followed it.
func newRedo(a *cli.App) *cobra.Command {
	var f UndoFlags
	cmd := &cobra.Command{
		Use:   "redo [ID] [--message MESSAGE | --all] [--dry-run]",
		Short: "Redo undone exchanges",
		Long: `Redo one undone exchange, everything before --message, or with --all everything. A file that you
changed since is listed and left alone.`,
		Example: `  lathe session redo last
  lathe session redo last --all --dry-run`,
		Args: cli.RangeArgs(0, 1),
		RunE: func(c *cobra.Command, args []string) error {
			if f.all && (f.message != "" || f.part != "") {
				return cli.Usagef("--all cannot be combined with --message or --part")
			}
			return onSession(c.Context(), a, args, func(e api.Engine, s lathe.Session) error { return redoExchange(c.Context(), a, e, s, f) })
		},
	}
	f.define(cmd)
	cmd.Flags().BoolVar(&f.all, "all", false, "redo everything")
	return a.JSONFlag(cmd)
}

func (f *UndoFlags) define(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.message, "message", "", "start at this `MESSAGE`")
	cmd.Flags().StringVar(&f.part, "part", "", "start at this `PART` of a message")
	cmd.Flags().BoolVarP(&f.dry, "dry-run", "n", false, "show the changes without making them")
}

// onSession runs f on the given session, or the latest one.
func onSession(ctx context.Context, a *cli.App, args []string, f func(api.Engine, lathe.Session) error) error {
	id, err := cli.IDArg(args)
	if err != nil {
		return err
	}
	return onNamed(ctx, a, id, f)
}

// onNamed runs f on the session with an ID.
func onNamed(ctx context.Context, a *cli.App, id string, f func(api.Engine, lathe.Session) error) error {
	return a.WithSessions(ctx, func(e api.Engine) error {
		s, err := a.Find(ctx, e, id)
		if err != nil {
			return err
		}
		return f(e, s)
	})
}

func (f UndoFlags) request() lathe.Undo {
	return lathe.Undo{Message: lathe.MessageID(f.message), Part: lathe.PartID(f.part), All: f.all, DryRun: f.dry}
}

func UndoExchange(ctx context.Context, a *cli.App, e api.Engine, s lathe.Session, f UndoFlags) error {
	done, err := e.Undo(ctx, s.ID, f.request())
	if err != nil {
		return err
	}
	return printChanges(a, done, f.dry, "Undone from "+string(done.Message), "Would undo from "+string(done.Message))
}

// redoExchange redoes undone messages, and says from which message on the session is still undone.
func redoExchange(ctx context.Context, a *cli.App, e api.Engine, s lathe.Session, f UndoFlags) error {
	done, err := e.Redo(ctx, s.ID, f.request())
	switch {
	case err != nil:
		return err
	case done.Message == "":
		return printChanges(a, done, f.dry, "Redid everything", "Would redo everything")
	}
	return printChanges(a, done, f.dry, "Now undone from "+string(done.Message), "Would be undone from "+string(done.Message))
}

// undoneJSON is the output of undo and redo with --json.
type undoneJSON struct {
	DryRun  bool               `json:"dryRun"`
	Session lathe.Session      `json:"session"`
	Files   []lathe.UndoneFile `json:"files"`
}

// printChanges prints the file changes. Conflicts make the command fail.
func printChanges(a *cli.App, u lathe.Undone, dry bool, did, would string) error {
	out := undoneJSON{DryRun: dry, Session: u.Session, Files: u.Files}
	if a.JSON {
		if err := a.PrintJSON(out); err != nil {
			return err
		}
	} else {
		printUndone(a, out, did, would)
	}
	return failOnConflicts(a, u.Files, dry)
}

// failOnConflicts makes the command fail if files were left alone.
func failOnConflicts(a *cli.App, files []lathe.UndoneFile, dry bool) error {
	conflicts := 0
	for _, f := range files {
		if f.Conflict != "" {
			conflicts++
		}
	}
	if conflicts == 0 {
		return nil
	}
	a.Flush()
	verb := "were"
	switch {
	case dry:
		verb = "would be"
	case conflicts == 1:
		verb = "was"
	}
	a.Notify("%s changed since the undone step and %s left alone. Review with your editor or `git diff`.", termtext.Plural(conflicts, "file"), verb)
	return cli.Reported{Code: cli.ExitFailed}
}

// printUndone lists the files with their outcome, and marks conflicts with ✗.
func printUndone(a *cli.App, out undoneJSON, did, would string) {
	if out.DryRun {
		did = would
	}
	a.Printf("%s.\n", did)
	for _, f := range out.Files {
		mark, extra := "✓", f.Note
		if f.Conflict != "" {
			mark, extra = "✗", f.Conflict
		}
		name := relativeTo(out.Session.Directory, f.File)
		if name == f.File {
			name = termtext.Tilde(f.File, a.Env("HOME"))
		}
		line := mark + " " + termtext.Pad(f.Action, 8) + " " + termtext.Plain(name)
		if extra != "" {
			line += " — " + termtext.Plain(extra)
		}
		a.Printf("%s\n", line)
	}
	if len(out.Files) == 0 {
		a.Printf("No files affected.\n")
	}
}
