package session

import (
	"context"
	"errors"
	"slices"

	"github.com/spf13/cobra"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/cli/layout"
	"github.com/lathe-agent/lathe/engine"
	"github.com/lathe-agent/lathe/internal/termtext"
)

// NewShare returns `lathe share`.
func NewShare(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "share",
		Short: "List and revoke shared sessions",
		Long: `List and revoke shared sessions. Everyone who has the link and can reach the server can read a shared
session. Share a session on a server with ` + "`lathe run --attach URL --share --expires 7d`" + `, or with
/share in the terminal UI.`,
		Example: "  lathe share list\n  lathe share revoke ses_4fc0\n  lathe share revoke --all",
		Args:    cobra.ArbitraryArgs,
		RunE:    cli.RequireSubcommand,
	}
	list := a.JSONFlag(&cobra.Command{
		Use: "list", Aliases: []string{"ls"}, Short: "List shared sessions of all projects", Example: "  lathe share list --json", Args: cli.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			var all []lathe.Session
			err := a.WithEngine(c.Context(), func(e *engine.Engine) (err error) {
				all, err = sharedSessions(c.Context(), e)
				return err
			})
			if err != nil && !errors.As(err, new(cli.NoDatabase)) { // without a database there are none
				return err
			}
			return listShares(a, all)
		},
	})
	everything := false
	revoke := &cobra.Command{
		Use: "revoke [SESSION]", Short: "Revoke a share, so that its link stops working", Example: "  lathe share revoke ses_4fc0\n  lathe share revoke --all",
		Args: cli.RangeArgs(0, 1),
		RunE: func(c *cobra.Command, args []string) error {
			if everything == (len(args) == 1) {
				return cli.Usagef("give a session, or --all")
			}
			return a.WithEngine(c.Context(), func(e *engine.Engine) error { return revokeShares(c.Context(), a, e, args) })
		},
	}
	revoke.Flags().BoolVar(&everything, "all", false, "revoke all shares")
	cmd.AddCommand(list, revoke)
	return cmd
}

// sharedSessions returns the sessions with a link, also an expired one.
func sharedSessions(ctx context.Context, e *engine.Engine) ([]lathe.Session, error) {
	all, err := e.List(ctx, lathe.Query{Archived: lathe.WithArchived})
	return slices.DeleteFunc(all, func(s lathe.Session) bool { return s.Share == nil }), err
}

// sharedJSON is a shared session in the output of `lathe share list --json`.
type sharedJSON struct {
	Session lathe.SessionID `json:"session"`
	Title   string          `json:"title"`
	URL     string          `json:"url"`
	Expires string          `json:"expires,omitempty"`
	Expired bool            `json:"expired,omitempty"`
}

// listShares lists shared sessions with their links and expiry times.
func listShares(a *cli.App, all []lathe.Session) error {
	t, list := layout.Table{Head: []string{"Session", "Title", "Expires", "Address"}, Flexible: []int{1}, Paths: -1}, []sharedJSON{}
	for _, s := range all {
		one, until := sharedJSON{Session: s.ID, Title: s.Title, URL: s.Share.URL, Expired: s.Share.Expired(a.Now())}, "never"
		if end, ok := s.Share.ExpiresAt(); ok {
			one.Expires, until = end.UTC().Format("2006-01-02T15:04:05Z"), end.Local().Format("2 Jan 2006 15:04")
		}
		if one.Expired {
			until = "expired"
		}
		t.Rows = append(t.Rows, []string{string(s.ID), termtext.Plain(s.Title), until, termtext.Plain(s.Share.URL)})
		list = append(list, one)
	}
	return a.PrintList(list, t, "No shared sessions.")
}

// revokeShares revokes the link of one session, or of all.
func revokeShares(ctx context.Context, a *cli.App, e *engine.Engine, names []string) error {
	all, err := sharedSessions(ctx, e)
	if err != nil {
		return err
	}
	if len(names) == 1 {
		s, err := a.Find(ctx, e, names[0])
		if err != nil {
			return err
		}
		if s.Share == nil {
			return lathe.Errorf(lathe.NotFound, "%s is not shared; `lathe share list` lists shared sessions", s.ID)
		}
		all = []lathe.Session{s}
	}
	for _, s := range all {
		if _, err := e.Unshare(ctx, s.ID); err != nil {
			return err
		}
		a.Printf("Revoked: %s  %s\n", s.ID, termtext.Plain(s.Title))
	}
	if len(all) == 0 {
		a.Notify("No shared sessions.")
	}
	return nil
}
