// Package install tells how to upgrade and remove the program, and prints completion scripts for shells.
package install

import (
	"cmp"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/cli/layout"
	"github.com/lathe-agent/lathe/internal/termtext"
)

const (
	ModulePath   = "github.com/lathe-agent/lathe"
	ReleasesPage = "https://" + ModulePath + "/releases"
)

// installation is how this program came to where it is.
type installation struct {
	Path   string `json:"path"`
	Method string `json:"method"` // go, source, brew, nix, package or binary
	// Upgrade, Versions and Remove are commands for people to run, or pages to look at.
	Upgrade  string `json:"upgrade"`
	Versions string `json:"versions"`
	Remove   string `json:"remove"`
}

func NewUpgrade(a *cli.App) *cobra.Command {
	var check bool
	cmd := &cobra.Command{
		Use:   "upgrade [VERSION]",
		Short: "Print how to get another version",
		Long: `Prints how to upgrade, by how this program was installed: with go install, from its source, as a
package, or as a binary. It changes nothing, and asks no server: programs that replace
themselves are hard to trust.

--check prints the version you have and where the newest one is shown.`,
		Example: `  lathe upgrade
  lathe upgrade --check
  lathe upgrade v0.2.0`,
		Args: cli.RangeArgs(0, 1),
		RunE: func(_ *cobra.Command, args []string) error {
			to := "latest"
			if len(args) > 0 {
				to = termtext.Plain(args[0])
			}
			return upgradeProgram(a, to, check)
		},
	}
	cmd.Flags().BoolVar(&check, "check", false, "print this version and where the newest is shown")
	return a.JSONFlag(cmd)
}

func upgradeProgram(a *cli.App, to string, check bool) error {
	in := howInstalled(a, to)
	if a.JSON {
		return a.PrintJSON(struct {
			Version string `json:"version"`
			installation
		}{a.Version, in})
	}
	rows := [][2]string{{"Version", a.Version}, {"Program", a.DisplayPath(in.Path) + " (" + methodWords(in.Method) + ")"}}
	if check {
		return layout.Pairs(a.Out, append(rows, [2]string{"Newest", in.Versions}))
	}
	return layout.Pairs(a.Out, append(rows, [2]string{"Upgrade", in.Upgrade}))
}

func methodWords(method string) string {
	return cmp.Or(map[string]string{
		"go": "installed with go", "source": "built from its source", "brew": "installed with Homebrew", "nix": "installed with Nix",
		"package": "installed by your system",
	}[method], "a binary on its own")
}

// howInstalled looks where this program is and says what that means.
func howInstalled(a *cli.App, to string) installation {
	path, err := os.Executable()
	if err != nil {
		path = os.Args[0]
	}
	real := path
	if p, err := filepath.EvalSymlinks(path); err == nil {
		real = p
	}
	built := ""
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Path == ModulePath {
		built = info.Main.Version
	}
	return Location{Path: path, Real: real, Built: built, Env: a.Env, Home: a.Home()}.Installation(to)
}

// Location is what can be known of where a program is.
type Location struct {
	Path, Real string
	Built      string // the version its module was fetched with, "(devel)" or "" if it was not
	Env        func(string) string
	Home       string
}

func (p Location) Installation(to string) installation {
	remove := "rm " + termtext.ShellWord(p.Path)
	if runtime.GOOS == "windows" {
		remove = "del " + termtext.ShellWord(p.Path)
	}
	in := installation{Path: p.Path, Versions: ReleasesPage, Remove: remove}
	slashed := filepath.ToSlash(p.Real)
	switch top := sourceTop(p.Real); {
	case strings.Contains(slashed, "/Cellar/") || strings.Contains(slashed, "/homebrew/"):
		in.Method, in.Upgrade, in.Versions, in.Remove = "brew", "brew upgrade lathe", "brew info lathe", "brew uninstall lathe"
	case strings.HasPrefix(slashed, "/nix/store/"):
		in.Method, in.Upgrade, in.Remove = "nix", "upgrade it where your Nix configuration names it", "take it out of your Nix configuration"
	case strings.HasPrefix(slashed, "/usr/bin/") || strings.HasPrefix(slashed, "/usr/lib") || strings.HasPrefix(slashed, "/snap/"):
		in.Method = "package"
		in.Upgrade = "with the package manager of your system (`dpkg -S " + p.Real + "` or `rpm -qf " + p.Real + "` names the package)"
		in.Remove = in.Upgrade
	case top != "":
		in.Method, in.Upgrade = "source", "git -C "+termtext.ShellWord(top)+" pull && make -C "+termtext.ShellWord(top)+" build"
	case p.isGoBin() || p.Built != "" && p.Built != "(devel)":
		in.Method, in.Upgrade = "go", "go install "+ModulePath+"/cmd/lathe@"+to
		in.Versions = "go list -m -versions " + ModulePath
	default:
		in.Method, in.Upgrade = "binary", "put the binary of "+ReleasesPage+" in place of "+termtext.ShellWord(p.Path)
	}
	return in
}

// isGoBin reports whether the program is where go puts programs.
func (p Location) isGoBin() bool {
	dirs := []string{p.Env("GOBIN"), filepath.Join(p.Home, "go", "bin")}
	for _, path := range filepath.SplitList(p.Env("GOPATH")) {
		dirs = append(dirs, filepath.Join(path, "bin"))
	}
	return slices.ContainsFunc(dirs, func(dir string) bool {
		return filepath.IsAbs(dir) && (filepath.Dir(p.Path) == filepath.Clean(dir) || filepath.Dir(p.Real) == filepath.Clean(dir))
	})
}

// sourceTop is the checkout a program was built in, "" if it is in none.
func sourceTop(path string) string {
	for dir := filepath.Dir(path); dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if src, err := os.ReadFile(filepath.Join(dir, "go.mod")); err == nil {
			if line, _, _ := strings.Cut(string(src), "\n"); strings.TrimSpace(line) == "module "+ModulePath {
				return dir
			}
			return ""
		}
	}
	return ""
}
