package confine

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/lathe-agent/lathe/internal/gitobj"
	"github.com/lathe-agent/lathe/sandbox"
	"github.com/lathe-agent/lathe/workspace/gitguard"
	"github.com/lathe-agent/lathe/workspace/guarded"
)

// gitFiles collects what a profile must say about the repositories of a project.
type gitFiles struct {
	p *sandbox.Profile
	// configs are the configuration files that a command may get a copy of.
	configs []string
}

// protectGit protects hooks and config files, which can make git run programs, of the repository and of repositories
// inside of it. Files that a command newly creates are checked when it has ended.
func protectGit(p *sandbox.Profile, root string, inside []string) (configs []string) {
	g := &gitFiles{p: p}
	place, dot := placeOfGit(root), filepath.Join(root, ".git")
	if info, err := os.Lstat(dot); err == nil && !info.IsDir() {
		p.Protect = append(p.Protect, dot)
	}
	if place.Common != "" {
		if place.Own != place.Common { // where a commit of a linked work tree goes
			p.Write = append(p.Write, place.Common)
		}
		g.repository(place, root)
	}
	for _, inner := range inside {
		switch info, err := os.Lstat(inner); {
		case err != nil:
		case info.IsDir():
			g.folder(inner, filepath.Dir(inner))
		default:
			p.Protect = append(p.Protect, inner)
		}
	}
	return g.configs
}

// placeOfGit is where the repository of a project lies. A .git that names a folder which does not
// name it back could be anyone's, and opens nothing.
func placeOfGit(root string) gitguard.RepoDirs {
	dot := filepath.Join(root, ".git")
	info, err := os.Lstat(dot)
	switch {
	case err != nil:
	case info.IsDir():
		return gitguard.RepoDirs{Own: dot, Common: dot}
	default:
		if own, common, ok := linkedTree(dot); ok {
			return gitguard.RepoDirs{Own: own, Common: common}
		}
	}
	return gitguard.RepoDirs{}
}

// repository protects a repository with its linked work trees and submodules.
func (g *gitFiles) repository(place gitguard.RepoDirs, work string) {
	g.folder(place.Common, work)
	if place.Own != place.Common { // there may be more than are looked at
		g.addLinked(place.Own)
	}
	entries, _ := os.ReadDir(filepath.Join(place.Common, "worktrees")) // there may be none
	for _, e := range entries[:min(len(entries), gitguard.MaxProtected)] {
		own := filepath.Join(place.Common, "worktrees", e.Name())
		g.addLinked(own)
		if dot := gitguard.ReadLine(filepath.Join(own, "gitdir")); filepath.IsAbs(dot) {
			g.p.Protect = append(g.p.Protect, filepath.Clean(dot))
		}
	}
	for _, module := range gitguard.Modules(filepath.Join(place.Common, "modules")) {
		config, err := gitobj.ReadConfig(filepath.Join(module, "config"))
		tree := config.Last("core.worktree")
		if err != nil || tree == "" {
			g.folder(module, module)
			continue
		}
		if !filepath.IsAbs(tree) {
			tree = filepath.Join(module, tree)
		}
		g.p.Protect = append(g.p.Protect, filepath.Join(tree, ".git"))
		g.folder(module, tree)
	}
}

// addLinked protects the folder that a repository has for a linked work tree.
func (g *gitFiles) addLinked(own string) {
	g.p.Protect = append(g.p.Protect, namesIn(own, "commondir", "gitdir")...)
	g.p.Files = append(g.p.Files, filepath.Join(own, "config.worktree"))
}

// sameFolder is what stands in for a missing commondir: git takes everything from the folder that
// it is in, as it does without. One that is empty it cannot read.
const sameFolder = ".\n"

// folder protects what one folder of git says that is run, and the files that it names for that:
// folders of hooks, and further settings.
func (g *gitFiles) folder(dir, work string) {
	p := g.p
	p.Protect = append(p.Protect, filepath.Join(dir, "hooks"))
	p.Files = append(p.Files, namesIn(dir, "config", "config.worktree", "commondir")...)
	if p.Texts == nil {
		p.Texts = map[string]string{}
	}
	p.Texts[filepath.Join(dir, "commondir")] = sameFolder
	if info, err := os.Lstat(filepath.Join(dir, "info")); err == nil && info.IsDir() {
		p.Files = append(p.Files, filepath.Join(dir, "info", "attributes"))
	} else {
		p.Protect = append(p.Protect, filepath.Join(dir, "info"))
	}
	g.configs = append(g.configs, filepath.Join(dir, "config"))
	config, _ := gitobj.ReadConfig(filepath.Join(dir, "config")) // an unreadable file is empty to git too
	own, _ := gitobj.ReadConfig(filepath.Join(dir, "config.worktree"))
	for _, c := range []gitobj.Config{config, own} {
		if hooks := guarded.ExpandPath(work, "", c.Last("core.hookspath")); hooks != "" {
			protectHooks(p, hooks, work)
		}
		for _, path := range c.Includes(true) {
			if path = guarded.ExpandPath(dir, "", path); path != "" {
				p.Files = append(p.Files, path)
			}
		}
	}
}

// protectHooks protects a folder of hooks. Of one with the whole project in it the names of hooks are
// watched.
func protectHooks(p *sandbox.Profile, dir, work string) {
	if rel, err := filepath.Rel(dir, work); err != nil || rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		p.Watch = append(p.Watch, namesIn(dir, guarded.HookNames()...)...)
		return
	}
	p.Protect = append(p.Protect, dir)
}

// linkedTree finds the folder of a linked work tree and that of its repository. A .git that names a
// folder which does not name it back could be anyone's, and opens nothing.
func linkedTree(dot string) (own, common string, ok bool) {
	own, isLink := strings.CutPrefix(gitguard.ReadLine(dot), "gitdir: ")
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
	back, common := gitguard.ReadLine(filepath.Join(own, "gitdir")), gitguard.ReadLine(filepath.Join(own, "commondir"))
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
