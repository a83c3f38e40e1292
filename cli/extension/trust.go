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

// NewTrust returns `lathe trust`.
func NewTrust(a *cli.App) *cobra.Command {
	var f trustFlags
	cmd := &cobra.Command{
		Use:   "trust [DIRECTORY]",
		Short: "Manage trusted projects",
		Long: `Trust the project in DIRECTORY. A project's config can start programs (MCP and language servers,
formatters, plugins), redirect your requests, or read your environment and files. lathe ignores
these parts until you trust the project. Trust covers the real path and the exact values: after a
change you must trust the project again. In a trusted project, language servers and formatters may
also run programs and code of the project, such as node_modules/.bin, build scripts and plugins.

Review the config first with --show. To trust a project for one run, pass --trust to any command or
set LATHE_TRUST=1.`,
		Example: `  lathe trust --show
  lathe trust
  lathe trust --list
  lathe trust --revoke ~/src/app`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return cli.Usagef("lathe trust takes at most one directory, not %d", len(args))
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
	cmd.Flags().BoolVar(&f.list, "list", false, "list trusted projects")
	cmd.Flags().BoolVar(&f.revoke, "revoke", false, "revoke the trust")
	cmd.Flags().BoolVar(&f.show, "show", false, "show the config that needs trust, and change nothing")
	return a.JSONFlag(cmd)
}

// trustCommand lists, revokes, shows or grants trust, depending on the flags.
func trustCommand(a *cli.App, f trustFlags) error {
	if f.list && f.revoke || f.list && f.show || f.revoke && f.show {
		return cli.Usagef("--list, --revoke and --show cannot be combined")
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
		return trustCode(a, trust)
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

// trustCode trusts the code of a project whose config needs no trust.
func trustCode(a *cli.App, trust *workspace.Trust) error {
	o, err := a.ConfigOptions()
	if err != nil {
		return err
	}
	root := o.Worktree
	if root == filepath.Dir(root) {
		root = o.Directory
	}
	if root, err = filepath.EvalSymlinks(root); err != nil {
		return lathe.Errorf(lathe.NotFound, "directory not found: %w", err)
	}
	g := workspace.Grant{Root: root, Digest: config.CodeDigest, Settings: []string{"its code"}, At: time.UnixMilli(a.Now().UnixMilli()).UTC()}
	if err := trust.Grant(g); err != nil {
		return lathe.Errorf(lathe.Unavailable, "cannot save the trust: %w", err)
	}
	if a.JSON {
		return a.PrintJSON(g)
	}
	a.Printf("Trusted %s. Its config needs no trust; language servers and formatters may run its code.\n", termtext.Plain(root))
	return nil
}

func grantOf(a *cli.App, d *config.Untrusted) workspace.Grant {
	g := workspace.Grant{Root: d.Root, Digest: d.Digest, At: time.UnixMilli(a.Now().UnixMilli()).UTC()}
	for _, r := range d.Risks {
		g.Settings = append(g.Settings, r.String())
	}
	return g
}

// grantTrust trusts a project with exactly this config.
func grantTrust(a *cli.App, trust *workspace.Trust, d *config.Untrusted) error {
	if err := trust.Grant(grantOf(a, d)); err != nil {
		return lathe.Errorf(lathe.Unavailable, "cannot save the trust: %w", err)
	}
	return nil
}

// listTrust lists the trusted projects with the number of trusted settings.
func listTrust(a *cli.App, trust *workspace.Trust) error {
	grants, err := trust.List()
	if err != nil {
		return err
	}
	if a.JSON {
		return a.PrintJSON(append([]workspace.Grant{}, grants...))
	}
	if len(grants) == 0 {
		a.Notify("No trusted projects.")
		return nil
	}
	for _, g := range grants {
		a.Printf("%s\n    %s, since %s\n", termtext.Plain(g.Root), termtext.Plural(len(g.Settings), "setting"), g.At.Local().Format("2 Jan 2006 15:04"))
	}
	return nil
}

// revokeTrust revokes the trust in this directory's project, whatever config it covered.
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
			return lathe.Errorf(lathe.Unavailable, "cannot revoke the trust: %w", err)
		}
		if had {
			a.Printf("No longer trusted: %s\n", termtext.Plain(root))
			return nil
		}
	}
	return lathe.Errorf(lathe.NotFound, "%s is not trusted; `lathe trust --list` lists trusted projects", termtext.Plain(o.Directory))
}

// trustJSON is the output of `lathe trust --show --json`.
type trustJSON struct {
	Root    string        `json:"root"`
	Digest  string        `json:"digest"`
	Trusted bool          `json:"trusted"`
	Risks   []config.Risk `json:"risks"`
}

// showTrust prints the values that need trust, shortened, so that users can review them first.
func showTrust(a *cli.App, trust *workspace.Trust, d *config.Untrusted) error {
	trusted := trust.Trusts(d.Root, d.Digest)
	if a.JSON {
		return a.PrintJSON(trustJSON{d.Root, d.Digest, trusted, append([]config.Risk{}, d.Risks...)})
	}
	if len(d.Risks) == 0 {
		a.Printf("Nothing needs trust.\n")
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
			a.Printf("      %s\n", termtext.Clip(termtext.Plain(r.Value), 1000))
		}
	}
	return nil
}
