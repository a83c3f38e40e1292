// Package install has the commands upgrade, uninstall and completion.
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

// installation describes how this program was installed.
type installation struct {
	Path   string `json:"path"`
	Method string `json:"method"` // go, source, brew, nix, package or binary
	// Upgrade, Versions and Remove are commands to run or pages to open.
	Upgrade  string `json:"upgrade"`
	Versions string `json:"versions"`
	Remove   string `json:"remove"`
}

// NewUpgrade returns `lathe upgrade`.
func NewUpgrade(a *cli.App) *cobra.Command {
	var check bool
	cmd := &cobra.Command{
		Use:   "upgrade [VERSION]",
		Short: "Print how to upgrade lathe",
		Long: `Print how to upgrade, depending on how lathe was installed: with go install, from source, as a
package, or as a binary. It changes nothing and contacts no server.

--check prints the installed version and where to find the latest one.`,
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
	cmd.Flags().BoolVar(&check, "check", false, "print the installed version and where to find the latest")
	return a.JSONFlag(cmd)
}

// upgradeProgram prints the command and leaves it to the user to run it.
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
		"go": "installed with go", "source": "built from source", "brew": "installed with Homebrew", "nix": "installed with Nix",
		"package": "installed by your package manager",
	}[method], "a standalone binary")
}

// howInstalled finds out how this program was installed.
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

// Location describes where the program is.
type Location struct {
	Path, Real string
	Built      string // module version, or "(devel)" or ""
	Env        func(string) string
	Home       string
}

// Installation guesses the installation method from the path, and returns the commands for it.
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
		in.Method, in.Upgrade, in.Remove = "nix", "upgrade it in your Nix configuration", "remove it from your Nix configuration"
	case strings.HasPrefix(slashed, "/usr/bin/") || strings.HasPrefix(slashed, "/usr/lib") || strings.HasPrefix(slashed, "/snap/"):
		in.Method = "package"
		in.Upgrade = "use your package manager (`dpkg -S " + p.Real + "` or `rpm -qf " + p.Real + "` prints the package)"
		in.Remove = in.Upgrade
	case top != "":
		in.Method, in.Upgrade = "source", "git -C "+termtext.ShellWord(top)+" pull && make -C "+termtext.ShellWord(top)+" build"
	case p.isGoBin() || p.Built != "" && p.Built != "(devel)":
		in.Method, in.Upgrade = "go", "go install "+ModulePath+"/cmd/lathe@"+to
		in.Versions = "go list -m -versions " + ModulePath
	default:
		in.Method, in.Upgrade = "binary", "replace the binary with that of "+ReleasesPage+" in place of "+termtext.ShellWord(p.Path)
	}
	return in
}

// isGoBin reports whether the program is in Go's bin folder.
func (p Location) isGoBin() bool {
	dirs := []string{p.Env("GOBIN"), filepath.Join(p.Home, "go", "bin")}
	for _, path := range filepath.SplitList(p.Env("GOPATH")) {
		dirs = append(dirs, filepath.Join(path, "bin"))
	}
	return slices.ContainsFunc(dirs, func(dir string) bool {
		return filepath.IsAbs(dir) && (filepath.Dir(p.Path) == filepath.Clean(dir) || filepath.Dir(p.Real) == filepath.Clean(dir))
	})
}

// sourceTop returns the checkout that contains the program, or "".
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
