// Package install has the commands upgrade, uninstall and completion, and the automatic upgrades of the config.
package install

import (
	"context"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/cli/install/release"
	"github.com/lathe-agent/lathe/cli/layout"
	"github.com/lathe-agent/lathe/config/datadir"
	"github.com/lathe-agent/lathe/internal/filelock"
)

type upgradeFlags struct {
	check, rollback bool
	from            string
}

// NewUpgrade returns `lathe upgrade`.
func NewUpgrade(a *cli.App) *cobra.Command {
	var f upgradeFlags
	cmd := &cobra.Command{
		Use:   "upgrade [VERSION]",
		Short: "Upgrade lathe to the latest release",
		Long: `Upgrade lathe to the latest release, or to VERSION. A standalone binary, such as that of install.sh, is
downloaded, verified by its checksum (and its signature, if this program has a key), started once, and
replaced atomically. If any of that fails, the installed program stays as it is.

If Homebrew, Scoop, npm, go, Nix, a system package or a container image owns the program, nothing is
changed: the output is the command that upgrades it.

The replaced version stays beside the program. --rollback returns to it. lathe never upgrades itself
unless "autoupdate" is set in your config. LATHE_RELEASES_URL or --from sets another address of releases:
https, a folder as file:///…, or http on this machine.`,
		Example: `  lathe upgrade
  lathe upgrade --check        # print the latest version, change nothing
  lathe upgrade 0.2.0          # also to an older version
  lathe upgrade --rollback     # return to the version before`,
		Args: cli.RangeArgs(0, 1),
		RunE: func(c *cobra.Command, args []string) error {
			to := ""
			if len(args) > 0 && args[0] != "latest" {
				v, err := release.CheckVersion(args[0])
				if err != nil {
					return cli.Usagef("%v", err)
				}
				to = v
			}
			return runUpgrade(c.Context(), a, f, to)
		},
	}
	s := cmd.Flags()
	s.BoolVar(&f.check, "check", false, "print the installed and the latest version, change nothing")
	s.BoolVar(&f.rollback, "rollback", false, "return to the version before the last upgrade")
	s.StringVar(&f.from, "from", "", "`URL` of the releases; default: "+release.DefaultBase)
	return a.JSONFlag(cmd)
}

// upgradeJSON is the output of `lathe upgrade --json`.
type upgradeJSON struct {
	Version string `json:"version"`           // before
	Latest  string `json:"latest,omitempty"`  // found at the releases
	Current string `json:"current,omitempty"` // after, if the program was replaced
	installation
}

func runUpgrade(ctx context.Context, a *cli.App, f upgradeFlags, to string) error {
	in := howInstalled(a, to)
	if f.rollback {
		return rollBack(ctx, a, f, in, to)
	}
	out := upgradeJSON{Version: a.Version, installation: in}
	if f.check || in.Method == byBinary || in.file != "" {
		source, err := openReleases(a, f.from)
		if err != nil {
			return err
		}
		found, err := source.Find(ctx, to)
		if err != nil {
			return err
		}
		out.Latest = found.Version
		out.complete(source.Base(), found.Version)
		if in.Method == byBinary && !f.check && wanted(found.Version, a.Version, to) {
			if err := replaceProgram(ctx, a, source, found, in.Path); err != nil {
				return err
			}
			out.Current = found.Version
		}
	}
	if a.JSON {
		return a.PrintJSON(out)
	}
	return showUpgrade(a, f, out, to)
}

// wanted reports whether a version replaces the installed one: a newer one, or any other that was asked for by name.
func wanted(found, installed, asked string) bool {
	if asked != "" {
		return found != installed
	}
	return release.IsNewer(found, installed)
}

// showUpgrade prints the result as sentences, or the command to run.
func showUpgrade(a *cli.App, f upgradeFlags, out upgradeJSON, to string) error {
	rows := [][2]string{{"Version", a.Version}, {"Program", a.DisplayPath(out.Path) + " (" + methodWords(out.Method) + ")"}}
	switch {
	case out.Current != "":
		a.Printf("Upgraded lathe from %s to %s in %s.\n", a.Version, out.Current, a.DisplayPath(out.Path))
		a.Printf("`lathe upgrade --rollback` returns to %s.\n", a.Version)
		return nil
	case f.check:
		rows = append(rows, [2]string{"Latest", out.Latest})
		if !wanted(out.Latest, a.Version, to) {
			return layout.Pairs(a.Out, rows)
		}
	case out.Method == byBinary:
		a.Printf("lathe %s is %s.\n", a.Version, map[bool]string{true: "the latest version", false: "installed already"}[to == ""])
		return nil
	}
	return layout.Pairs(a.Out, append(rows, [2]string{"Upgrade", out.Upgrade}))
}

// openReleases returns the source of releases: the flag, the environment, or ours.
func openReleases(a *cli.App, from string) (*release.Source, error) {
	if from == "" {
		from = a.Env("LATHE_RELEASES_URL")
	}
	return release.Open(from)
}

// replaceProgram installs a release, one process at a time.
func replaceProgram(ctx context.Context, a *cli.App, source *release.Source, r release.Release, program string) error {
	unlock, err := lockUpgrades(ctx, a)
	if err != nil {
		return err
	}
	defer unlock()
	return source.Install(ctx, r, realPath(program))
}

func rollBack(ctx context.Context, a *cli.App, f upgradeFlags, in installation, to string) error {
	switch {
	case f.check:
		return cli.Usagef("--check and --rollback cannot be combined")
	case to != "":
		return cli.Usagef("--rollback takes no version; `lathe upgrade %s` installs one", to)
	case in.Method != byBinary:
		return lathe.Errorf(lathe.Invalid, "lathe is %s, so --rollback has nothing to return to; install another version the same way", methodWords(in.Method))
	}
	unlock, err := lockUpgrades(ctx, a)
	if err != nil {
		return err
	}
	defer unlock()
	version, err := release.Rollback(ctx, realPath(in.Path))
	if err != nil {
		return err
	}
	if a.JSON {
		return a.PrintJSON(upgradeJSON{Version: a.Version, Current: version, installation: in})
	}
	a.Printf("Returned from lathe %s to %s in %s.\n", a.Version, version, a.DisplayPath(in.Path))
	return nil
}

// lockUpgrades waits for the upgrade of another process.
func lockUpgrades(ctx context.Context, a *cli.App) (unlock func(), err error) {
	at, err := datadir.Find(a.Env)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(at.State, 0o700); err != nil {
		return nil, err
	}
	return filelock.Lock(ctx, filepath.Join(at.State, "upgrade.lock"))
}

// realPath is the file behind a link: the link stays.
func realPath(program string) string {
	if real, err := filepath.EvalSymlinks(program); err == nil {
		return real
	}
	return program
}
