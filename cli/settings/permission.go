package settings

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/cli/layout"
	"github.com/lathe-agent/lathe/engine"
	"github.com/lathe-agent/lathe/internal/termtext"
)

// NewPermission returns `lathe permission`.
func NewPermission(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "permission",
		Short: "List and revoke saved permissions",
		Long: `List and revoke the permissions that you granted with "always". They are saved for the project and
never override a deny rule in the config.`,
		Example: `  lathe permission list
  lathe permission revoke bash "git push *"`,
		Args: cobra.ArbitraryArgs,
		RunE: cli.RequireSubcommand,
	}
	list := a.JSONFlag(&cobra.Command{
		Use: "list", Short: "List saved permissions", Example: "  lathe permission list --json", Args: cli.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			var rules lathe.Ruleset
			err := a.WithEngine(c.Context(), func(e *engine.Engine) (err error) {
				rules, err = approvedRules(c.Context(), a, e)
				return err
			})
			if err != nil && !errors.As(err, new(cli.NoDatabase)) { // without a database there are none
				return err
			}
			return listApprovals(a, rules)
		},
	})
	revoke := &cobra.Command{
		Use: "revoke PERMISSION PATTERN", Short: "Revoke a saved permission; lathe asks again", Args: cli.RangeArgs(2, 2),
		Example: `  lathe permission revoke edit "*"`,
		RunE: func(c *cobra.Command, args []string) error {
			return a.WithEngine(c.Context(), func(e *engine.Engine) error { return revokeApproval(c.Context(), a, e, args[0], args[1]) })
		},
	}
	cmd.AddCommand(list, revoke)
	return cmd
}

// approvalJSON is a permission in the output of `lathe permission list --json`.
type approvalJSON struct {
	Permission string `json:"permission"`
	Pattern    string `json:"pattern"`
}

func listApprovals(a *cli.App, rules lathe.Ruleset) error {
	t, list := layout.Table{Head: []string{"Permission", "Pattern"}, Flexible: []int{1}, Paths: -1}, []approvalJSON{}
	for _, r := range rules {
		t.Rows = append(t.Rows, []string{termtext.Plain(r.Permission), termtext.Plain(r.Pattern)})
		list = append(list, approvalJSON{r.Permission, r.Pattern})
	}
	return a.PrintList(list, t, "No saved permissions in this project.")
}

func approvedRules(ctx context.Context, a *cli.App, e *engine.Engine) (lathe.Ruleset, error) {
	place, err := e.Locate(ctx, a.Dir)
	if err != nil {
		return nil, err
	}
	return e.Approvals(ctx, place)
}

// revokeApproval fails if no such permission is saved, so that a typo is noticed.
func revokeApproval(ctx context.Context, a *cli.App, e *engine.Engine, permission, pattern string) error {
	place, err := e.Locate(ctx, a.Dir)
	if err != nil {
		return err
	}
	if err := e.Revoke(ctx, place, permission, pattern); err != nil {
		if lathe.CodeOf(err) == lathe.NotFound {
			return lathe.Errorf(lathe.NotFound, "no saved permission %s %s in this project; see `lathe permission list`", termtext.Plain(permission), termtext.Quote(pattern))
		}
		return err
	}
	a.Printf("Revoked: %s %s\n", termtext.Plain(permission), termtext.Plain(pattern))
	return nil
}
