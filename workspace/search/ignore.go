package search

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// The files that hold rules, the strongest first. What git ignores counts only in a repository.
const (
	ripgrepFile = ".rgignore"
	plainFile   = ".ignore"
	gitFile     = ".gitignore"
	gitDir      = ".git"
)

// maxRules is how many bytes of an ignore file are read.
const maxRules = 4 << 20

// level is one ignore file and those above it.
type level struct {
	up    *level
	start int // where the path below its directory begins in an absolute path
	rules *rules
}

func (l *level) push(dir string, rs *rules) *level {
	if rs == nil {
		return l
	}
	start := len(dir) + 1
	if strings.HasSuffix(dir, "/") { // the root of a volume
		start--
	}
	return &level{up: l, start: start, rules: rs}
}

// match judges the entry of a directory at a path. The path of the entry is put together only for
// rules that look at it.
func (l *level) match(at, name string, dir bool, path *string) verdict {
	for ; l != nil; l = l.up {
		below := ""
		if l.rules.paths {
			if *path == "" {
				*path = joinPath(at, name)
			}
			below = (*path)[l.start:]
		}
		if v := l.rules.match(below, name, dir); v != unnamed {
			return v
		}
	}
	return unnamed
}

// ignores is all that is known about ignored paths in one directory. It does not change: a
// directory below gets its own, which shares what stays the same.
type ignores struct {
	ripgrep, plain, git, exclude, user *level
	everywhere                         *rules // of the user, for each repository
	repository                         bool
}

// match judges an entry of the directory, which is at an absolute path, with slashes.
func (g *ignores) match(at, name string, dir bool) verdict {
	path := ""
	for _, l := range [...]*level{g.ripgrep, g.plain, g.git, g.exclude, g.user} {
		if l == nil {
			continue
		}
		if v := l.match(at, name, dir, &path); v != unnamed {
			return v
		}
	}
	return unnamed
}

// enter returns what holds in a directory that has the named special files. Read returns the text
// of one of them.
func (g *ignores) enter(dir string, has special, read func(name string) string) *ignores {
	if has == 0 {
		return g
	}
	in := *g
	if has&hasGit != 0 { // its own repository: what git ignores further up does not reach in
		in.repository, in.git = true, nil
		in.exclude = (*level)(nil).push(dir, parseRules(excludes(dir)))
		in.user = (*level)(nil).push(dir, in.everywhere)
	}
	if has&hasRipgrep != 0 {
		in.ripgrep = in.ripgrep.push(dir, parseRules(read(ripgrepFile)))
	}
	if has&hasPlain != 0 {
		in.plain = in.plain.push(dir, parseRules(read(plainFile)))
	}
	if has&hasIgnore != 0 && in.repository {
		in.git = in.git.push(dir, parseRules(read(gitFile)))
	}
	return &in
}

// special says which of the files that matter to ignoring a directory has.
type special uint8

const (
	hasRipgrep special = 1 << iota
	hasPlain
	hasIgnore
	hasGit
)

func specialName(name string) special {
	if len(name) < len(gitDir) || name[0] != '.' {
		return 0
	}
	switch name {
	case ripgrepFile:
		return hasRipgrep
	case plainFile:
		return hasPlain
	case gitFile:
		return hasIgnore
	case gitDir:
		return hasGit
	}
	return 0
}

// above reads the rules of all directories above dir, an absolute path with slashes. Everywhere
// holds in each repository.
func above(dir string, everywhere *rules) *ignores {
	var parents []string
	for at := filepath.FromSlash(dir); ; {
		up := filepath.Dir(at)
		if up == at {
			break
		}
		parents = append(parents, up)
		at = up
	}
	g := &ignores{everywhere: everywhere}
	for i := len(parents) - 1; i >= 0; i-- {
		at := parents[i]
		var has special
		for _, name := range [...]string{ripgrepFile, plainFile, gitFile, gitDir} {
			if _, err := os.Lstat(filepath.Join(at, name)); err == nil {
				has |= specialName(name)
			}
		}
		g = g.enter(filepath.ToSlash(at), has, func(name string) string { return readRules(filepath.Join(at, name)) })
	}
	return g
}

// excludes returns the text of the exclude file of the repository at dir, which may be a work tree
// whose repository is elsewhere.
func excludes(dir string) string {
	git := filepath.Join(filepath.FromSlash(dir), gitDir)
	info, err := os.Lstat(git)
	if err != nil {
		return ""
	}
	if !info.IsDir() {
		if git = linked(dir, readRules(git), "gitdir:"); git == "" {
			return ""
		}
		if common := linked(git, readRules(filepath.Join(git, "commondir")), ""); common != "" {
			git = common
		}
	}
	return readRules(filepath.Join(git, "info", "exclude"))
}

// userRules reads the file of what a person ignores everywhere. It is theirs: a symlink is followed.
func userRules(path string) *rules {
	if path == "" {
		return nil
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil
	}
	return parseRules(readRules(real))
}

// linked is the path that a one-line file in dir names after a mark.
func linked(dir, text, mark string) string {
	line, _, _ := strings.Cut(text, "\n")
	line, ok := strings.CutPrefix(line, mark)
	line = strings.TrimSpace(line)
	if !ok || line == "" {
		return ""
	}
	if !filepath.IsAbs(line) {
		line = filepath.Join(filepath.FromSlash(dir), line)
	}
	return line
}

// readRules reads an ignore file by its path. One that cannot be read or is no regular file has
// no rules: so it can hide no other file.
func readRules(path string) string {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return ""
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return ""
	}
	defer f.Close()
	return limited(f)
}

func limited(r io.Reader) string {
	text, err := io.ReadAll(io.LimitReader(r, maxRules))
	if err != nil && !errors.Is(err, fs.ErrClosed) {
		return ""
	}
	return string(text)
}

// GitRules are git's ignore rules for one directory, without the files that only search tools
// read. It does not change: a directory below gets its own.
type GitRules struct{ all ignores }

// NewGitRules returns the rules at the top of a work tree before its own ignore file is read:
// the rules of info/exclude if there is a repository. Without one, ignore files count all the
// same. Root is absolute and real. ExcludesFile is the file of what a person ignores in all
// repositories, "" for none.
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

// Ignores reports whether an entry of the directory is ignored.
func (g *GitRules) Ignores(at, name string, dir bool) bool {
	return g.all.match(at, name, dir) == ignored
}

// GitIgnoreFile is the name of the files that [GitRules.Enter] takes.
const GitIgnoreFile = gitFile
