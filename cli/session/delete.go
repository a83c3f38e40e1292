package session

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/api"
	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/internal/termtext"
)

// newDelete accepts several IDs, but not "last": a mistake here cannot be undone.
func newDelete(a *cli.App) *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use:     "delete ID...",
		Aliases: []string{"rm"},
		Short:   "Delete sessions and their subagent sessions",
		Long: `Delete sessions, their subagent sessions and all data that only they use. If one ID is wrong, nothing
is deleted. On a terminal, lathe asks first unless --yes is given. Deleting cannot be undone; make a
copy with "export" first.`,
		Example: `  lathe export 4mKq -o copy.json && lathe session delete 4mKq
  lathe session delete --yes ses_0b22a1c3f001Qd0Rk3XbT7uQ9p`,
		Args: cli.RangeArgs(1, -1),
		RunE: func(c *cobra.Command, args []string) error {
			return a.WithSessions(c.Context(), func(e api.Engine) error { return deleteSessions(c.Context(), a, e, args, yes) })
		},
	}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask for confirmation")
	return a.JSONFlag(cmd)
}

// deleteSessions resolves all IDs before it deletes one, so that a typo deletes nothing.
func deleteSessions(ctx context.Context, a *cli.App, e api.Engine, args []string, yes bool) error {
	tops, all, err := sessionsToDelete(ctx, a, e, args)
	if err != nil {
		return err
	}
	if !yes && cli.IsTerminal(a.Stdin) {
		if sure, err := confirmDelete(ctx, a, tops, len(all)); err != nil || !sure {
			return err
		}
	}
	gone := []lathe.SessionID{}
	for _, s := range tops {
		if err := e.Remove(ctx, s.ID); err != nil && lathe.CodeOf(err) != lathe.NotFound { // already deleted with its parent
			return fmt.Errorf("%w; %s of %d deleted before that", err, termtext.Count(len(gone)), len(tops))
		}
		gone = append(gone, s.ID)
	}
	if a.JSON {
		return a.PrintJSON(deletedJSON{ids(all)})
	}
	a.Notify("Deleted %s.", describe(tops, len(all)))
	return nil
}

// deletedJSON is the output of `lathe session delete --json`.
type deletedJSON struct {
	Deleted []lathe.SessionID `json:"deleted"`
}

func ids(all []lathe.Session) []lathe.SessionID {
	out := make([]lathe.SessionID, len(all))
	for i, s := range all {
		out[i] = s.ID
	}
	return out
}

// sessionsToDelete looks up the given sessions and all their descendants.
func sessionsToDelete(ctx context.Context, a *cli.App, e api.Engine, args []string) (tops, all []lathe.Session, err error) {
	named, seen := map[lathe.SessionID]bool{}, map[lathe.SessionID]bool{}
	for _, arg := range args {
		if arg == cli.Last || arg == "" {
			return nil, nil, cli.Usagef("delete needs a session ID; `lathe session list` lists them")
		}
		s, err := a.Find(ctx, e, arg)
		if err != nil {
			return nil, nil, err
		}
		if named[s.ID] {
			continue
		}
		named[s.ID] = true
		tops = append(tops, s)
		tree, err := cli.WithDescendants(ctx, e, s)
		if err != nil {
			return nil, nil, err
		}
		for _, s := range tree {
			if !seen[s.ID] {
				seen[s.ID] = true
				all = append(all, s)
			}
		}
	}
	return tops, all, nil
}

// describe counts the sessions for the question, with their subagent sessions.
func describe(tops []lathe.Session, all int) string {
	what := termtext.Plural(len(tops), "session")
	if len(tops) == 1 {
		what = fmt.Sprintf("session %s (%s)", tops[0].ID, termtext.Clip(termtext.Plain(tops[0].Title), 40))
	}
	if more := all - len(tops); more > 0 {
		what += fmt.Sprintf(" and %s", termtext.Plural(more, "subagent session"))
	}
	return what
}

// confirmDelete asks on a terminal, because a deleted session cannot be restored.
func confirmDelete(ctx context.Context, a *cli.App, tops []lathe.Session, all int) (bool, error) {
	_, _ = fmt.Fprintf(a.Stderr, "Delete %s? [y/N] ", describe(tops, all))
	line, err := cli.ReadOrCancel(ctx, func() ([]byte, error) {
		line, err := bufio.NewReader(a.Stdin).ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			err = nil
		}
		return line, err
	})
	if err != nil {
		return false, err
	}
	switch strings.ToLower(strings.TrimSpace(string(line))) {
	case "y", "yes":
		return true, nil
	default:
		a.Notify("Canceled; nothing was deleted.")
		return false, nil
	}
}
