package settings

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/cli/layout"
	"github.com/lathe-agent/lathe/engine"
	"github.com/lathe-agent/lathe/grant"
	"github.com/lathe-agent/lathe/internal/termtext"
)

// NewPermission returns `lathe permission`.
func NewPermission(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "permission",
		Short: "List and revoke saved permissions",
		Long: `List and revoke the permissions that you granted with "always" or for a session. They never override
a deny rule in the config.`,
		Example: `  lathe permission list
  lathe permission revoke bash "git push *"
  lathe permission revoke edit "src/*" --session ses_e1ffb42e9ffe9DckpbwE5dQAWc`,
		Args: cobra.ArbitraryArgs,
		RunE: cli.RequireSubcommand,
	}
	list := a.JSONFlag(&cobra.Command{
		Use: "list", Short: "List saved permissions", Example: "  lathe permission list --json", Args: cli.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			var list []grant.Grant
			err := a.WithEngine(c.Context(), func(e *engine.Engine) (err error) {
				list, err = e.ListGrants(c.Context(), a.Dir, "")
				return err
			})
			if err != nil && !errors.As(err, new(cli.NoDatabase)) { // without a database there are none
				return err
			}
			return printGrants(a, list)
		},
	})
	var session string
	revoke := &cobra.Command{
		Use: "revoke PERMISSION PATTERN", Short: "Revoke a saved permission; lathe asks again", Args: cli.RangeArgs(2, 2),
		Example: `  lathe permission revoke edit "src/*"`,
		RunE: func(c *cobra.Command, args []string) error {
			g := grant.Grant{Permission: args[0], Pattern: args[1], Session: lathe.SessionID(session)}
			return a.WithEngine(c.Context(), func(e *engine.Engine) error { return revokeGrant(c.Context(), a, e, g) })
		},
	}
	revoke.Flags().StringVarP(&session, "session", "s", "", "revoke it in this session; default: in the project")
	cmd.AddCommand(list, revoke)
	return cmd
}

// grantJSON is a permission in the output of `lathe permission list --json`.
type grantJSON struct {
	Permission string          `json:"permission"`
	Pattern    string          `json:"pattern"`
	Scope      grant.Scope     `json:"scope"`
	Session    lathe.SessionID `json:"sessionID,omitempty"`
}

func printGrants(a *cli.App, grants []grant.Grant) error {
	t, list := layout.Table{Head: []string{"Permission", "Pattern", "Scope"}, Flexible: []int{1}, Paths: -1}, []grantJSON{}
	for _, g := range grants {
		scope := "always"
		if g.Session != "" {
			scope = string(g.Session)
		}
		t.Rows = append(t.Rows, []string{termtext.Plain(g.Permission), termtext.Plain(g.Pattern), termtext.Plain(scope)})
		list = append(list, grantJSON{g.Permission, g.Pattern, g.Scope(), g.Session})
	}
	return a.PrintList(list, t, "No saved permissions in this project.")
}

// revokeGrant fails if no such permission is saved, so that a typo is noticed.
func revokeGrant(ctx context.Context, a *cli.App, e *engine.Engine, g grant.Grant) error {
	if err := e.RevokeGrant(ctx, a.Dir, g); err != nil {
		if lathe.CodeOf(err) == lathe.NotFound {
			return lathe.Errorf(lathe.NotFound, "no saved permission %s %s in this project; see `lathe permission list`", termtext.Plain(g.Permission), termtext.Quote(g.Pattern))
		}
		return err
	}
	a.Printf("Revoked: %s %s\n", termtext.Plain(g.Permission), termtext.Plain(g.Pattern))
	return nil
}
