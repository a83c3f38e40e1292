package background

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/api"
	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/cli/layout"
	"github.com/lathe-agent/lathe/internal/termtext"
)

// boardFlags select the sessions of the board.
type boardFlags struct {
	state    string
	most     int
	archived bool
	watch    bool
}

// NewAgents returns `lathe agents`.
func NewAgents(a *cli.App) *cobra.Command {
	var f boardFlags
	cmd := &cobra.Command{
		Use:   "agents",
		Short: "Show what the sessions of all projects are doing",
		Long: `Show the sessions of all projects by state: needs you, running, queued, interrupted, failed, done. With model,
cost, branch and the last line of each. The list includes sessions of other lathe processes.

--watch prints each change until you press Ctrl+C. In the terminal UI, /board shows the same list and
answers, stops, opens and archives sessions. Definitions of agents are in ` + "`lathe agent list`" + `.`,
		Example: "  lathe agents\n  lathe agents --state 'needs you'\n  lathe agents --watch\n  lathe agents --json | jq -r '.[] | select(.state == \"failed\") | .id'",
		Args:    cli.NoArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return showBoard(c.Context(), a, f) },
	}
	cmd.Flags().StringVar(&f.state, "state", "", "show only sessions in this `STATE`")
	cmd.Flags().IntVarP(&f.most, "max-count", "n", 0, "show at most `N` sessions, most recent first; 0 means 1000")
	cmd.Flags().BoolVar(&f.archived, "archived", false, "also show archived sessions")
	cmd.Flags().BoolVarP(&f.watch, "watch", "w", false, "print changes until interrupted")
	a.AttachFlag(cmd)
	return a.JSONFlag(cmd)
}

func showBoard(ctx context.Context, a *cli.App, f boardFlags) error {
	states := lathe.BoardStates()
	if f.state != "" && !slices.Contains(states, lathe.BoardState(f.state)) {
		return cli.Usagef("--state %s: want needs you, running, queued, place away, interrupted, failed or done", termtext.Quote(f.state))
	}
	if f.most < 0 {
		return cli.Usagef("-n %d: want 0 or more", f.most)
	}
	err := a.WithSessions(ctx, func(e api.Engine) error {
		all, err := f.query(ctx, e, nil)
		if err != nil {
			return err
		}
		if f.watch {
			return watchBoard(ctx, a, e, f, all)
		}
		return a.PrintList(all, boardTable(a, all), "No sessions.")
	})
	if errors.As(err, new(cli.NoDatabase)) && !f.watch {
		return a.PrintList([]lathe.BoardEntry{}, layout.Table{}, "No sessions.")
	}
	return err
}

// query reads the board, sorted by state, then by the last change.
func (f boardFlags) query(ctx context.Context, e api.Engine, only []lathe.SessionID) ([]lathe.BoardEntry, error) {
	found, err := e.Board(ctx, lathe.BoardQuery{Sessions: only, Archived: f.archived, Limit: f.most})
	out := []lathe.BoardEntry{}
	for _, x := range found {
		if f.state == "" || x.State == lathe.BoardState(f.state) {
			out = append(out, x)
		}
	}
	states := lathe.BoardStates()
	slices.SortStableFunc(out, func(x, y lathe.BoardEntry) int {
		return cmp.Compare(slices.Index(states, x.State), slices.Index(states, y.State))
	})
	return out, err
}

func boardTable(a *cli.App, all []lathe.BoardEntry) layout.Table {
	t := layout.Table{Head: []string{"Session", "State", "Title", "Model", "Cost", "Branch", "Updated", "Directory", "Last line"}, Flexible: []int{8, 2, 7, 5, 3}, Paths: 7}
	for _, x := range all {
		t.Rows = append(t.Rows, boardRow(a, x))
	}
	return t
}

func boardRow(a *cli.App, x lathe.BoardEntry) []string {
	_, model, _ := strings.Cut(x.Model, "/")
	cost := ""
	if x.Cost > 0 {
		cost = x.Cost.Short()
	}
	return []string{
		string(x.Session), string(x.State), cmp.Or(termtext.Plain(x.Title), "(no title)"), termtext.Plain(model), cost, termtext.Plain(x.Branch),
		layout.FormatAge(x.Updated, a.Now()), termtext.Plain(termtext.Tilde(x.Directory, a.Env("HOME"))), termtext.Plain(x.Last),
	}
}

// The intervals of --watch: changes are collected for a moment, and the whole list is read again now and then, since a
// killed process sends no event.
const (
	collectTime = 300 * time.Millisecond
	rereadTime  = 5 * time.Second
)

// watchBoard prints the board and then each change: a line for people, a JSON object per line for scripts.
func watchBoard(ctx context.Context, a *cli.App, e api.Engine, f boardFlags, all []lathe.BoardEntry) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	known := map[lathe.SessionID]lathe.BoardEntry{}
	show := func(list []lathe.BoardEntry) error {
		var changed []lathe.BoardEntry
		for _, x := range list {
			if old, ok := known[x.Session]; !ok || old != x {
				known[x.Session] = x
				changed = append(changed, x)
			}
		}
		return printChanges(a, changed)
	}
	if err := show(all); err != nil {
		return err
	}
	changes := make(chan struct{}, 1)
	done := make(chan error, 1)
	go func() { // ends with ctx
		for _, err := range e.Events(ctx, lathe.Scope{}, lathe.Opt[lathe.Cursor]{}) {
			if err != nil && !errors.As(err, new(*api.ConnectionChanged)) {
				done <- err
				return
			}
			select {
			case changes <- struct{}{}:
			default: // it is known already
			}
		}
		done <- nil
	}()
	defer func() { stop(); <-done }()
	reread := time.NewTicker(rereadTime)
	defer reread.Stop()
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-changes:
			select {
			case <-ctx.Done():
				return context.Cause(ctx)
			case <-time.After(collectTime):
			}
		case <-reread.C:
		}
		list, err := f.query(ctx, e, nil)
		if err != nil {
			return err
		}
		if err := show(list); err != nil {
			return err
		}
	}
}

// printChanges prints changed sessions.
func printChanges(a *cli.App, changed []lathe.BoardEntry) error {
	defer a.Flush()
	if a.JSON {
		enc := layout.JSONTo(a.Out).Encoder()
		for _, x := range changed {
			if err := enc.Encode(x); err != nil {
				return err
			}
		}
		return nil
	}
	if len(changed) == 0 {
		return nil
	}
	return boardTable(a, changed).Write(a.Out, a.Width())
}
