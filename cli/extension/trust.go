package extension

import (
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/config"
	"github.com/lathe-agent/lathe/internal/termtext"
	"github.com/lathe-agent/lathe/workspace"
)

type trustFlags struct {
	list, revoke, show bool
}

func NewTrust(a *cli.App) *cobra.Command {
	var f trustFlags
	cmd := &cobra.Command{
		Use:   "trust [DIRECTORY]",
		Short: "Let a project run what its settings say",
		Long: `A project's settings can start programs (MCP and language servers, formatters, plugins),
send your requests elsewhere, or read your variables and files. None of that counts until you
trust the project. Trust is bound to the real path and to exactly those settings: when one of
them changes, you are asked again.

Without flags it trusts the project of DIRECTORY as it is now. Look before you do: --show.
--trust on any command, or LATHE_TRUST=1, trusts for one run.`,
		Example: `  lathe trust --show
  lathe trust
  lathe trust --list
  lathe trust --revoke ~/src/app`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return cli.Usagef("lathe trust takes one directory, not %d", len(args))
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 1 {
				a.Dir = args[0]
			}
			return trustCommand(a, f)
		},
	}
	cmd.Flags().BoolVar(&f.list, "list", false, "list the projects you trust")
	cmd.Flags().BoolVar(&f.revoke, "revoke", false, "take your trust back")
	cmd.Flags().BoolVar(&f.show, "show", false, "show what would be trusted, and change nothing")
	return a.JSONFlag(cmd)
}

func trustCommand(a *cli.App, f trustFlags) error {
	if f.list && f.revoke || f.list && f.show || f.revoke && f.show {
		return cli.Usagef("--list, --revoke and --show do not go together")
	}
	trust, err := a.TrustStore()
	if err != nil {
		return err
	}
	if f.list {
		return listTrust(a, trust)
	}
	if f.revoke {
		return revokeTrust(a, trust)
	}
	risks, err := projectRisks(a)
	if err != nil {
		return err
	}
	if f.show {
		return showTrust(a, trust, risks)
	}
	if len(risks.Risks) == 0 {
		a.Notify("Nothing here needs trust: no setting of this project runs or redirects anything.")
		return nil
	}
	if err := grantTrust(a, trust, risks); err != nil {
		return err
	}
	g := grantOf(a, risks)
	if a.JSON {
		return a.PrintJSON(g)
	}
	a.Printf("Trusted %s: %s.\n", termtext.Plain(g.Root), termtext.Plural(len(g.Settings), "setting"))
	return nil
}

func grantOf(a *cli.App, d *config.Untrusted) workspace.Grant {
	g := workspace.Grant{Root: d.Root, Digest: d.Digest, At: time.UnixMilli(a.Now().UnixMilli()).UTC()}
	for _, r := range d.Risks {
		g.Settings = append(g.Settings, r.String())
	}
	return g
}

// grantTrust trusts a project with exactly these settings.
func grantTrust(a *cli.App, trust *workspace.Trust, d *config.Untrusted) error {
	if err := trust.Grant(grantOf(a, d)); err != nil {
		return lathe.Errorf(lathe.Unavailable, "your trust could not be written down: %w", err)
	}
	return nil
}

func listTrust(a *cli.App, trust *workspace.Trust) error {
	grants, err := trust.List()
	if err != nil {
		return err
	}
	if a.JSON {
		return a.PrintJSON(append([]workspace.Grant{}, grants...))
	}
	if len(grants) == 0 {
		a.Notify("You trust no project yet.")
		return nil
	}
	for _, g := range grants {
		a.Printf("%s\n    %s, since %s\n", termtext.Plain(g.Root), termtext.Plural(len(g.Settings), "setting"), g.At.Local().Format("2 Jan 2006 15:04"))
	}
	return nil
}

// revokeTrust takes the decision about this directory's project back, whatever it was bound to.
func revokeTrust(a *cli.App, trust *workspace.Trust) error {
	o, err := a.ConfigOptions()
	if err != nil {
		return err
	}
	for _, root := range []string{o.Worktree, o.Directory} {
		if real, err := filepath.EvalSymlinks(root); err == nil {
			root = real
		}
		had, err := trust.Revoke(root)
		if err != nil {
			return lathe.Errorf(lathe.Unavailable, "your trust could not be taken back: %w", err)
		}
		if had {
			a.Printf("No longer trusted: %s\n", termtext.Plain(root))
			return nil
		}
	}
	return lathe.Errorf(lathe.NotFound, "%s is not trusted; `lathe trust --list` shows what is", termtext.Plain(o.Directory))
}

type trustJSON struct {
	Root    string        `json:"root"`
	Digest  string        `json:"digest"`
	Trusted bool          `json:"trusted"`
	Risks   []config.Risk `json:"risks"`
}

func showTrust(a *cli.App, trust *workspace.Trust, d *config.Untrusted) error {
	trusted := trust.Trusts(d.Root, d.Digest)
	if a.JSON {
		return a.PrintJSON(trustJSON{d.Root, d.Digest, trusted, append([]config.Risk{}, d.Risks...)})
	}
	if len(d.Risks) == 0 {
		a.Printf("Nothing here needs trust.\n")
		return nil
	}
	state := "not trusted"
	if trusted {
		state = "trusted"
	}
	a.Printf("%s (%s)\n", termtext.Plain(d.Root), state)
	for _, r := range d.Risks {
		a.Printf("  %s\n", termtext.Plain(r.String()))
		if len(r.Key) > 0 {
			a.Printf("      %s\n", termtext.Clip(termtext.Plain(r.Value), 200))
		}
	}
	return nil
}
