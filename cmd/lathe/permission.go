package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/engine"
	"github.com/lathe-agent/lathe/internal/termtext"
)

func newPermission(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "permission",
		Short: "What you have allowed for good in this project",
		Long: `When you answer "always" to a request, that is kept for the project and not asked again. It
never overrides a rule of your settings that denies. Here you see it, and take it back.`,
		Example: `  lathe permission list
  lathe permission revoke bash "git push *"`,
		Args: cobra.ArbitraryArgs,
		RunE: group,
	}
	list := &cobra.Command{
		Use: "list", Short: "List what is allowed for good", Example: "  lathe permission list --json", Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			var rules lathe.Ruleset
			err := a.with(c.Context(), func(e *engine.Engine) (err error) {
				rules, err = a.approved(c.Context(), e)
				return err
			})
			if err != nil && !errors.As(err, new(noDatabase)) { // without one nothing was ever allowed
				return err
			}
			return a.approvals(rules)
		},
	}
	a.jsonFlag(list)
	revoke := &cobra.Command{
		Use: "revoke PERMISSION PATTERN", Short: "Take one back: it is asked again", Args: wantArgs(2, 2),
		Example: `  lathe permission revoke edit "*"`,
		RunE: func(c *cobra.Command, args []string) error {
			return a.with(c.Context(), func(e *engine.Engine) error { return a.revoke(c.Context(), e, args[0], args[1]) })
		},
	}
	cmd.AddCommand(list, revoke)
	return cmd
}

type approvalJSON struct {
	Permission string `json:"permission"`
	Pattern    string `json:"pattern"`
}

func (a *app) approvals(rules lathe.Ruleset) error {
	t, list := table{head: []string{"Permission", "Pattern"}, flexible: []int{1}, paths: -1}, []approvalJSON{}
	for _, r := range rules {
		t.rows = append(t.rows, []string{termtext.Plain(r.Permission), termtext.Plain(r.Pattern)})
		list = append(list, approvalJSON{r.Permission, r.Pattern})
	}
	switch {
	case a.json:
		return a.printJSON(list)
	case len(rules) == 0:
		a.Remark("Nothing is allowed for good in this project.")
		return nil
	default:
		return t.write(a.out, a.width())
	}
}

func (a *app) approved(ctx context.Context, e *engine.Engine) (lathe.Ruleset, error) {
	place, err := e.Locate(ctx, a.Dir)
	if err != nil {
		return nil, err
	}
	return e.Approvals(ctx, place)
}

func (a *app) revoke(ctx context.Context, e *engine.Engine, permission, pattern string) error {
	place, err := e.Locate(ctx, a.Dir)
	if err != nil {
		return err
	}
	if err := e.Revoke(ctx, place, permission, pattern); err != nil {
		if lathe.CodeOf(err) == lathe.NotFound {
			return lathe.Errorf(lathe.NotFound, "%s %s is not allowed for good in this project; `lathe permission list` shows what is", termtext.Plain(permission), termtext.Quote(pattern))
		}
		return err
	}
	a.printf("Revoked: %s %s\n", termtext.Plain(permission), termtext.Plain(pattern))
	return nil
}
