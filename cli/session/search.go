package session

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/api"
	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/cli/layout"
	"github.com/lathe-agent/lathe/engine"
	"github.com/lathe-agent/lathe/internal/termtext"
	"github.com/lathe-agent/lathe/store"
	"github.com/lathe-agent/lathe/tui/style"
)

type searchFlags struct {
	project, model, tool, session, since string
	most                                 int
}

// newSearch finds places in all sessions by their words.
func newSearch(a *cli.App) *cobra.Command {
	var f searchFlags
	cmd := &cobra.Command{
		Use:   "search TEXT",
		Short: "Search the text of all sessions",
		Long: `Search prompts, answers, tool inputs and outputs, and file names in the sessions of all projects,
newest first, with at most three places per session. A place must contain all words, in any order.
Case does not matter. Put words in quotes to find them in a row, and end a word with * to find words
that begin with it.

New messages are indexed when they are saved. Older sessions are indexed in the background; this
command finishes that first, which can take minutes once. Set "search" to false in the config to
switch the index off and remove it.`,
		Example: `  lathe session search flaky test
  lathe session search '"connection reset"' --tool bash --since 7d
  lathe session search 'migrat*' --project . --json`,
		Args: cli.RangeArgs(1, -1),
		RunE: func(c *cobra.Command, args []string) error {
			if err := cli.RejectEmpty(c.Flags(), "project", "model", "tool", "session", "since"); err != nil {
				return err
			}
			return searchSessions(c.Context(), a, strings.Join(args, " "), f)
		},
	}
	s := cmd.Flags()
	s.StringVar(&f.project, "project", "", "search only the project `P`: directory, name or ID")
	s.StringVarP(&f.model, "model", "m", "", "search only messages to and from this `MODEL`")
	s.StringVar(&f.tool, "tool", "", "search only calls of this `TOOL`")
	s.StringVarP(&f.session, "session", "s", "", "search only the session `ID`, all places in it")
	s.StringVar(&f.since, "since", "", "search only messages since this `TIME`: 12h, 7d, 2w or 2006-01-02")
	s.IntVarP(&f.most, "max-count", "n", 20, "show at most `N` places")
	return a.JSONFlag(cmd)
}

// searchSessions prints the places that contain a text.
func searchSessions(ctx context.Context, a *cli.App, text string, f searchFlags) error {
	if f.most < 1 {
		return cli.Usagef("-n %d: want 1 or more", f.most)
	}
	q := lathe.SearchQuery{Text: text, Model: f.model, Tool: f.tool, Limit: f.most}
	var err error
	if q.Since, err = parseSince(f.since, a.Now()); err != nil {
		return err
	}
	if a.Attach == "" && !a.SearchEnabled() {
		return lathe.Errorf(lathe.Unavailable, `search is off; set "search" to true in the config to index your sessions`)
	}
	var found lathe.SearchResult
	err = a.WithSessions(ctx, func(e api.Engine) error {
		if err := resolveFilters(ctx, a, e, f, &q); err != nil {
			return err
		}
		if local, ok := e.(*engine.Engine); ok {
			if err := finishIndex(ctx, a, local); err != nil {
				return err
			}
		}
		found, err = searchOn(ctx, a, e, q)
		return err
	})
	if errors.As(err, new(cli.NoDatabase)) {
		found, err = lathe.SearchResult{Hits: []lathe.SearchHit{}, Indexed: 1}, nil
	}
	switch {
	case err != nil:
		return err
	case a.JSON:
		return a.PrintJSON(found)
	}
	printHits(a, found)
	return nil
}

// patience is how long a search continues for more places than it has. Without any, it continues to the end.
const patience = 500 * time.Millisecond

// searchOn searches, and continues where the store ended one search after its share of work.
func searchOn(ctx context.Context, a *cli.App, e api.Engine, q lathe.SearchQuery) (lathe.SearchResult, error) {
	began, wanted := a.Now(), q.Limit
	found, err := e.Search(ctx, q)
	for err == nil && found.Next != "" && len(found.Hits) < wanted && (len(found.Hits) == 0 || a.Now().Sub(began) < patience) {
		q.Cursor, q.Limit = found.Next, wanted-len(found.Hits)
		var more lathe.SearchResult
		more, err = e.Search(ctx, q)
		more.Hits = append(found.Hits, more.Hits...)
		found = more
	}
	return found, err
}

// resolveFilters finds the session and the project of the flags.
func resolveFilters(ctx context.Context, a *cli.App, e api.Engine, f searchFlags, q *lathe.SearchQuery) error {
	if f.session != "" {
		s, err := a.Find(ctx, e, f.session)
		if err != nil {
			return err
		}
		q.Session = s.ID
	}
	if f.project == "" {
		return nil
	}
	if local, ok := e.(*engine.Engine); ok {
		found, err := cli.FindProject(ctx, a, local, f.project)
		q.Project, q.Path = found.Project, found.Path
		return err
	}
	q.Project = f.project
	if filepath.IsAbs(f.project) || f.project == "." {
		at, err := e.Location(ctx, strings.TrimPrefix(f.project, "."))
		found := cli.QueryFor(at)
		q.Project, q.Path = found.Project, found.Path
		return err
	}
	return nil
}

// finishIndex indexes the sessions that are not indexed yet, with a line on a terminal.
func finishIndex(ctx context.Context, a *cli.App, e *engine.Engine) error {
	shows, width := !a.JSON && cli.IsTerminal(a.Stderr), 0
	began := a.Now()
	for {
		more, indexed, err := store.IndexBatch(ctx, e.Store())
		if err != nil || !more {
			if width > 0 {
				_, _ = fmt.Fprintf(a.Stderr, "\r%*s\r", width, "")
			}
			return err
		}
		if shows && a.Now().Sub(began) > progressEvery {
			line := fmt.Sprintf("Indexing older sessions, once: %d%%", int(indexed*100))
			width = max(width, len(line))
			_, _ = fmt.Fprintf(a.Stderr, "\r%-*s", width, line)
		}
	}
}

// printHits prints a line about the place and its snippet for each hit, below their session.
func printHits(a *cli.App, found lathe.SearchResult) {
	if len(found.Hits) == 0 {
		a.Notify("Nothing found.")
	}
	last := lathe.SessionID("")
	for _, h := range found.Hits {
		if h.Session != last {
			if last != "" {
				a.Printf("\n")
			}
			a.Printf("%s  %s\n%s  %s\n", a.Paint(a.Stdout.File, string(h.Session), style.Attr{Bold: true}), termtext.Plain(h.Title), layout.FormatAge(h.Time, a.Now()), termtext.Plain(h.Directory))
			last = h.Session
		}
		a.Printf("  %s\n", hitLine(a, h))
	}
	if len(found.Hits) > 0 {
		a.Notify("Read a session with `lathe session show ID --full`; open it with `lathe -s ID`.")
	}
	if found.More {
		a.Notify("There may be more: add a word, a filter, or -n.")
	}
	if found.Indexed < 1 {
		a.Notify("%d%% of the history is indexed so far.", int(found.Indexed*100))
	}
}

// hitLine is the kind of the place and its snippet, with what was found in bold.
func hitLine(a *cli.App, h lathe.SearchHit) string {
	where := h.Place
	if h.Tool != "" {
		where = h.Tool + " " + strings.TrimPrefix(h.Place, "tool ")
	}
	var b strings.Builder
	b.WriteString(termtext.Plain(where) + ": ")
	for _, t := range h.Snippet {
		text := termtext.PlainText(t.Text) // white space is one space already
		if t.Match {
			text = a.Paint(a.Stdout.File, text, style.Attr{Bold: true})
		}
		b.WriteString(text)
	}
	return b.String()
}

// parseSince reads an age (12h, 7d, 2w) or a day.
func parseSince(text string, now time.Time) (lathe.Time, error) {
	if text == "" {
		return 0, nil
	}
	if day, err := time.ParseInLocation(time.DateOnly, text, now.Location()); err == nil {
		return lathe.TimeOf(day), nil
	}
	units := map[string]time.Duration{"m": time.Minute, "h": time.Hour, "d": 24 * time.Hour, "w": 7 * 24 * time.Hour}
	n, err := strconv.Atoi(text[:len(text)-1])
	unit, ok := units[text[len(text)-1:]]
	if err != nil || !ok || n < 1 || n > 100_000 {
		return 0, cli.Usagef("--since %s: want an age such as 12h, 7d or 2w, or a day such as 2026-01-31", termtext.Quote(text))
	}
	return lathe.TimeOf(now.Add(-time.Duration(n) * unit)), nil
}
