package session

import (
	"cmp"
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
	"github.com/lathe-agent/lathe/tui/dialog"
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
	var states map[lathe.SessionID]string
	var first map[lathe.SessionID]string
	err := a.WithSessions(ctx, func(e api.Engine) (err error) {
		if found, err = QuerySessions(ctx, a, e, f); err == nil {
			states, err = SessionStates(ctx, e)
		}
		if a.Attach == "" && a.Width() >= firstWidth && !a.JSON && f.format == "table" {
			first = firstWords(ctx, e, found)
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
		return a.PrintJSON(briefs(found, states))
	case len(found) == 0:
		a.Notify("%s", f.EmptyMessage())
		return nil
	default:
		if slices.ContainsFunc(found, func(s lathe.Session) bool { return states[s.ID] == Interrupted }) {
			defer a.Notify("Resume an interrupted session with `lathe run --resume -s ID`.")
		}
		var b strings.Builder
		if err := sessionTable(a, found, states, f.All, first).Write(&b, a.Width()); err != nil || f.Most > 0 {
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

// Interrupted is the state of a session whose turn can be resumed.
const Interrupted = "interrupted"

// SessionStates returns the sessions that wait for the user, run, or were interrupted. Of a server these are the
// sessions of its directory.
func SessionStates(ctx context.Context, e api.Engine) (map[lathe.SessionID]string, error) {
	cut, err := InterruptedSessions(ctx, e)
	if err != nil {
		return nil, err
	}
	states := map[lathe.SessionID]string{}
	for id := range cut {
		states[id] = Interrupted
	}
	running, err := e.Statuses(ctx, lathe.Scope{})
	if err != nil {
		return nil, err
	}
	for id, s := range running {
		if s.Type != lathe.Idle && !cut[id] {
			states[id] = "running"
		}
	}
	asks, err := e.Asks(ctx, lathe.Scope{})
	for _, ask := range asks {
		id := lathe.SessionOf(ask)
		for range 8 { // a subagent asks for the session that started it
			if !cut[id] { // nobody waits for the answer any more
				states[id] = "waiting for you"
			}
			s, err := e.Get(ctx, id)
			if err != nil || s.Parent == "" {
				break
			}
			id = s.Parent
		}
	}
	return states, err
}

// The width from which on the table shows the first words, and for how many sessions.
const (
	firstWidth = 120
	mostFirst  = 100
)

// firstWords reads how sessions began. A session is created with its first prompt, so the messages of its first
// seconds are enough.
func firstWords(ctx context.Context, e api.Engine, all []lathe.Session) map[lathe.SessionID]string {
	out := map[lathe.SessionID]string{}
	for _, s := range all[:min(len(all), mostFirst)] {
		page, err := e.Messages(ctx, s.ID, lathe.Position{Time: s.Created + 5000, ID: "~"}, 4)
		if err == nil {
			out[s.ID] = termtext.Clip(termtext.Plain(dialog.FirstWords(page.Messages)), 60)
		}
	}
	return out
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
	State     string          `json:"state,omitempty"`
}

func briefs(all []lathe.Session, states map[lathe.SessionID]string) []brief {
	out := make([]brief, len(all))
	for i, s := range all {
		out[i] = brief{s.ID, s.Title, s.Updated, s.Created, s.Project, s.Directory, states[s.ID] == Interrupted, states[s.ID]}
	}
	return out
}

// SessionTable lists sessions with their state and directory.
func SessionTable(a *cli.App, all []lathe.Session, states map[lathe.SessionID]string) layout.Table {
	return sessionTable(a, all, states, true, nil)
}

// sessionTable leaves out columns that no session has a value for.
func sessionTable(a *cli.App, all []lathe.Session, states map[lathe.SessionID]string, directories bool, first map[lathe.SessionID]string) layout.Table {
	t := layout.Table{Paths: -1}
	now, home := a.Now(), a.Env("HOME")
	least := 80
	if len(states) > 0 {
		least = 90
	}
	narrow := a.Width() > 0 && a.Width() < least // the title is worth more
	t.Rows = make([][]string, len(all))
	add := func(name string, of func(lathe.Session) string) (column int, ok bool) {
		cells := make([]string, len(all))
		for i, s := range all {
			cells[i] = of(s)
			ok = ok || cells[i] != ""
		}
		if !ok {
			return 0, false
		}
		t.Head = append(t.Head, name)
		for i := range t.Rows {
			t.Rows[i] = append(t.Rows[i], cells[i])
		}
		return len(t.Head) - 1, true
	}
	add("Session ID", func(s lathe.Session) string { return string(s.ID) })
	title, _ := add("Title", func(s lathe.Session) string { return cmp.Or(termtext.Plain(s.Title), "(no title)") })
	add("State", func(s lathe.Session) string { return states[s.ID] })
	add("Updated", func(s lathe.Session) string { return layout.FormatAge(s.Updated, now) })
	add("Cost", func(s lathe.Session) string {
		if s.Cost == nil || *s.Cost == 0 || narrow {
			return ""
		}
		return s.Cost.Short()
	})
	if at, ok := add("First words", func(s lathe.Session) string { return first[s.ID] }); ok {
		t.Flexible = append(t.Flexible, at)
	}
	t.Flexible = append(t.Flexible, title)
	if directories {
		if at, ok := add("Directory", func(s lathe.Session) string { return termtext.Plain(termtext.Tilde(s.Directory, home)) }); ok {
			t.Flexible, t.Paths = append(t.Flexible, at), at
		}
	}
	return t
}
