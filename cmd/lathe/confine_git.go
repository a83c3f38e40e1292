package main

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/lathe-agent/lathe/sandbox"
)

// protectGit keeps commands from what git runs: hooks, and settings, which name programs. Where
// there is no repository yet, they make none: git of the user would obey it.
func protectGit(p *sandbox.Profile, root string) {
	dot := filepath.Join(root, ".git")
	info, err := os.Lstat(dot)
	switch {
	case err != nil || !info.IsDir():
		p.Protect = append(p.Protect, dot)
		if own, common, ok := linkedTree(dot); ok { // where a commit of a linked work tree goes
			p.Write = append(p.Write, common)
			p.Protect = append(p.Protect, namesIn(own, "commondir", "gitdir", "config.worktree")...)
			protectRepository(p, common)
		}
	default:
		protectRepository(p, dot)
	}
}

// protectRepository protects a repository with those below it.
func protectRepository(p *sandbox.Profile, dir string) {
	const most = 100
	p.Hold = append(p.Hold, filepath.Join(dir, "hooks"))
	p.Protect = append(p.Protect, namesIn(dir, "config", "config.worktree", "commondir")...)
	entries, _ := os.ReadDir(filepath.Join(dir, "worktrees")) // there may be none
	for _, e := range entries[:min(len(entries), most)] {
		p.Protect = append(p.Protect, namesIn(filepath.Join(dir, "worktrees", e.Name()), "commondir", "gitdir", "config.worktree")...)
	}
	modules, _ := filepath.Glob(filepath.Join(dir, "modules", "*", "config")) // a pattern that is right
	for _, config := range modules[:min(len(modules), most)] {
		module := filepath.Dir(config)
		p.Hold = append(p.Hold, filepath.Join(module, "hooks"))
		p.Protect = append(p.Protect, namesIn(module, "config", "config.worktree", "commondir")...)
	}
}

// linkedTree finds the folder of a linked work tree and that of its repository. A .git that names a
// folder which does not name it back could be anyone's, and opens nothing.
func linkedTree(dot string) (own, common string, ok bool) {
	line := func(path string) string {
		info, err := os.Lstat(path)
		if err != nil || !info.Mode().IsRegular() || info.Size() > 8<<10 {
			return ""
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return ""
		}
		return strings.TrimRight(string(b), "\r\n")
	}
	own, isLink := strings.CutPrefix(line(dot), "gitdir: ")
	if !isLink {
		return "", "", false
	}
	if !filepath.IsAbs(own) {
		own = filepath.Join(filepath.Dir(dot), own)
	}
	own, err := filepath.EvalSymlinks(own)
	if err != nil {
		return "", "", false
	}
	back, common := line(filepath.Join(own, "gitdir")), line(filepath.Join(own, "commondir"))
	if !filepath.IsAbs(back) {
		back = filepath.Join(own, back)
	}
	if !filepath.IsAbs(common) {
		common = filepath.Join(own, common)
	}
	same := func(a, b string) bool {
		x, err1 := os.Stat(a)
		y, err2 := os.Stat(b)
		return err1 == nil && err2 == nil && os.SameFile(x, y)
	}
	common, err = filepath.EvalSymlinks(common)
	ok = err == nil && same(back, dot) && filepath.Dir(own) == filepath.Join(common, "worktrees")
	return own, common, ok
}
