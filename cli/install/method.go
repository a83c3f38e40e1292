package install

import (
	"cmp"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/lathe-agent/lathe/cli"
	"github.com/lathe-agent/lathe/cli/install/release"
	"github.com/lathe-agent/lathe/internal/termtext"
)

const (
	ModulePath   = "github.com/lathe-agent/lathe"
	ReleasesPage = release.DefaultBase
	npmPackage   = "@lathe-agent/lathe"
	image        = "ghcr.io/lathe-agent/lathe"
	// imageMarker exists in our container image (see packaging/Dockerfile).
	imageMarker = "/usr/share/lathe/container"
)

// byBinary is the method of a binary that `lathe upgrade` replaces itself.
const byBinary = "binary"

// installation describes how this program was installed.
type installation struct {
	Path   string `json:"path"`
	Method string `json:"method"` // see methodNames
	// Upgrade, Versions and Remove are commands to run or pages to open.
	Upgrade  string `json:"upgrade"`
	Versions string `json:"versions"`
	Remove   string `json:"remove"`
	file     string // package to download for Upgrade, of which FILE and URL are placeholders
}

// methodNames describes the methods.
func methodNames() map[string]string {
	return map[string]string{
		byBinary: "a standalone binary", "go": "installed with go", "source": "built from source", "brew": "installed with Homebrew", "scoop": "installed with Scoop",
		"npm": "installed with npm", "pnpm": "installed with pnpm", "bun": "installed with Bun", "nix": "installed with Nix", "container": "part of a container image",
		"deb": "installed as a Debian package", "rpm": "installed as an RPM package", "apk": "installed as an Alpine package", "package": "installed by your package manager",
	}
}

func methodWords(method string) string { return cmp.Or(methodNames()[method], method) }

// howInstalled finds out how this program was installed.
func howInstalled(a *cli.App, to string) installation {
	program, err := os.Executable()
	if err != nil {
		program = os.Args[0]
	}
	real := program
	if p, err := filepath.EvalSymlinks(program); err == nil {
		real = p
	}
	built := ""
	// A build from a checkout can have a version too, but no checksum.
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Path == ModulePath && info.Main.Sum != "" {
		built = info.Main.Version
	}
	return Location{Path: program, Real: real, Built: built, Env: a.Env, Home: a.Home(), Read: os.ReadFile}.Installation(to)
}

// Location describes where the program is.
type Location struct {
	Path, Real string
	Built      string // version of the module that `go install` downloaded, or ""
	Env        func(string) string
	Home       string
	Read       func(path string) ([]byte, error)
}

// Installation guesses the installation method from the path, and returns the commands for it. to is a version
// without v, or "".
func (p Location) Installation(to string) installation {
	remove := "rm " + termtext.ShellWord(p.Path)
	if runtime.GOOS == "windows" {
		remove = "del " + termtext.ShellWord(p.Path)
	}
	in := installation{Path: p.Path, Versions: ReleasesPage, Remove: remove}
	slashed := filepath.ToSlash(p.Real)
	tagged := "latest"
	if to != "" {
		tagged = "v" + to
	}
	switch top := p.sourceTop(); {
	case strings.Contains(slashed, "/Cellar/") || strings.Contains(slashed, "/homebrew/"):
		in.Method, in.Upgrade, in.Versions, in.Remove = "brew", "brew upgrade lathe", "brew info lathe", "brew uninstall lathe"
	case strings.Contains(strings.ToLower(slashed), "/scoop/apps/lathe/"):
		in.Method, in.Upgrade, in.Versions, in.Remove = "scoop", "scoop update lathe", "scoop info lathe", "scoop uninstall lathe"
	case strings.Contains(slashed, "/node_modules/"):
		in.byNode(slashed, cmp.Or(to, "latest"))
	case strings.HasPrefix(slashed, "/nix/store/"):
		in.Method, in.Upgrade, in.Remove = "nix", "nix profile upgrade lathe", "nix profile remove lathe"
	case p.exists(imageMarker) && slashed == "/usr/local/bin/lathe":
		in.Method, in.Upgrade, in.Remove = "container", "docker pull "+image+":"+cmp.Or(to, "latest"), "docker rmi "+image
	case strings.HasPrefix(slashed, "/usr/bin/") || strings.HasPrefix(slashed, "/usr/lib") || strings.HasPrefix(slashed, "/snap/"):
		in.byPackage(p)
	case top != "":
		in.Method, in.Upgrade = "source", "git -C "+termtext.ShellWord(top)+" pull && make -C "+termtext.ShellWord(top)+" build"
	case p.isGoBin() || p.Built != "" && p.Built != "(devel)":
		in.Method, in.Upgrade = "go", "go install "+ModulePath+"/cmd/lathe@"+tagged
		in.Versions = "go list -m -versions " + ModulePath
	default:
		in.Method, in.Upgrade = byBinary, strings.TrimSpace("lathe upgrade "+to)
	}
	return in
}

// byNode fills in the commands of npm, pnpm and Bun: for all projects, one project, or a single run.
func (in *installation) byNode(slashed, to string) {
	spec := npmPackage + "@" + to
	before, _, _ := strings.Cut(slashed, "/node_modules/")
	in.Method, in.Versions = "npm", "npm view "+npmPackage+" versions"
	switch {
	case strings.Contains(slashed, "/_npx/"):
		in.Upgrade, in.Remove = "npx "+spec, "npm cache clean --force"
	case strings.Contains(slashed, "/.bun/"):
		in.Method, in.Upgrade, in.Remove = "bun", "bun add -g "+spec, "bun remove -g "+npmPackage
	case strings.Contains(slashed, "/pnpm/"):
		in.Method, in.Upgrade, in.Remove = "pnpm", "pnpm add -g "+spec, "pnpm remove -g "+npmPackage
	case path.Base(before) == "lib" || path.Base(before) == "npm": // the prefix of npm, and its folder on Windows
		in.Upgrade, in.Remove = "npm install -g "+spec, "npm uninstall -g "+npmPackage
	default:
		at := "npm --prefix " + termtext.ShellWord(filepath.FromSlash(before))
		in.Upgrade, in.Remove = at+" install "+spec, at+" uninstall "+npmPackage
	}
}

// byPackage fills in the commands of the package manager that has the package lathe. The packages are in our
// releases, not in the system's repositories.
func (in *installation) byPackage(p Location) {
	db, _ := p.Read("/lib/apk/db/installed") // Alpine only
	switch {
	case p.exists("/var/lib/dpkg/info/lathe.list"):
		in.Method, in.file = "deb", "deb"
		in.Upgrade, in.Remove = "curl -fLO URL && sudo apt install ./FILE", "sudo apt remove lathe"
	case strings.Contains("\n"+string(db), "\nP:lathe\n"):
		in.Method, in.file = "apk", "apk"
		in.Upgrade, in.Remove = "wget URL && sudo apk add --allow-untrusted ./FILE", "sudo apk del lathe"
	case p.exists("/var/lib/rpm/rpmdb.sqlite") || p.exists("/usr/lib/sysimage/rpm/rpmdb.sqlite") || p.exists("/var/lib/rpm/Packages"):
		in.Method, in.file = "rpm", "rpm"
		in.Upgrade, in.Remove = "sudo rpm -U URL", "sudo rpm -e lathe"
	default:
		in.Method = "package"
		in.Upgrade = "use your package manager (`dpkg -S " + p.Real + "` or `rpm -qf " + p.Real + "` prints the package)"
		in.Remove = in.Upgrade
	}
}

// complete fills in the file of a release for the command.
func (in *installation) complete(base, version string) {
	name := "lathe_" + version + "_" + runtime.GOOS + "_" + runtime.GOARCH + "." + in.file
	in.Upgrade = strings.NewReplacer("URL", base+"/download/v"+version+"/"+name, "FILE", name).Replace(in.Upgrade)
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
func (p Location) sourceTop() string {
	for dir := filepath.Dir(p.Real); dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if src, err := p.Read(filepath.Join(dir, "go.mod")); err == nil {
			if line, _, _ := strings.Cut(string(src), "\n"); strings.TrimSpace(line) == "module "+ModulePath {
				return dir
			}
			return ""
		}
	}
	return ""
}

func (p Location) exists(path string) bool {
	_, err := p.Read(path)
	return err == nil
}
