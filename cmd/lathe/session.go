package main

import (
	"context"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/api"
	"github.com/lathe-agent/lathe/internal/termtext"
)

func newSession(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "session",
		Short: "List, show, undo, fork, rename, archive and delete sessions",
		Long: `A session is a durable conversation about one directory.

Wherever an ID is asked for, its beginning or its end is enough if no other session has
the same, and "last" is the newest session of the project (except for delete).`,
		Example: `  lathe session list
  lathe session show last
  lathe session rename 4mKq "Fix the parser"`,
		Args: cobra.ArbitraryArgs,
		RunE: group,
	}
	a.attachFlag(cmd)
	cmd.AddCommand(newList(a), newShow(a), newDelete(a), newFork(a), newRename(a), newArchive(a), newDiff(a), newUndo(a), newRedo(a))
	return cmd
}

func newFork(a *app) *cobra.Command {
	var at string
	cmd := &cobra.Command{
		Use:   "fork ID [--at MESSAGE]",
		Short: "Copy a session, whole or up to a message",
		Long: `Makes a new session in the current directory (or that of -C) out of another's messages.
With --at, only the messages before that one are copied; "session show" prints their ids.
The original stays as it is.`,
		Example: `  lathe session fork last
  lathe session fork ses_0b22 --at msg_f4ddc1a2e001Vd0Rk3XbT7uQ9p`,
		Args: wantArgs(1, 1),
		RunE: func(c *cobra.Command, args []string) error {
			return a.onSessions(c.Context(), func(e api.Engine) error { return a.fork(c.Context(), e, args[0], lathe.MessageID(at)) })
		},
	}
	cmd.Flags().StringVar(&at, "at", "", "copy what comes before this `MESSAGE`")
	a.jsonFlag(cmd)
	return cmd
}

func (a *app) fork(ctx context.Context, e api.Engine, id string, before lathe.MessageID) error {
	s, err := a.find(ctx, e, id)
	if err != nil {
		return err
	}
	if before != "" { // the engine would copy everything for a message it does not know
		if _, err := e.Message(ctx, s.ID, before); err != nil {
			return err
		}
	}
	copied, err := e.Fork(ctx, a.place(), s.ID, before)
	if err != nil {
		return err
	}
	return a.changed("Forked session: %s\n", copied)
}

// changed prints a session that was made or changed: a line for people, the record for programs.
func (a *app) changed(line string, s lathe.Session) error {
	if a.json {
		return a.printJSON(s)
	}
	a.printf(line, s.ID)
	return nil
}

func newRename(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "rename ID TITLE",
		Short:   "Give a session another title",
		Example: `  lathe session rename last "Fix the parser"`,
		Args:    wantArgs(2, -1),
		RunE: func(c *cobra.Command, args []string) error {
			title, err := checkTitle(strings.Join(args[1:], " "))
			if err != nil {
				return err
			}
			return a.onSessions(c.Context(), func(e api.Engine) error {
				s, err := a.find(c.Context(), e, args[0])
				if err != nil {
					return err
				}
				if s, err = e.Rename(c.Context(), s.ID, title); err != nil {
					return err
				}
				return a.changed("Renamed session: %s\n", s)
			})
		},
	}
	a.jsonFlag(cmd)
	return cmd
}

// maxTitle is the longest title that can be given by hand, in characters.
const maxTitle = 1000

func checkTitle(title string) (string, error) {
	title = strings.TrimSpace(title)
	switch {
	case !utf8.ValidString(title):
		return "", usagef("the title is not valid UTF-8; check the encoding of your terminal")
	case title == "":
		return "", usagef("a title cannot be empty")
	case utf8.RuneCountInString(title) > maxTitle:
		return "", usagef("the title is longer than %d characters; give a shorter one", maxTitle)
	case title != termtext.Plain(title):
		return "", usagef("a title is one line without control characters")
	}
	return title, nil
}

func newArchive(a *app) *cobra.Command {
	var undo bool
	cmd := &cobra.Command{
		Use:   "archive ID [--undo]",
		Short: "Take a session off the list, or bring it back",
		Long: `An archived session is not listed but can still be read, exported and forked.
"session list --archived" shows them, --undo brings one back.`,
		Example: `  lathe session archive last
  lathe session archive 4mKq --undo`,
		Args: wantArgs(1, 1),
		RunE: func(c *cobra.Command, args []string) error {
			return a.onSessions(c.Context(), func(e api.Engine) error { return a.archive(c.Context(), e, args[0], undo) })
		},
	}
	cmd.Flags().BoolVar(&undo, "undo", false, "bring the session back")
	a.jsonFlag(cmd)
	return cmd
}

func (a *app) archive(ctx context.Context, e api.Engine, id string, undo bool) error {
	s, err := a.find(ctx, e, id)
	if err != nil {
		return err
	}
	line, at := "Restored session: %s\n", (*lathe.Time)(nil)
	if !undo {
		now := lathe.TimeOf(a.Now())
		line, at = "Archived session: %s\n", &now
	}
	if s, err = e.Archive(ctx, s.ID, at); err != nil {
		return err
	}
	return a.changed(line, s)
}
