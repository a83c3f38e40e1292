package server

import (
	"cmp"
	"path"
	"slices"
	"strconv"
	"strings"
)

// number1 parses a whole number from 1 to most, and returns 0 otherwise.
func number1(text string, most int) int {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > most {
		return 0
	}
	return n
}

// candidates are the paths that a search by name chooses from: files, the folders that hold them,
// or both. An empty query shows folders, unless files are wanted.
func candidates(files []string, kind string, empty bool) []string {
	if kind == "file" {
		return files
	}
	var dirs []string
	seen := map[string]bool{}
	for _, f := range files {
		for dir := path.Dir(f); dir != "." && !seen[dir]; dir = path.Dir(dir) {
			seen[dir] = true
			dirs = append(dirs, dir+"/")
		}
	}
	slices.Sort(dirs)
	if kind == "directory" || empty && len(dirs) > 0 {
		return dirs
	}
	return append(dirs, files...)
}

// ranked is a path with its score.
type ranked struct {
	path  string
	score int
}

// rank returns the paths that match a query, best first. Without a query hidden ones come last.
func rank(query string, paths []string, limit int) []string {
	words := strings.ToLower(strings.TrimSpace(filepathSlash(query)))
	var all []ranked
	for _, p := range paths {
		score, ok := score(words, strings.ToLower(p))
		if !ok {
			continue
		}
		if isHidden(p) && !strings.HasPrefix(words, ".") && !strings.Contains(words, "/.") {
			score -= 200
		}
		all = append(all, ranked{p, score})
	}
	slices.SortFunc(all, func(a, b ranked) int {
		if words == "" {
			return cmp.Or(b.score-a.score, cmp.Compare(a.path, b.path))
		}
		return cmp.Or(b.score-a.score, len(a.path)-len(b.path), cmp.Compare(a.path, b.path))
	})
	all = all[:min(len(all), limit)]
	out := make([]string, 0, len(all))
	for _, r := range all {
		out = append(out, r.path)
	}
	return out
}

// filepathSlash accepts Windows paths.
func filepathSlash(s string) string { return strings.ReplaceAll(s, `\`, "/") }

func isHidden(p string) bool { return p[0] == '.' || strings.Contains(p, "/.") }

// score scores a path against a query, both in lower case: the whole name, its beginning, a
// part of it, a part of the path, and last its letters in sequence with others between them.
func score(words, p string) (score int, ok bool) {
	if words == "" {
		return 0, true
	}
	plain := strings.TrimSuffix(p, "/")
	name := plain[strings.LastIndexByte(plain, '/')+1:]
	stem, _, _ := strings.Cut(name, ".")
	switch i := strings.Index(name, words); {
	case name == words || plain == strings.TrimSuffix(words, "/"):
		return 1000, true
	case stem == words:
		return 950, true
	case i == 0:
		return 850, true
	case i > 0 && isBorder(name, i):
		return 750, true
	case i > 0:
		return 650, true
	}
	if i := strings.Index(p, words); i >= 0 {
		if i == 0 || isBorder(p, i) {
			return 600, true
		}
		return 500, true
	}
	return scoreLetters(strings.ReplaceAll(words, " ", ""), p)
}

// scoreLetters finds letters in sequence, from the end, where names are.
func scoreLetters(words, p string) (score int, ok bool) {
	at, last := len(words)-1, len(p)
	for i := len(p) - 1; i >= 0 && at >= 0; i-- {
		if p[i] != words[at] {
			continue
		}
		if i == last-1 {
			score += 10
		}
		if i == 0 || isBorder(p, i) {
			score += 15
		}
		last = i
		at--
	}
	return min(score, 400), at < 0
}

// isBorder reports whether a word begins at a place after the first.
func isBorder(p string, i int) bool { return strings.IndexByte("/._- ", p[i-1]) >= 0 }
