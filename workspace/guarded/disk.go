package guarded

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lathe-agent/lathe/internal/gitobj"
	"github.com/lathe-agent/lathe/workspace"
)

// onDisk finds files that are guarded because of other files: another name leads to it, it is
// part of a repository under any name, or git is configured to run it.
func onDisk(path, home string) (why string, ok bool) {
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		if why, ok := linked(dir, path); ok {
			return why, true
		}
		if inRepository(dir, path) {
			return whyLayout, true
		}
		if why, ok := named(dir, path, home); ok {
			return why, true
		}
		if dir == filepath.Dir(dir) {
			return "", false
		}
	}
}

// linked reports whether a guarded name in a folder is a symlink that leads to a path, or above it.
func linked(dir, path string) (why string, ok bool) {
	leads := func(link string) bool {
		info, err := os.Lstat(link)
		if err != nil || info.Mode()&os.ModeSymlink == 0 {
			return false
		}
		real, err := filepath.EvalSymlinks(link)
		return err == nil && workspace.Inside(real, path)
	}
	for _, n := range names() {
		for i := range n.parts { // .vscode may be the link, or a file in it
			if leads(filepath.Join(append([]string{dir}, n.parts[:i+1]...)...)) {
				return n.why, true
			}
		}
	}
	for _, n := range repositoryNames {
		if leads(filepath.Join(dir, ".git", n)) {
			return whyGit, true
		}
	}
	return "", false
}

// repositoryNames are those in the folder of a repository that git obeys, or by which it knows one.
var repositoryNames = []string{
	"config", "config.worktree", "hooks", "info", "commondir", "objects", "refs", "modules", "worktrees", "rebase-merge", "rebase-apply", "sequencer",
}

// inRepository reports whether a path is part of a repository that lies right in a folder, without
// the name .git, or would make one of it. Git takes each folder with HEAD, objects and refs for
// one, so nothing writes a HEAD unasked.
func inRepository(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	if err != nil {
		return false
	}
	first, _, _ := strings.Cut(filepath.ToSlash(rel), "/")
	if rel == "HEAD" || strings.EqualFold(rel, "HEAD") && exists(filepath.Join(dir, "objects")) {
		return true
	}
	known := func(n string) bool { return strings.EqualFold(n, first) }
	return slices.ContainsFunc(repositoryNames, known) && isHead(filepath.Join(dir, "HEAD"))
}

// isHead reports whether git accepts a file as the HEAD of a repository.
func isHead(path string) bool {
	if to, err := os.Readlink(path); err == nil {
		return strings.HasPrefix(filepath.ToSlash(to), "refs/")
	}
	data, err := gitobj.ReadFile(path, 8<<10)
	if err != nil {
		return false
	}
	text := strings.TrimSpace(string(data))
	_, err = gitobj.ParseID(text)
	return err == nil || strings.HasPrefix(text, "ref:")
}

// named reports whether the settings of a repository say that git runs a path or reads it: folders
// of hooks, and further settings.
func named(dir, path, home string) (why string, ok bool) {
	if !exists(filepath.Join(dir, ".git")) {
		return "", false
	}
	own, common, ok := workspace.Place{VCS: "git", Sandbox: dir}.GitDirs()
	if !ok {
		return "", false
	}
	files := []string{filepath.Join(common, "config"), filepath.Join(own, "config.worktree")}
	if home != "" {
		files = append(files, filepath.Join(home, ".gitconfig"), filepath.Join(home, ".config", "git", "config"))
	}
	for _, file := range files {
		config, err := gitobj.ReadConfig(file)
		if err != nil {
			continue // git does not get far with it either
		}
		if hooks := ExpandPath(dir, home, config.Last("core.hookspath")); hooks != "" && runsAsHook(hooks, dir, path) {
			return whyHooks, true
		}
		for _, name := range config.Includes(true) {
			if at := ExpandPath(filepath.Dir(file), home, name); at != "" && real(at) == path {
				return whyIncluded, true
			}
		}
	}
	return "", false
}

// runsAsHook reports whether a path is a hook. A folder of hooks with the whole project in it has
// hooks only by their names.
func runsAsHook(hooks, project, path string) bool {
	if hooks = real(hooks); workspace.Inside(hooks, project) {
		return filepath.Dir(path) == hooks && slices.Contains(HookNames(), filepath.Base(path))
	}
	return workspace.Inside(hooks, path)
}

// HookNames are the files that git runs in a folder of hooks.
func HookNames() []string {
	return []string{
		"applypatch-msg", "pre-applypatch", "post-applypatch", "pre-commit", "pre-merge-commit", "prepare-commit-msg", "commit-msg", "post-commit", "pre-rebase",
		"post-checkout", "post-merge", "pre-push", "pre-auto-gc", "post-rewrite", "post-index-change", "reference-transaction", "fsmonitor-watchman",
	}
}

// ExpandPath is a path of git's settings, which may be relative to a folder or to the user's;
// "" means none, or one that lies elsewhere, as in the folder of git.
func ExpandPath(dir, home, path string) string {
	switch rest, ofHome := strings.CutPrefix(path, "~/"); {
	case path == "" || strings.HasPrefix(path, "%("):
		return ""
	case ofHome && home != "":
		return filepath.Join(home, rest)
	case strings.HasPrefix(path, "~"):
		return ""
	case filepath.IsAbs(path):
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}

// real is a path without symlinks as far as it is there.
func real(path string) string {
	if f, err := workspace.Resolve("/", path); err == nil {
		return f.Path
	}
	return path
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
