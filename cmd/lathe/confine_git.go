package main

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/lathe-agent/lathe/internal/gitobj"
	"github.com/lathe-agent/lathe/sandbox"
)

// How much is looked at for repositories inside of others, at each start of a command: enough for
// what people have, and less than a millisecond.
const (
	mostModules = 100 // repositories of submodules, and linked work trees
	mostListed  = 24  // folders that are listed, the shallow ones first
	mostNames   = 250 // folders in them
)

// protectGit keeps commands from what git runs: hooks, and settings, which name programs, of the
// repository and of those inside of it. Where there is none yet, they make none: git of the user
// would obey it. Nothing can stand in for it, since programs take what has that name for one.
func protectGit(p *sandbox.Profile, root string) {
	dot := filepath.Join(root, ".git")
	info, err := os.Lstat(dot)
	switch {
	case err != nil:
		p.Watch = append(p.Watch, dot)
	case !info.IsDir():
		p.Protect = append(p.Protect, dot)
		if own, common, ok := linkedTree(dot); ok { // where a commit of a linked work tree goes
			p.Write = append(p.Write, common)
			protectRepository(p, common, root, own)
		}
	default:
		protectRepository(p, dot, root, "")
	}
	for _, inner := range nested(root) {
		if info, err := os.Lstat(inner); err == nil && info.IsDir() {
			protectFolder(p, inner, filepath.Dir(inner))
		} else {
			p.Protect = append(p.Protect, inner)
		}
	}
}

// protectRepository protects a repository with its linked work trees and submodules. Own is the
// folder of the work tree in it, if that is a linked one.
func protectRepository(p *sandbox.Profile, dir, work, own string) {
	worktrees := protectFolder(p, dir, work)
	if own != "" { // there may be more than are looked at
		protectLinked(p, own, worktrees)
	}
	entries, _ := os.ReadDir(filepath.Join(dir, "worktrees")) // there may be none
	for _, e := range entries[:min(len(entries), mostModules)] {
		own := filepath.Join(dir, "worktrees", e.Name())
		protectLinked(p, own, worktrees)
		if dot := gitLine(filepath.Join(own, "gitdir")); filepath.IsAbs(dot) {
			p.Protect = append(p.Protect, filepath.Clean(dot))
		}
	}
	for _, module := range modules(filepath.Join(dir, "modules")) {
		config, err := gitobj.ReadConfig(filepath.Join(module, "config"))
		tree := config.Last("core.worktree")
		if err != nil || tree == "" {
			protectFolder(p, module, module)
			continue
		}
		if !filepath.IsAbs(tree) {
			tree = filepath.Join(module, tree)
		}
		p.Protect = append(p.Protect, filepath.Join(tree, ".git"))
		protectFolder(p, module, tree)
	}
}

// protectLinked protects the folder that a repository has for a linked work tree.
func protectLinked(p *sandbox.Profile, own string, worktrees *[]string) {
	p.Protect = append(p.Protect, namesIn(own, "commondir", "gitdir")...)
	*worktrees = append(*worktrees, filepath.Join(own, "config.worktree"))
}

// protectFolder protects what one folder of git says that is run, and the files that it names for
// that: folders of hooks, and further settings. It returns where settings of work trees belong:
// those, and attributes, do nothing by themselves, so it is enough that their names are watched
// unless the settings say that they count.
func protectFolder(p *sandbox.Profile, dir, work string) (worktrees *[]string) {
	p.Protect = append(p.Protect, filepath.Join(dir, "hooks"))
	p.Files = append(p.Files, filepath.Join(dir, "config"))
	p.Watch = append(p.Watch, namesIn(dir, "commondir", "info/attributes")...)
	config, _ := gitobj.ReadConfig(filepath.Join(dir, "config")) // what cannot be read says nothing, to git either
	own, _ := gitobj.ReadConfig(filepath.Join(dir, "config.worktree"))
	worktrees = &p.Watch
	if on := config.Last("extensions.worktreeconfig"); on != "" && on != "false" {
		worktrees = &p.Files
	}
	*worktrees = append(*worktrees, filepath.Join(dir, "config.worktree"))
	for _, c := range []gitobj.Config{config, own} {
		if hooks := c.Last("core.hookspath"); hooks != "" {
			protectHooks(p, placeIn(work, hooks), work)
		}
		for _, path := range c.Includes() {
			p.Files = append(p.Files, placeIn(dir, path))
		}
	}
	return worktrees
}

// protectHooks protects a folder of hooks. Of one with the whole project in it the names of hooks are
// watched.
func protectHooks(p *sandbox.Profile, dir, work string) {
	if rel, err := filepath.Rel(dir, work); err != nil || rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		p.Watch = append(p.Watch, namesIn(dir, "applypatch-msg", "pre-applypatch", "post-applypatch", "pre-commit", "pre-merge-commit", "prepare-commit-msg",
			"commit-msg", "post-commit", "pre-rebase", "post-checkout", "post-merge", "pre-push", "pre-auto-gc", "post-rewrite", "post-index-change",
			"reference-transaction", "fsmonitor-watchman")...)
		return
	}
	p.Protect = append(p.Protect, dir)
}

// placeIn is a path of git's settings, which may be relative to a folder; "" is one that lies
// elsewhere, in the user's folder or in that of git.
func placeIn(dir, path string) string {
	switch {
	case strings.HasPrefix(path, "~") || strings.HasPrefix(path, "%("):
		return ""
	case filepath.IsAbs(path):
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}

// modules finds the repositories of submodules, whose names may have slashes.
func modules(top string) (out []string) {
	looked := 0
	for next := []string{top}; len(next) > 0; next = next[1:] {
		entries, _ := os.ReadDir(next[0]) // there may be none
		for _, e := range entries {
			if looked++; looked > mostNames || len(out) == mostModules {
				return out
			}
			dir := filepath.Join(next[0], e.Name())
			switch _, err := os.Lstat(filepath.Join(dir, "HEAD")); {
			case !e.IsDir():
			case err == nil:
				out = append(out, dir)
				next = append(next, filepath.Join(dir, "modules"))
			default:
				next = append(next, dir)
			}
		}
	}
	return out
}

// nested finds the .git of repositories inside of a folder, as far as [mostListed] lets it look.
func nested(root string) (out []string) {
	names := 0
	next := []string{root}
	for listed := 0; listed < len(next) && listed < mostListed; listed++ {
		f, err := os.Open(next[listed])
		if err != nil {
			continue
		}
		entries, _ := f.ReadDir(mostNames) // what was read of it is better than nothing
		_ = f.Close()
		for _, e := range entries {
			if !e.IsDir() || e.Name() == ".git" || e.Name() == "node_modules" {
				continue
			}
			if names++; names > mostNames {
				return out
			}
			dir := filepath.Join(next[listed], e.Name())
			if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
				out = append(out, filepath.Join(dir, ".git"))
			}
			next = append(next, dir)
		}
	}
	return out
}

// gitLine reads a file of git that is one line; "" is that it is none.
func gitLine(path string) string {
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

// linkedTree finds the folder of a linked work tree and that of its repository. A .git that names a
// folder which does not name it back could be anyone's, and opens nothing.
func linkedTree(dot string) (own, common string, ok bool) {
	own, isLink := strings.CutPrefix(gitLine(dot), "gitdir: ")
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
	back, common := gitLine(filepath.Join(own, "gitdir")), gitLine(filepath.Join(own, "commondir"))
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
