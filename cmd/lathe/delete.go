package main

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
	"github.com/lathe-agent/lathe/internal/termtext"
)

func newDelete(a *app) *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use:     "delete ID...",
		Aliases: []string{"rm"},
		Short:   "Delete sessions and all below them",
		Long: `Deletes sessions, the sessions of sub-agents below them, and what only they refer to.
All IDs are looked up first: if one is wrong, nothing is deleted. On a terminal it asks
before it deletes, unless --yes is given. There is no undo; "export" makes a copy first.`,
		Example: `  lathe export 4mKq -o copy.json && lathe session delete 4mKq
  lathe session delete --yes ses_0b22a1c3f001Qd0Rk3XbT7uQ9p`,
		Args: wantArgs(1, -1),
		RunE: func(c *cobra.Command, args []string) error {
			return a.onSessions(c.Context(), func(e api.Engine) error { return a.delete(c.Context(), e, args, yes) })
		},
	}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	a.jsonFlag(cmd)
	return cmd
}

func (a *app) delete(ctx context.Context, e api.Engine, args []string, yes bool) error {
	tops, all, err := a.doomed(ctx, e, args)
	if err != nil {
		return err
	}
	if !yes && isTerminal(a.stdin) {
		if sure, err := a.confirm(ctx, tops, len(all)); err != nil || !sure {
			return err
		}
	}
	gone := []lathe.SessionID{}
	for _, s := range tops {
		if err := e.Remove(ctx, s.ID); err != nil && lathe.CodeOf(err) != lathe.NotFound { // below one that is gone already
			return fmt.Errorf("%w; %s of %d deleted before that", err, termtext.Count(len(gone)), len(tops))
		}
		gone = append(gone, s.ID)
	}
	if a.json {
		return a.printJSON(deletedJSON{ids(all)})
	}
	a.Remark("Deleted %s.", describe(tops, len(all)))
	return nil
}

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

// doomed looks up all sessions first: those named, and all that go with them.
func (a *app) doomed(ctx context.Context, e api.Engine, args []string) (tops, all []lathe.Session, err error) {
	named, seen := map[lathe.SessionID]bool{}, map[lathe.SessionID]bool{}
	for _, arg := range args {
		if arg == last || arg == "" {
			return nil, nil, usagef("delete wants to be told which session by its id; `lathe session list` shows them")
		}
		s, err := a.find(ctx, e, arg)
		if err != nil {
			return nil, nil, err
		}
		if named[s.ID] {
			continue
		}
		named[s.ID] = true
		tops = append(tops, s)
		tree, err := below(ctx, e, s)
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

func describe(tops []lathe.Session, all int) string {
	what := termtext.Several(len(tops), "session")
	if len(tops) == 1 {
		what = fmt.Sprintf("session %s (%s)", tops[0].ID, termtext.Clip(termtext.Plain(tops[0].Title), 40))
	}
	if more := all - len(tops); more > 0 {
		what += fmt.Sprintf(" and %s below", termtext.Several(more, "session"))
	}
	return what
}

func (a *app) confirm(ctx context.Context, tops []lathe.Session, all int) (bool, error) {
	_, _ = fmt.Fprintf(a.stderr, "Delete %s? [y/N] ", describe(tops, all))
	line, err := reading(ctx, func() ([]byte, error) {
		line, err := bufio.NewReader(a.stdin).ReadBytes('\n')
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
		a.Remark("Nothing was deleted.")
		return false, nil
	}
}
