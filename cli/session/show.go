package session

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/api"
	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/cli/layout"
	"github.com/lathe-agent/lathe/internal/termtext"
)

// The default number of messages, and how many are in memory at a time.
const (
	showMessages = 20
	showPage     = 100
)

type showFlags struct {
	most   int
	given  bool
	whole  bool
	detail bool
}

// newShow prints a transcript that is readable in a terminal and in a pipe.
func newShow(a *cli.App) *cobra.Command {
	var f showFlags
	cmd := &cobra.Command{
		Use:   "show [ID]",
		Short: "Show a session as a transcript",
		Long: `Show a session and its latest messages, oldest first. Without an ID, show the latest session of the
project.

A tool call is one line: ✓ completed, ✗ failed, ▸ running, · pending. --full adds reasoning, tool
input and tool output.

--json prints {"info", "messages"} with all messages unless -n is given.`,
		Example: `  lathe session show
  lathe session show 4mKq -n 0 --full | less
  lathe session show last --json`,
		Args: cli.RangeArgs(0, 1),
		RunE: func(c *cobra.Command, args []string) error {
			f.given = c.Flags().Changed("messages")
			if f.most < 0 {
				return cli.Usagef("-n %d: want 0 or more", f.most)
			}
			return onSession(c.Context(), a, args, func(e api.Engine, s lathe.Session) error { return showSession(c.Context(), a, e, s, f) })
		},
	}
	cmd.Flags().IntVarP(&f.most, "messages", "n", showMessages, "show the latest `N` messages; 0 means all")
	cmd.Flags().BoolVar(&f.detail, "full", false, "show reasoning, tool input and tool output too")
	return a.JSONFlag(cmd)
}

// showSession prints the latest messages, or all messages as JSON.
func showSession(ctx context.Context, a *cli.App, e api.Engine, s lathe.Session, f showFlags) error {
	f.whole = f.most == 0
	switch {
	case a.JSON && (f.whole || !f.given):
		return e.Export(ctx, s.ID, layout.JSONTo(a.Out), nil)
	case a.JSON:
		page, err := e.Messages(ctx, s.ID, lathe.Position{}, f.most)
		if err != nil {
			return err
		}
		return a.PrintJSON(lathe.Export{Info: s, Messages: page.Messages})
	}
	rows := RecordRows(a, s)
	if accounts, err := BudgetAccounts(ctx, &a.Host, e, s); err == nil {
		rows = append(rows, budgetRows(accounts)...)
	}
	if err := layout.Pairs(a.Out, rows); err != nil {
		return err
	}
	t := Transcript{Out: a.Out, Now: a.Now(), width: a.Width(), Detail: f.detail}
	if f.whole {
		return history(ctx, e, s.ID, t.Messages)
	}
	page, err := e.Messages(ctx, s.ID, lathe.Position{}, f.most)
	if err != nil {
		return err
	}
	if page.More {
		a.Printf("\n… older messages not shown; use -n 0 to show all\n")
	}
	return t.Messages(page.Messages)
}

// history iterates over all messages of a session, oldest first, one page at a time.
func history(ctx context.Context, e api.Engine, id lathe.SessionID, f func([]lathe.Message) error) error {
	places := []lathe.Position{{}}
	for {
		page, err := e.Messages(ctx, id, places[len(places)-1], showPage)
		if err != nil {
			return err
		}
		if !page.More {
			break
		}
		places = append(places, page.Next)
	}
	for i := len(places) - 1; i >= 0; i-- {
		page, err := e.Messages(ctx, id, places[i], showPage)
		if err != nil {
			return err
		}
		if err := f(page.Messages); err != nil {
			return err
		}
	}
	return nil
}

// RecordRows returns the properties of a session.
func RecordRows(a *cli.App, s lathe.Session) [][2]string {
	now := a.Now()
	rows := [][2]string{
		{"Session", string(s.ID)},
		{"Title", termtext.Plain(s.Title)},
		{"Directory", termtext.Plain(termtext.Tilde(s.Directory, a.Env("HOME")))},
		{"Created", layout.FormatTime(s.Created, now)},
		{"Updated", layout.FormatAge(s.Updated, now)},
	}
	add := func(name, value string) {
		if value != "" {
			rows = append(rows, [2]string{name, value})
		}
	}
	add("Parent", string(s.Parent))
	add("Agent", termtext.Plain(s.Agent))
	if m := s.Model; m != nil {
		add("Model", termtext.Plain(modelName(lathe.ModelRef{Provider: m.Provider, Model: m.ID, Variant: m.Variant})))
	}
	if s.Archived != nil {
		add("Archived", layout.FormatAge(*s.Archived, now))
	}
	if s.Share != nil {
		add("Shared at", termtext.Plain(s.Share.URL))
	}
	if s.Revert != nil {
		add("Undone from", string(s.Revert.Message))
	}
	if s.Summary != nil && s.Summary.Files > 0 {
		add("Changes", termtext.Plural(s.Summary.Files, "file")+" +"+termtext.Count(s.Summary.Additions)+" -"+termtext.Count(s.Summary.Deletions))
	}
	if s.Tokens != nil {
		add("Tokens", FormatTokens(*s.Tokens))
	}
	if s.Cost != nil && *s.Cost != 0 {
		add("Cost", s.Cost.Short())
	}
	return rows
}

func modelName(m lathe.ModelRef) string {
	name := m.Model
	if m.Provider != "" {
		name = m.Provider + "/" + name
	}
	if m.Variant != "" && m.Variant != "default" {
		name += " (" + m.Variant + ")"
	}
	return name
}

// FormatTokens formats token counts, or "" for none.
func FormatTokens(t lathe.Tokens) string {
	var parts []string
	for _, x := range []struct {
		n    int64
		noun string
	}{
		{t.Input, "in"}, {t.Output, "out"}, {t.Reasoning, "thinking"}, {t.Cache.Read, "from cache"}, {t.Cache.Write, "to cache"},
	} {
		if x.n != 0 {
			parts = append(parts, termtext.Count(x.n)+" "+x.noun)
		}
	}
	return strings.Join(parts, ", ")
}
