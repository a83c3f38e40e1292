package bash

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lathe-agent/lathe/internal/gitobj"
	"github.com/lathe-agent/lathe/tool"
	sh "github.com/lathe-agent/lathe/tool/shell"
	"github.com/lathe-agent/lathe/tool/target"
	"github.com/lathe-agent/lathe/workspace"
)

// consult adds what the text of a line does not tell, but the files of the project do: that git
// would obey another repository than the project's, and that wildcards stand for options.
func (s *scanned) consult(c *tool.Call) {
	for _, dir := range s.plan.Repositories {
		if found := foreignRepository(dir, c); found != "" {
			s.doubt("git "+target.Relative(target.RealDir(c.Dir), found), "git uses the config of the repository in "+found+", which can run programs")
		}
	}
	writers := 0
	for _, command := range s.plan.Commands {
		if !onlyReads(command) {
			writers++
		}
	}
	for _, d := range s.plan.DashGlobs {
		if writers > 1 || matchesDash(d) { // a command before it could make such a file
			s.doubt(d.Key+" <unknown>", d.Text+" can stand for a file whose name is an option")
		}
	}
}

// doubt is something in a line that is not known to be harmless.
func (s *scanned) doubt(text, why string) {
	s.Patterns = target.AppendUnique(s.Patterns, "<option> "+text)
	s.unknown = append(s.unknown, sh.Unknown{Text: text, Why: why})
	s.line.Complete = false
}

// matchesDash reports whether a file that begins with a dash is among those that a word stands for.
func matchesDash(d sh.DashGlob) bool {
	entries, err := os.ReadDir(d.Dir)
	if err != nil {
		return !os.IsNotExist(err)
	}
	first, _, _ := strings.Cut(d.Pattern, "/")
	return slices.ContainsFunc(entries, func(e os.DirEntry) bool {
		ok, err := filepath.Match(first, e.Name())
		return strings.HasPrefix(e.Name(), "-") && (ok || err != nil)
	})
}

// foreignRepository finds the repository that git uses in a directory, if it is another than
// that of the project and could run programs. "" means none.
func foreignRepository(dir string, c *tool.Call) string {
	root := c.Root
	if root == "" || filepath.Dir(root) == root {
		root = c.Dir
	}
	for at := filepath.Clean(dir); workspace.Inside(root, at); at = filepath.Dir(at) {
		if info, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			if at != root && !isHarmlessRepository(filepath.Join(at, ".git"), info, root) {
				return at
			}
			return ""
		}
		if looksBare(at) {
			return at
		}
		if at == filepath.Dir(at) {
			break
		}
	}
	return ""
}

// looksBare reports whether a directory is laid out as a repository, which git takes it for.
func looksBare(dir string) bool {
	for _, name := range []string{"HEAD", "objects", "refs"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			return false
		}
	}
	return true
}

// isHarmlessRepository reports whether a repository inside of the project has nothing that runs: a
// submodule, whose settings are among the project's own, or one with only the settings that git
// init and git clone write.
func isHarmlessRepository(git string, info os.FileInfo, root string) bool {
	if info.Mode().IsRegular() {
		text, err := os.ReadFile(git)
		to, ok := strings.CutPrefix(strings.TrimSpace(string(text)), "gitdir: ")
		if err != nil || !ok {
			return false
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(git), to)
		}
		return workspace.Inside(filepath.Join(root, ".git"), filepath.Clean(to))
	}
	if !info.IsDir() {
		return false
	}
	for _, name := range []string{"commondir", "config.worktree", "info/attributes"} {
		if target.Exists(filepath.Join(git, name)) {
			return false
		}
	}
	hooks, _ := os.ReadDir(filepath.Join(git, "hooks"))
	if slices.ContainsFunc(hooks, func(e os.DirEntry) bool { return !strings.HasSuffix(e.Name(), ".sample") }) {
		return false
	}
	text, err := os.ReadFile(filepath.Join(git, "config"))
	return err == nil && hasPlainSettings(text)
}

// hasPlainSettings knows the settings that git writes itself. Anything else counts as one that
// runs something.
func hasPlainSettings(text []byte) bool {
	const known = " core.repositoryformatversion core.filemode core.bare core.logallrefupdates core.ignorecase core.precomposeunicode core.symlinks" +
		" user.name user.email remote.url remote.fetch branch.remote branch.merge branch.rebase extensions.objectformat submodule.url submodule.active submodule.branch "
	lines, err := gitobj.ConfigLines(text)
	return err == nil && !slices.ContainsFunc(lines, func(l gitobj.ConfigLine) bool {
		section, _, _ := strings.Cut(l.Key, ".")
		name := section + l.Key[strings.LastIndexByte(l.Key, '.'):]
		return !l.Header && (!strings.Contains(known, " "+name+" ") || strings.Contains(l.Value, "::"))
	})
}

// readTargets are the files in the project whose contents a line is known to read, as rules for the
// permission read have them.
func readTargets(c *tool.Call, paths []sh.Path) (out []string) {
	budget := maxGlobbed
	for _, p := range paths {
		if !p.Reads {
			continue
		}
		names := []string{p.Name}
		if p.Glob {
			_, names = globbed(p.Name, &budget)
		}
		for _, name := range names {
			t, err := target.Locate(c, name)
			if err != nil || !t.Inside || t.Info == nil || t.IsDir() {
				continue
			}
			for _, rel := range t.Patterns() {
				out = target.AppendUnique(out, rel)
			}
		}
	}
	return out
}

// maxFollowed is how many names are looked at for links that lead out of the project.
const maxFollowed = 200_000

// linksOut are the directories outside of the project that a command reaches by following links.
// Where there are more names than are looked at, it is the directory that was searched.
func linksOut(c *tool.Call, list []sh.Path) (out []string) {
	budget := maxFollowed
	for _, p := range list {
		if p.Glob {
			continue
		}
		t, err := target.Locate(c, p.Name)
		if err != nil || !t.Inside || !t.IsDir() {
			continue // files and what lies outside are asked about by name
		}
		if !walkLinks(t.Path, &budget, func(link string) {
			to, err := target.Locate(c, link)
			if err != nil || to.Inside || to.Info == nil || isSystem(to.Path) {
				return
			}
			d := to.Path
			if !to.IsDir() {
				d = filepath.Dir(d)
			}
			out = target.AppendUnique(out, d)
		}) {
			out = target.AppendUnique(out, t.Path)
		}
	}
	return out
}

// walkLinks calls for every link in a tree; false says that there was too much to look at.
func walkLinks(dir string, budget *int, found func(link string)) bool {
	entries, _ := os.ReadDir(dir) // an unreadable folder cannot be followed either
	for _, e := range entries {
		if *budget--; *budget < 0 {
			return false
		}
		name := filepath.Join(dir, e.Name())
		switch {
		case e.Type()&os.ModeSymlink != 0:
			found(name)
		case e.IsDir():
			if !walkLinks(name, budget, found) {
				return false
			}
		}
	}
	return true
}

// isSystem knows directories of programs, which hold nothing of the user's. Tools keep links to them
// in projects, as virtual environments do.
func isSystem(path string) bool {
	return slices.ContainsFunc([]string{"/usr", "/bin", "/lib", "/lib64", "/nix/store", "/opt/homebrew"}, func(dir string) bool { return workspace.Inside(dir, path) })
}
