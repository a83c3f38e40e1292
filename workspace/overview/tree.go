package overview

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lathe-agent/lathe/workspace"
	"github.com/lathe-agent/lathe/workspace/search"
)

// tree lists two levels of names: the directories first, each with what lies in it, as far as the
// limit allows; of the rest only how many there are.
func tree(ctx context.Context, dir, excludesFile string) []string {
	rules := search.NewGitRules(dir, excludesFile)
	if top, _, _, ok := workspace.GitDirs(dir); ok {
		rules = rulesAt(top, dir, excludesFile)
	}
	l := &lister{ctx: ctx}
	rules = rules.Enter(filepath.ToSlash(dir), string(readSome(filepath.Join(dir, search.GitIgnoreFile))))
	folders, files := l.list(dir, rules)
	if len(folders)+len(files) == 0 {
		return []string{"The directory is empty."}
	}
	// Every name of the first level has its place before any of the second.
	budget := max(0, maxNames-len(folders)-len(files))
	var lines []string
	for _, name := range folders[:min(len(folders), maxNames)] {
		line, used := l.folder(dir, name, rules, budget)
		lines, budget = append(lines, line), budget-used
	}
	if n := len(folders) - maxNames; n > 0 {
		lines = append(lines, fmt.Sprintf("and %d more directories", n))
	}
	return append(lines, l.files(files, maxNames-min(len(folders), maxNames))...)
}

// rulesAt gathers the ignore files from the top of a checkout down to a directory, without its own.
func rulesAt(top, dir, excludesFile string) *search.GitRules {
	rules := search.NewGitRules(top, excludesFile)
	rel, err := filepath.Rel(top, dir)
	if err != nil || rel == "." || !filepath.IsLocal(rel) {
		return rules
	}
	at := top
	for _, name := range strings.Split(rel, string(filepath.Separator)) {
		rules = rules.Enter(filepath.ToSlash(at), string(readSome(filepath.Join(at, search.GitIgnoreFile))))
		at = filepath.Join(at, name)
	}
	return rules
}

type lister struct{ ctx context.Context }

// list returns the names of a directory that are not ignored.
func (l *lister) list(dir string, rules *search.GitRules) (folders, files []string) {
	f, err := os.Open(dir)
	if err != nil || l.ctx.Err() != nil {
		return nil, nil
	}
	defer f.Close()
	entries, err := f.ReadDir(maxListed)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, nil
	}
	for _, e := range entries {
		name := e.Name()
		if name == ".git" || rules.Ignores(filepath.ToSlash(dir), name, e.IsDir()) || strings.ContainsAny(name, "\n\r") {
			continue
		}
		if e.IsDir() {
			folders = append(folders, name)
		} else if e.Type()&(fs.ModeType&^fs.ModeSymlink) == 0 {
			files = append(files, name)
		}
	}
	slices.Sort(folders)
	slices.Sort(files)
	return folders, files
}

// folder is one line: the name of a directory and what is in it.
func (l *lister) folder(dir, name string, rules *search.GitRules, budget int) (line string, used int) {
	path := filepath.Join(dir, name)
	rules = rules.Enter(filepath.ToSlash(path), string(readSome(filepath.Join(path, search.GitIgnoreFile))))
	folders, files := l.list(path, rules)
	all := make([]string, 0, len(folders)+len(files))
	for _, f := range folders {
		all = append(all, f+"/")
	}
	all = append(all, files...)
	const most = 8 // of one directory, so that the first does not take all
	used = min(len(all), budget, most)
	line = name + "/"
	switch rest := len(all) - used; {
	case used == 0 && rest > 0:
		line += fmt.Sprintf(" (%d)", rest)
	case rest > 0:
		line += " " + strings.Join(all[:used], " ") + fmt.Sprintf(" (and %d more)", rest)
	case used > 0:
		line += " " + strings.Join(all[:used], " ")
	}
	return line, used
}

// files is one line for the files at the top.
func (l *lister) files(names []string, budget int) []string {
	if len(names) == 0 {
		return nil
	}
	shown := names[:min(len(names), max(budget, 0))]
	if len(shown) == 0 {
		return []string{fmt.Sprintf("and %d files", len(names))}
	}
	line := strings.Join(shown, " ")
	if rest := len(names) - len(shown); rest > 0 {
		line += fmt.Sprintf(" (and %d more files)", rest)
	}
	return []string{line}
}
