package guarded

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/lathe-agent/lathe/workspace"
)

// List holds the guarded names of a machine. The zero List guards the names of every project.
// Paths are absolute and real.
type List struct {
	Home   string   // the user's folder: names with a dot in it are guarded
	Config string   // the user's folder for settings
	Own    []string // folders of this program
	// Unguarded are folders below those that are written unasked, Plans one of which the texts (*.md) are.
	Unguarded []string
	PlanDir   string
}

// Project is where a session works: its directory, and the top of its checkout or the root of the
// disk. Both are real paths.
type Project struct{ Dir, Root string }

// Check says why a file is guarded, in a few words for a person. It checks both names of the
// file: the requested one and its real path.
func (l List) Check(p Project, f workspace.File) (why string, ok bool) {
	path, name := p.below(f.Path), p.below(f.Name)
	linked := path != name
	for _, n := range []string{path, name} {
		if l.open(f.Path) && n == path {
			continue
		}
		if why, ok := nameOf(n, linked); ok {
			return why, true
		}
	}
	if l.open(f.Path) {
		return "", false
	}
	if why, ok := onDisk(f.Path, l.Home); ok {
		return why, true
	}
	return l.elsewhere(p, f.Path)
}

// below is the part of a path whose names are checked. What the project itself lies in was
// chosen by the user, such as .claude/worktrees/x, unless that is its own repository.
func (p Project) below(path string) string {
	base := p.Root
	if base == "" || filepath.Dir(base) == base || workspace.Inside(p.Dir, path) && exists(filepath.Join(p.Dir, ".git")) {
		base = p.Dir
	}
	if base == "" || !workspace.Inside(base, path) || hasGit(base) {
		return path
	}
	rel, err := filepath.Rel(base, path)
	if err != nil {
		return path
	}
	return rel
}

// elsewhere are the guarded files outside of projects: lathe's own, and config files of the
// user's programs.
func (l List) elsewhere(p Project, path string) (string, bool) {
	if slices.ContainsFunc(l.Own, func(dir string) bool { return dir != "" && workspace.Inside(dir, path) }) {
		return whyOwn, true
	}
	if l.Config != "" && slices.ContainsFunc(ConfigFolders(), func(n string) bool { return workspace.Inside(filepath.Join(l.Config, n), path) }) {
		return whyHome, true
	}
	rel, err := filepath.Rel(l.Home, path)
	if l.Home == "" || err != nil || !workspace.Inside(l.Home, path) {
		return "", false
	}
	project := workspace.Inside(p.Dir, path) || filepath.Dir(p.Root) != p.Root && workspace.Inside(p.Root, path)
	known := slices.ContainsFunc(append(HomeFolders(), HomeFiles()...), func(n string) bool { return workspace.Inside(filepath.FromSlash(n), rel) })
	if known || !project && strings.HasPrefix(rel, ".") {
		return whyHome, true
	}
	return "", false
}

// open reports whether a path lies in a folder that is written unasked.
func (l List) open(path string) bool {
	return slices.ContainsFunc(l.Unguarded, func(dir string) bool { return dir != "" && workspace.Inside(dir, path) }) ||
		l.PlanDir != "" && filepath.Dir(path) == l.PlanDir && strings.HasSuffix(path, ".md")
}
