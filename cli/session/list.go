package session

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/api"
	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/cli/layout"
	"github.com/lathe-agent/lathe/internal/termtext"
)

// ListFlags select the sessions and the output format.
type ListFlags struct {
	Most     int
	All      bool
	Archived bool
	Search   string
	format   string
}

// newList has two JSON formats: lathe's full records and OpenCode's shorter ones.
func newList(a *cli.App) *cobra.Command {
	var f ListFlags
	cmd := &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List the sessions of this project, newest first",
		Long: `List the sessions of the current project, most recently changed first, without subagent and archived
sessions. Outside a repository, list the sessions in and below the directory. On a terminal, a long
list opens in $PAGER or less, unless -n is given.

--json prints full records; --format json prints only ID, title, times, project and directory.`,
		Example: `  lathe session list -n 10
  lathe session list --all --search parser
  lathe session list -C ~/src/app --json`,
		Args: cli.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return listSessions(c.Context(), a, f) },
	}
	cmd.Flags().IntVarP(&f.Most, "max-count", "n", 0, "show at most `N` sessions; 0 means no limit")
	cmd.Flags().BoolVar(&f.All, "all", false, "list all projects, with directories")
	cmd.Flags().BoolVar(&f.Archived, "archived", false, "list archived sessions instead")
	cmd.Flags().StringVar(&f.Search, "search", "", "list only titles that contain this `TEXT`, ignoring case")
	cmd.Flags().StringVar(&f.format, "format", "table", "output `FORMAT`: table or json")
	return a.JSONFlag(cmd)
}

// listSessions prints the sessions, through a pager if the list is long.
func listSessions(ctx context.Context, a *cli.App, f ListFlags) error {
	if f.Most < 0 {
		return cli.Usagef("-n %d: want 0 or more", f.Most)
	}
	if f.format != "table" && f.format != "json" {
		return cli.Usagef("--format %s: want table or json", termtext.Quote(f.format))
	}
	var found []lathe.Session
	var cut map[lathe.SessionID]bool
	err := a.WithSessions(ctx, func(e api.Engine) (err error) {
		if found, err = QuerySessions(ctx, a, e, f); err == nil {
			cut, err = InterruptedSessions(ctx, e)
		}
		return err
	})
	if errors.As(err, new(cli.NoDatabase)) {
		found, err = []lathe.Session{}, nil
	}
	switch {
	case err != nil:
		return err
	case a.JSON:
		return a.PrintJSON(found)
	case f.format == "json":
		return a.PrintJSON(briefs(found, cut))
	case len(found) == 0:
		a.Notify("%s", f.EmptyMessage())
		return nil
	default:
		if slices.ContainsFunc(found, func(s lathe.Session) bool { return cut[s.ID] }) {
			defer a.Notify("Resume an interrupted session with `lathe run --resume -s ID`.")
		}
		var b strings.Builder
		if err := SessionTable(a, found, cut, f.All).Write(&b, a.Width()); err != nil || f.Most > 0 {
			a.Printf("%s", b.String())
			return err
		}
		return a.PrintPaged(ctx, b.String())
	}
}

// InterruptedSessions returns the sessions with an interrupted turn.
func InterruptedSessions(ctx context.Context, e api.Engine) (map[lathe.SessionID]bool, error) {
	all, err := e.Interrupted(ctx)
	cut := map[lathe.SessionID]bool{}
	for _, id := range all {
		cut[id] = true
	}
	return cut, err
}

// QuerySessions finds the sessions that the flags select.
func QuerySessions(ctx context.Context, a *cli.App, e api.Engine, f ListFlags) ([]lathe.Session, error) {
	q := lathe.Query{Roots: true}
	if !f.All {
		var err error
		if q, err = a.ProjectQuery(ctx, e); err != nil {
			return nil, err
		}
	}
	q.Search, q.Limit = f.Search, f.Most
	if f.Archived {
		q.Archived = lathe.OnlyArchived
	}
	return e.List(ctx, q)
}

// EmptyMessage is the notice for an empty list.
func (f ListFlags) EmptyMessage() string {
	what := "No sessions"
	if f.Archived {
		what = "No archived sessions"
	}
	if f.Search != "" {
		what += " with " + termtext.Quote(f.Search) + " in the title"
	}
	if f.All {
		return what + "."
	}
	return what + " in this project. Use --all to search all projects."
}

// brief is the short JSON of a session, as in OpenCode's list.
type brief struct {
	ID        lathe.SessionID `json:"id"`
	Title     string          `json:"title"`
	Updated   lathe.Time      `json:"updated"`
	Created   lathe.Time      `json:"created"`
	ProjectID string          `json:"projectId"`
	Directory string          `json:"directory"`
	Cut       bool            `json:"interrupted,omitempty"`
}

func briefs(all []lathe.Session, cut map[lathe.SessionID]bool) []brief {
	out := make([]brief, len(all))
	for i, s := range all {
		out[i] = brief{s.ID, s.Title, s.Updated, s.Created, s.Project, s.Directory, cut[s.ID]}
	}
	return out
}

// SessionTable marks interrupted sessions, which can be resumed.
func SessionTable(a *cli.App, all []lathe.Session, cut map[lathe.SessionID]bool, directories bool) layout.Table {
	t := layout.Table{Head: []string{"Session ID", "Title", "Updated"}, Flexible: []int{1}, Paths: -1}
	if directories {
		t.Head = append(t.Head, "Directory")
		t.Flexible, t.Paths = []int{1, 3}, 3
	}
	now, home := a.Now(), a.Env("HOME")
	for _, s := range all {
		row := []string{string(s.ID), termtext.Plain(s.Title), layout.FormatAge(s.Updated, now)}
		if cut[s.ID] {
			row[2] += ", interrupted"
		}
		if directories {
			row = append(row, termtext.Plain(termtext.Tilde(s.Directory, home)))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}
