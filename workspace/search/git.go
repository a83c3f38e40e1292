package search

import (
	"os"
	"path/filepath"
)

// GitRules is what git ignores in one directory, without the files that only search tools read. It does
// not change: a directory below gets its own.
type GitRules struct{ all ignores }

// NewGitRules is what holds at the top of a work tree before its own ignore file is read: the rules of
// info/exclude if there is a repository. Without one, ignore files count all the same. Root is absolute
// and real. ExcludesFile is the file of what a person ignores in all repositories, "" for none.
func NewGitRules(root, excludesFile string) *GitRules {
	g := &GitRules{ignores{repository: true}}
	root = filepath.ToSlash(root)
	if _, err := os.Lstat(filepath.Join(filepath.FromSlash(root), gitDir)); err == nil {
		g.all.user = (*level)(nil).push(root, userRules(excludesFile))
	}
	g.all.exclude = (*level)(nil).push(root, parseRules(excludes(root)))
	return g
}

// Enter adds the text of the ignore file in a directory, whose absolute path has slashes.
func (g *GitRules) Enter(dir, text string) *GitRules {
	in := *g
	in.all.git = in.all.git.push(dir, parseRules(text))
	return &in
}

// Ignores judges an entry of the directory at a path.
func (g *GitRules) Ignores(at, name string, dir bool) bool {
	return g.all.match(at, name, dir) == ignored
}

// GitIgnoreFile is the name of the files that [GitRules.Enter] takes.
const GitIgnoreFile = gitFile
