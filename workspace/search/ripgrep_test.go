package search

import (
	"bytes"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/lathe-agent/lathe/internal/gittest"
)

// ripgrep returns a function that runs it in a directory, without user settings.
func ripgrep(t testing.TB) func(dir string, args ...string) string {
	t.Helper()
	program, err := exec.LookPath("rg")
	if err != nil {
		t.Skip("ripgrep is not installed; it is the oracle of this test")
	}
	return func(dir string, args ...string) string {
		cmd := exec.Command(program, append([]string{"--no-config", "--no-ignore-global", "--color=never"}, args...)...)
		cmd.Dir = dir
		var out, complaint bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &complaint
		if err := cmd.Run(); err != nil && (cmd.ProcessState.ExitCode() != 1 || complaint.Len() > 0) { // 1: nothing found
			return "ripgrep failed: " + complaint.String()
		}
		return out.String()
	}
}

// rgFiles returns the files ripgrep sees, sorted as ours are.
func rgFiles(rg func(string, ...string) string, root string, args ...string) []string {
	out := strings.Split(rg(root, append([]string{"--files", "--null"}, args...)...), "\x00")
	out = out[:len(out)-1]
	slices.SortFunc(out, comparePaths)
	return out
}

func mustPattern(t testing.TB, glob string) *Pattern {
	t.Helper()
	p, err := ParsePattern(glob)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func globPaths(t testing.TB, q Query, glob string) []string {
	t.Helper()
	found, err := Glob(t.Context(), q, mustPattern(t, glob))
	if err != nil {
		t.Fatal(err)
	}
	return found.Paths
}

// grepped returns what was found as ripgrep prints it: a path and the number of a line.
func grepped(t testing.TB, q Query, re *Regexp, include *Pattern) []string {
	t.Helper()
	found, err := Grep(t.Context(), q, re, include)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, f := range found.Files {
		for _, l := range f.Lines {
			out = append(out, fmt.Sprintf("%s:%d:%s", f.Path, l.Number, l.Text))
		}
	}
	if len(out) != found.Total {
		t.Fatalf("%d lines of %d", len(out), found.Total)
	}
	return out
}

// rgLines is the same by ripgrep. The order of files is the same as ours.
func rgLines(rg func(string, ...string) string, root, expr string, args ...string) []string {
	args = append(args, "--hidden", "--glob=!.git", "--crlf", "--line-number", "--no-heading", "--null", "--sort=path", "-e", expr, ".")
	out := rg(root, args...)
	if strings.HasPrefix(out, "ripgrep failed") {
		return []string{out}
	}
	var lines []string
	for line := range strings.Lines(out) {
		path, rest, _ := strings.Cut(line, "\x00")
		lines = append(lines, strings.TrimPrefix(path, "./")+":"+strings.TrimRight(rest, "\r\n"))
	}
	slices.SortStableFunc(lines, func(a, b string) int { return comparePaths(pathOf(a), pathOf(b)) })
	return lines
}

func pathOf(line string) string {
	path, _, _ := strings.Cut(line, ":")
	return path
}

// drawTree makes a tree with ignore files at all levels, in and out of repositories.
func drawTree(t *rapid.T, tb testing.TB) string {
	root := gittest.RealTemp(tb)
	name := rapid.SampledFrom([]string{"a.go", "b.go", "a.md", "x.log", "y.log", ".env", ".hidden.go", "Makefile", "f", "foo.test.js", "out", "bin", "a-b_c", "ä.txt", "sp ace"})
	dir := rapid.SampledFrom([]string{"", "src", "src/deep/er", "build", "build/x", ".cfg", "node_modules/m", "src/node_modules", "vendor/v", "out", "src/out/y", "nested/repo", "nested/repo/src"})
	piece := rapid.SampledFrom([]string{"foo", "bar", "Foo", " ", "\t", "x = 1", "err", "(", ")", "\n", "\n", "\r\n", "42", "baz;", "//"})
	for range rapid.IntRange(3, 25).Draw(t, "files") {
		path := joinPath(dir.Draw(t, "dir"), name.Draw(t, "name"))
		text := strings.Join(rapid.SliceOfN(piece, 0, 15).Draw(t, "text"), "")
		if rapid.IntRange(0, 9).Draw(t, "binary") == 0 {
			text = "\x00" + text
		}
		if safe(root, path) {
			write(tb, root, path, text)
		}
	}
	rule := rapid.SampledFrom([]string{"*.log", "!x.log", "build/", "/out", "out/", "**/deep", "node_modules", "!.env", ".*", "src/*.go", "/src/**/out", "*", "!*.go", "!src", "f", "[ab].go", "vendor/**", "# c", "", "!.hidden.go", "a-?_c"})
	for range rapid.IntRange(0, 5).Draw(t, "ignore files") {
		path := joinPath(dir.Draw(t, "dir"), rapid.SampledFrom([]string{".gitignore", ".gitignore", ".ignore", ".rgignore", ".git/info/exclude"}).Draw(t, "ignore file"))
		if safe(root, path) {
			write(tb, root, path, strings.Join(rapid.SliceOfN(rule, 0, 4).Draw(t, "rules"), "\n"))
		}
	}
	for _, repo := range []string{"", "nested/repo", "vendor/v"} {
		if rapid.Bool().Draw(t, "repository "+repo) {
			write(tb, root, joinPath(repo, ".git/HEAD"), "ref: refs/heads/main\n")
		}
	}
	return root
}

// safe reports whether no part of a path is a file or a directory where the other is wanted.
func safe(root, path string) bool {
	full := filepath.Join(root, path)
	if kindAt(full) == directory {
		return false
	}
	for at := filepath.Dir(full); len(at) > len(root); at = filepath.Dir(at) {
		if kindAt(at) == file {
			return false
		}
	}
	return true
}

func TestGrep_LikeRipgrep(t *testing.T) {
	rg := ripgrep(t)
	exprs := rapid.SampledFrom([]string{"foo", "FOO", "foo|bar", "fo+", "^foo", "bar$", "^$", "x\\s*=\\s*[0-9]+", "[a-z]+\\(", "\\bfoo\\b", "f.o", ".", "baz;|//", "(foo)?bar", "\\t", "[^a-z]42", "^.{3,6}$", "o{2}"})
	globs := rapid.SampledFrom([]string{"", "", "*.go", "src/**", "*.{go,md}", "!*.go", "**/a.*", "Make*"})
	found := 0
	rapid.Check(t, func(rt *rapid.T) {
		root := drawTree(rt, t)
		expr, glob := exprs.Draw(rt, "expr"), globs.Draw(rt, "include")
		fold := Fold(rapid.Bool().Draw(rt, "fold"))
		var args []string
		if fold {
			args = append(args, "-i")
		}
		want := rgLines(rg, root, expr, args...)
		var include *Pattern
		if glob != "" {
			include = mustPattern(t, glob)
			// With a glob ripgrep also takes what is ignored; ours takes what both allow.
			all := rgLines(rg, root, expr, append(args, "--no-ignore", "--glob="+glob)...)
			want = slices.DeleteFunc(want, func(l string) bool { return !slices.Contains(all, l) })
		}
		got := grepped(t, Query{Root: root, Hidden: true, Workers: rapid.IntRange(1, 4).Draw(rt, "workers")}, mustRegexp(t, expr, fold), include)
		found += len(got)
		if diff := cmp.Diff(want, got); diff != "" && len(want)+len(got) > 0 {
			rt.Fatalf("-ripgrep +ours:\n%s", diff)
		}
	})
	if found == 0 {
		t.Fatal("nothing was found at all")
	}
}

func TestGlob_LikeRipgrep(t *testing.T) {
	rg := ripgrep(t)
	globs := rapid.SampledFrom([]string{"*", "**", "**/*", "*.go", "**/*.go", "src/*.go", "src/**", "src/**/*.go", "/src/*", "/*.md", "*.{go,md}", "{src,build}/**", "**/out", "**/out/**", "out", "src/deep/er/a.go", "[ab].*", "[!a].go", "?.go", "a-b_c", "sp*", "./src/*.go", "*/*/*", "**/src/*", "src/**/er/*", "*.test.*", "M[a-m]kefile", "ä.*", "nope/**", "*a*"})
	found := 0
	rapid.Check(t, func(rt *rapid.T) {
		root := drawTree(rt, t)
		glob := globs.Draw(rt, "glob")
		matching := rgFiles(rg, root, "--no-ignore", "--hidden", "--glob="+strings.TrimPrefix(glob, "./"), "--glob=!.git")
		want := slices.DeleteFunc(rgFiles(rg, root, "--glob=!.git"), func(p string) bool { return !slices.Contains(matching, p) })
		got := globPaths(t, Query{Root: root}, glob)
		found += len(got)
		if diff := cmp.Diff(want, got); diff != "" && len(want)+len(got) > 0 {
			rt.Fatalf("-ripgrep +ours:\n%s", diff)
		}
	})
	if found == 0 {
		t.Fatal("nothing was found at all")
	}
}

// linePlaces leaves the text out, which ours cuts where a line is very long.
func linePlaces(lines []string) []string {
	for i, l := range lines {
		parts := strings.SplitN(l, ":", 3)
		lines[i] = strings.Join(parts[:2], ":")
	}
	return lines
}

// The tree of this repository changes under the hands of people, so that a difference counts only
// when our own answer stayed the same around ripgrep's.
func TestSearch_ThisRepositoryLikeRipgrep(t *testing.T) {
	rg := ripgrep(t)
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	if root, err = filepath.EvalSymlinks(root); err != nil {
		t.Fatal(err)
	}
	stable := func(t *testing.T, ours, theirs func() []string) {
		for range 5 {
			before, want, after := ours(), theirs(), ours()
			if !slices.Equal(before, after) {
				continue
			}
			if diff := cmp.Diff(want, after); diff != "" || len(want) == 0 {
				t.Fatalf("-ripgrep +ours:\n%s", diff)
			}
			return
		}
		t.Skip("the tree changes all the time")
	}
	t.Run("files", func(t *testing.T) {
		stable(t, func() []string { return globPaths(t, Query{Root: root, Hidden: true}, "**") },
			func() []string { return rgFiles(rg, root, "--hidden", "--glob=!.git") })
	})
	for _, expr := range []string{`func (\(\w+ \*?\w+\) )?[A-Z]\w*\(`, `context\.Context`, `TODO|FIXME|XXX`, `err != nil \{$`, `^\s*//`, `"[^"]{60,}"`, `[0-9]{4}-[0-9]{2}`, `\bany\b`} {
		for _, fold := range []Fold{false, FoldCase} {
			t.Run(fmt.Sprintf("%s fold=%t", expr, fold), func(t *testing.T) {
				var args []string
				if fold {
					args = append(args, "-i")
				}
				ours := func() []string {
					return linePlaces(grepped(t, Query{Root: root, Hidden: true}, mustRegexp(t, expr, fold), nil))
				}
				stable(t, ours, func() []string { return linePlaces(rgLines(rg, root, expr, args...)) })
			})
		}
	}
}
