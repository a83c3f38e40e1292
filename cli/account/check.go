package account

import (
	"context"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/cli/layout"
	"github.com/lathe-agent/lathe/internal/termtext"
	"github.com/lathe-agent/lathe/model/auth"
	"github.com/lathe-agent/lathe/model/catalog"
	"github.com/lathe-agent/lathe/model/provider"
)

// newAuthCheck asks providers about the keys that are in use.
func newAuthCheck(a *cli.App) *cobra.Command {
	return a.JSONFlag(&cobra.Command{
		Use:   "check [PROVIDER]",
		Short: "Check whether providers accept the saved API keys",
		Long: `Ask each provider for its list of models with the API key in use, which costs nothing. Without a
provider, lathe checks all saved keys. The command fails if a key is refused.`,
		Example: `  lathe auth check
  lathe auth check anthropic --json`,
		Args: cli.RangeArgs(0, 1),
		RunE: func(c *cobra.Command, args []string) error { return checkKeys(c.Context(), a, args) },
	})
}

// keyVerdict is a line of `lathe auth check --json`.
type keyVerdict struct {
	Provider string `json:"provider"`
	Check    string `json:"check"`
	Detail   string `json:"detail,omitempty"`
}

// checkKeys asks one provider after the other: each takes a moment, and a user with many keys sees which one
// hangs.
func checkKeys(ctx context.Context, a *cli.App, only []string) error {
	p, err := a.Providers()
	if err != nil {
		return err
	}
	out, refused := []keyVerdict{}, 0
	for _, id := range slices.Sorted(maps.Keys(p.Credentials)) {
		k, isKey := p.Credentials[id].(auth.Key)
		if !isKey || len(only) > 0 && only[0] != id {
			continue
		}
		c := p.CheckKey(ctx, id, k)
		if err := context.Cause(ctx); err != nil {
			return err
		}
		if c.Verdict == provider.Refused {
			refused++
		}
		out = append(out, keyVerdict{id, string(c.Verdict), c.Detail})
	}
	if len(out) == 0 {
		return lathe.Errorf(lathe.NotFound, "no saved API key to check; `lathe auth list` shows the credentials")
	}
	if a.JSON {
		if err := a.PrintJSON(out); err != nil {
			return err
		}
	} else {
		t := layout.Table{Head: []string{"Provider", "Check", "Detail"}, Flexible: []int{2}, Paths: -1}
		for _, v := range out {
			t.Rows = append(t.Rows, []string{termtext.Plain(v.Provider), v.Check, termtext.Plain(v.Detail)})
		}
		if err := t.Write(a.Out, a.Width()); err != nil {
			return err
		}
	}
	a.Flush()
	if refused > 0 {
		return cli.Reported{Code: 1}
	}
	return nil
}

// refusedKey is the error for a wrong key.
func refusedKey(id, name string, c provider.KeyCheck) error {
	page := ""
	if at := catalog.KeyPage(id); at != "" {
		page = " Create a key at " + at + "."
	}
	return lathe.Errorf(lathe.Unauthorized, "%s refused this API key (%s); nothing was changed.%s Pass --force to save it anyway", termtext.Plain(name), termtext.Plain(c.Detail), page)
}

// noteCheck tells the verdict on a key that was saved.
func noteCheck(a *cli.App, id, name string, c provider.KeyCheck) {
	name, detail := termtext.Plain(name), termtext.Plain(c.Detail)
	switch c.Verdict {
	case provider.Works:
		a.Notify("%s accepts the key.", name)
	case provider.Refused:
		a.Notify("Warning: %s refuses this key (%s).", name, detail)
	case provider.NoCredit:
		a.Notify("Warning: %s accepts the key, but its account has no credit or quota left (%s).", name, detail)
	case provider.Unreachable:
		a.Notify("Warning: the key could not be checked (%s). `lathe auth check %s` checks it later.", detail, termtext.Plain(id))
	case provider.Unchecked:
		a.Notify("The key could not be checked (%s).", detail)
	}
}
