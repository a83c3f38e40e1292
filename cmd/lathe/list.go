package main

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/api"
	"github.com/lathe-agent/lathe/internal/termtext"
)

type listFlags struct {
	most     int
	all      bool
	archived bool
	search   string
	format   string
}

func newList(a *app) *cobra.Command {
	var f listFlags
	cmd := &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List the sessions of this project, newest first",
		Long: `Lists the sessions of the project the current directory belongs to, the one that
changed last first. Sessions of sub-agents and archived ones are left out.
Where there is no repository, the sessions of the directory and below are listed.
On a terminal a list that is longer than the screen goes through $PAGER, or less; -n does not.

--json prints the whole records, --format json only id, title, times, project and directory.`,
		Example: `  lathe session list -n 10
  lathe session list --all --search parser
  lathe session list -C ~/src/app --json`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return a.list(c.Context(), f) },
	}
	cmd.Flags().IntVarP(&f.most, "max-count", "n", 0, "at most so many (`N`); 0 is no limit")
	cmd.Flags().BoolVar(&f.all, "all", false, "of all projects, with their directories")
	cmd.Flags().BoolVar(&f.archived, "archived", false, "the archived ones instead")
	cmd.Flags().StringVar(&f.search, "search", "", "only those with this `TEXT` in the title, whatever its case")
	cmd.Flags().StringVar(&f.format, "format", "table", "`FORMAT` of the output: table or json")
	a.jsonFlag(cmd)
	return cmd
}

func (a *app) list(ctx context.Context, f listFlags) error {
	if f.most < 0 {
		return usagef("-n %d: want 0 or more", f.most)
	}
	if f.format != "table" && f.format != "json" {
		return usagef("--format %s: want table or json", termtext.Quote(f.format))
	}
	var found []lathe.Session
	var cut map[lathe.SessionID]bool
	err := a.onSessions(ctx, func(e api.Engine) (err error) {
		if found, err = a.query(ctx, e, f); err == nil {
			cut, err = interruptedOnes(ctx, e)
		}
		return err
	})
	if errors.As(err, new(noDatabase)) {
		found, err = []lathe.Session{}, nil
	}
	switch {
	case err != nil:
		return err
	case a.json:
		return a.printJSON(found)
	case f.format == "json":
		return a.printJSON(briefs(found, cut))
	case len(found) == 0:
		a.Remark("%s", f.nothing())
		return nil
	default:
		if slices.ContainsFunc(found, func(s lathe.Session) bool { return cut[s.ID] }) {
			defer a.Remark("Interrupted ones go on with `lathe run --resume -s ID`.")
		}
		var b strings.Builder
		if err := a.sessionTable(found, cut, f.all).write(&b, a.width()); err != nil || f.most > 0 {
			a.printf("%s", b.String())
			return err
		}
		return a.paged(ctx, b.String())
	}
}

// interruptedOnes are the sessions whose turn was cut off.
func interruptedOnes(ctx context.Context, e api.Engine) (map[lathe.SessionID]bool, error) {
	all, err := e.Interrupted(ctx)
	cut := map[lathe.SessionID]bool{}
	for _, id := range all {
		cut[id] = true
	}
	return cut, err
}

func (a *app) query(ctx context.Context, e api.Engine, f listFlags) ([]lathe.Session, error) {
	q := lathe.Query{Roots: true}
	if !f.all {
		var err error
		if q, err = a.projectQuery(ctx, e); err != nil {
			return nil, err
		}
	}
	q.Search, q.Limit = f.search, f.most
	if f.archived {
		q.Archived = lathe.OnlyArchived
	}
	return e.List(ctx, q)
}

// nothing says that the list is empty, and where else to look.
func (f listFlags) nothing() string {
	what := "No sessions"
	if f.archived {
		what = "No archived sessions"
	}
	if f.search != "" {
		what += " with " + termtext.Quote(f.search) + " in the title"
	}
	if f.all {
		return what + "."
	}
	return what + " in this project; --all looks in all of them."
}

// brief is the short form of a session, as OpenCode's list prints it.
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

func (a *app) sessionTable(all []lathe.Session, cut map[lathe.SessionID]bool, directories bool) table {
	t := table{head: []string{"Session ID", "Title", "Updated"}, flexible: []int{1}, paths: -1}
	if directories {
		t.head = append(t.head, "Directory")
		t.flexible, t.paths = []int{1, 3}, 3
	}
	now, home := a.Now(), a.Env("HOME")
	for _, s := range all {
		row := []string{string(s.ID), termtext.Plain(s.Title), ago(s.Updated, now)}
		if cut[s.ID] {
			row[2] += ", interrupted"
		}
		if directories {
			row = append(row, termtext.Plain(termtext.Tilde(s.Directory, home)))
		}
		t.rows = append(t.rows, row)
	}
	return t
}
