package guarded

import (
	_ "embed"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"unicode"
)

// name is a guarded name, in any folder, with all below it.
type name struct {
	parts []string // "*" at the end of the last stands for any more letters
	why   string
	hold  Protection
}

// Protection is how the sandbox of commands holds a name that does not exist yet.
type Protection int

const (
	// Watch moves aside what a command makes under the name. Nothing stands in for it: programs and
	// people would see that.
	Watch Protection = iota
	// StandIn puts something empty there while a command runs.
	StandIn
	// Busy is Watch for what other programs write all the time: it is never put back to what it was.
	Busy
)

const (
	whyGit      = "git runs hooks and programs that files in .git name"
	whyHooks    = "git runs it as hooks"
	whyLayout   = "it would be part of a git repository, and git runs commands that a repository's config names"
	whyIncluded = "git takes settings from it"
	whyHome     = "your shell and your programs take their settings from it"
	whyOwn      = "lathe keeps sessions, keys and trust there"
)

// names are those inside of projects. .gitattributes is not among them: it only chooses among the
// filters that git's own settings define.
var names = sync.OnceValue(func() (out []name) {
	holds := map[string]Protection{"watch": Watch, "stand-in": StandIn, "busy": Busy}
	for line := range strings.Lines(namesText) {
		columns := strings.Split(line, " | ")
		if hold, ok := holds[columns[0]]; ok {
			for path := range strings.FieldsSeq(columns[2]) {
				out = append(out, name{strings.Split(path, "/"), columns[1], hold})
			}
		}
	}
	return out
})

//go:embed names.txt
var namesText string

// Names returns the guarded names of a folder that the sandbox holds in this way. A repository is
// not among them: see what the sandbox says of git.
func Names(dir string, hold Protection) (out []string) {
	for _, n := range names() {
		if n.hold == hold && n.parts[0] != ".git" && !strings.HasSuffix(n.parts[len(n.parts)-1], "*") {
			out = append(out, filepath.Join(append([]string{dir}, n.parts...)...))
		}
	}
	return out
}

// Lookup reports whether a file or folder, by its path in a project, is itself a guarded name and not
// only below one. A repository is not among them, as in [Names]. It is quick for all other names.
func Lookup(path string) (why string, hold Protection, ok bool) {
	dir, base := filepath.Base(filepath.Dir(path)), filepath.Base(path)
	if !strings.HasPrefix(base, ".") && !strings.HasPrefix(dir, ".") && !strings.ContainsAny(base[:1], "lLoO") {
		return "", 0, false
	}
	for _, n := range names() {
		if rest := split(path); len(rest) >= len(n.parts) && n.parts[0] != ".git" && n.at(rest[len(rest)-len(n.parts):]) {
			return n.why, n.hold, true
		}
	}
	return "", 0, false
}

// HomeFolders are the names in the user's folder with programs, or settings that run some.
func HomeFolders() []string {
	return []string{".emacs.d", ".ssh", ".gnupg", ".aws", ".kube", ".docker", ".local/bin", "bin", "go/bin", ".cargo/bin"}
}

// HomeFiles are the files in the user's folder of which shells and programs run what they say.
func HomeFiles() []string {
	return []string{
		".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".profile", ".zshrc", ".zshenv", ".zprofile", ".zlogin",
		".zlogout", ".kshrc", ".inputrc", ".xprofile", ".xsessionrc", ".vimrc", ".emacs", ".tmux.conf", ".gitconfig", ".netrc", ".npmrc", ".pypirc",
		".cargo/env", ".cargo/config.toml",
	}
}

// ConfigFolders are those of programs in the folder for settings that run what these say.
func ConfigFolders() []string {
	return []string{"lathe", "opencode", "fish", "git", "systemd", "autostart", "environment.d", "nvim"}
}

// nameOf says why a path is guarded by its names alone, whatever is on the disk. Plans are not
// guarded unless a link leads to them.
func nameOf(path string, linked bool) (why string, ok bool) {
	parts := split(path)
	for _, n := range names() {
		for i := range parts {
			if n.at(parts[i:]) && (linked || !isPlan(parts[i:])) {
				return n.why, true
			}
		}
	}
	return "", false
}

// hasGit reports whether a path leads into a repository by its names.
func hasGit(path string) bool {
	return slices.ContainsFunc(split(path), func(part string) bool { return same(part, ".git") })
}

// at reports whether the name stands at the beginning of a path.
func (n name) at(parts []string) bool {
	if len(parts) < len(n.parts) {
		return false
	}
	for i, want := range n.parts {
		if !same(parts[i], want) {
			return false
		}
	}
	return true
}

// isPlan reports whether a path is a text right in a folder for plans, in exactly that spelling.
func isPlan(parts []string) bool {
	return len(parts) == 3 && (parts[0] == ".lathe" || parts[0] == ".opencode") && parts[1] == "plans" && strings.HasSuffix(parts[2], ".md")
}

func split(path string) []string {
	return strings.FieldsFunc(filepath.Clean(path), func(r rune) bool { return r == '/' || r == filepath.Separator })
}

// same reports whether some file system takes one name for the other: in other letters, with
// characters that are not seen, with dots or spaces at the end, as a stream, or as its short form.
func same(have, want string) bool {
	have = strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) { // HFS+ does not see them
			return -1
		}
		return r
	}, have)
	have, _, _ = strings.Cut(have, ":")
	have = strings.TrimRight(have, ". ")
	if start, ok := strings.CutSuffix(want, "*"); ok {
		return len(have) >= len(start) && strings.EqualFold(have[:len(start)], start) || isShort(have, start)
	}
	return strings.EqualFold(have, want) || isShort(have, want)
}

// isShort reports whether a name may be the short one that FAT and NTFS give to a long one: GIT~1
// for .git, LATHE~1.JSO for lathe.jsonc.
func isShort(have, want string) bool {
	base, number, ok := strings.Cut(have, "~")
	number, _, _ = strings.Cut(number, ".")
	if !ok || base == "" || number == "" || strings.Trim(number, "0123456789") != "" {
		return false
	}
	want = strings.TrimLeft(want, ".")
	want, _, _ = strings.Cut(want, ".")
	return strings.EqualFold(base, want[:min(len(want), 6)])
}
