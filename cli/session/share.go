package session

import (
	"context"
	"errors"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/api"
	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/cli/layout"
	"github.com/lathe-agent/lathe/client"
	"github.com/lathe-agent/lathe/engine"
	"github.com/lathe-agent/lathe/internal/termtext"
)

// NewShare returns `lathe share`.
func NewShare(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "share",
		Short: "Share sessions, list and revoke shares",
		Long: `Share sessions, and list and revoke shares. ` + "`lathe share ID`" + ` is ` + "`lathe session share ID`" + `. Everyone who has
the link and can reach the server can read a shared session. You can also share with ` + "`lathe run\n--attach URL --share --expires 7d`" + `, or with /share in the terminal UI.`,
		Example: "  lathe session share last --attach http://127.0.0.1:4096\n  lathe share list\n  lathe share revoke ses_4fc0\n  lathe share revoke --all",
		Args:    cobra.ArbitraryArgs,
	}
	share := newShareOne(a)
	cmd.Flags().AddFlagSet(share.Flags())
	cmd.Flags().AddFlag(attachFlag(a))
	cmd.RunE = func(c *cobra.Command, args []string) error {
		c.SuggestionsMinimumDistance = 1
		if len(args) != 1 || args[0] != cli.Last && len(c.SuggestionsFor(args[0])) > 0 {
			return cli.RequireSubcommand(c, args)
		}
		return share.RunE(c, args)
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

// attachFlag returns --attach alone, for a command whose subcommands read the local database.
func attachFlag(a *cli.App) *pflag.Flag {
	var c cobra.Command
	a.AttachFlag(&c)
	return c.PersistentFlags().Lookup("attach")
}

// newShareOne returns `lathe session share`, which is also `lathe share ID`.
func newShareOne(a *cli.App) *cobra.Command {
	var expires string
	var undo bool
	cmd := &cobra.Command{
		Use:   "share ID [--undo]",
		Short: "Share a session on a server and print the link, or revoke it",
		Long: `Share a session and print its link. Everyone who has the link and can reach the server can read the
whole session: prompts, answers, and everything tools read or wrote. The page is served by lathe
serve, so this needs --attach. --undo revokes the link. See also lathe share list.`,
		Example: `  lathe session share last --attach http://127.0.0.1:4096
  lathe session share 4mKq --attach http://127.0.0.1:4096 --expires 7d
  lathe session share 4mKq --undo`,
		Args: cli.RangeArgs(1, 1),
		RunE: func(c *cobra.Command, args []string) error {
			switch {
			case undo && expires != "":
				return cli.Usagef("--undo and --expires cannot be combined")
			case !undo && a.Attach == "":
				return cli.Usagef("sharing needs a server that serves the page: start one with `lathe serve` and add --attach URL")
			}
			return onNamed(c.Context(), a, args[0], func(e api.Engine, s lathe.Session) error {
				if undo {
					return revokeShare(c.Context(), a, e, s)
				}
				return shareSession(c.Context(), a, e, s, expires)
			})
		},
	}
	cmd.Flags().StringVar(&expires, "expires", "", "`TIME` until the link expires, such as 12h or 7d (default never)")
	cmd.Flags().BoolVar(&undo, "undo", false, "revoke the link")
	return a.JSONFlag(cmd)
}

func shareSession(ctx context.Context, a *cli.App, e api.Engine, s lathe.Session, expires string) error {
	server, ok := e.(*client.Client)
	if !ok {
		return lathe.Errorf(lathe.Unavailable, "only a server can share sessions; add --attach URL")
	}
	s, err := server.ShareFor(ctx, s.ID, expires)
	switch {
	case err != nil:
		return err
	case a.JSON:
		return a.PrintJSON(s)
	case s.Share == nil:
		return lathe.Errorf(lathe.Unavailable, "the server did not share %s", s.ID)
	}
	a.Printf("%s\n", termtext.Plain(s.Share.URL))
	return nil
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
		return revokeShare(ctx, a, e, s)
	}
	for _, s := range all {
		if err := revokeShare(ctx, a, e, s); err != nil {
			return err
		}
	}
	if len(all) == 0 {
		a.Notify("No shared sessions.")
	}
	return nil
}

// unsharer is an engine here or on a server.
type unsharer interface {
	Unshare(ctx context.Context, id lathe.SessionID) (lathe.Session, error)
}

// revokeShare revokes the link of a session.
func revokeShare(ctx context.Context, a *cli.App, e api.Engine, s lathe.Session) error {
	on, ok := e.(unsharer)
	if !ok || s.Share == nil {
		return lathe.Errorf(lathe.NotFound, "%s is not shared; `lathe share list` lists shared sessions", s.ID)
	}
	s, err := on.Unshare(ctx, s.ID)
	if err != nil {
		return err
	}
	if a.JSON {
		return a.PrintJSON(s)
	}
	a.Printf("Revoked: %s  %s\n", s.ID, termtext.Plain(s.Title))
	return nil
}
