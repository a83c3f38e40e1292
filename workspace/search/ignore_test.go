package search

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/lathe-agent/lathe/internal/gittest"
)

// gitRepo makes a repository for git to judge, of which the user's own settings know nothing.
func gitRepo(t testing.TB) (dir string, git func(stdin string, args ...string) string) {
	t.Helper()
	program, err := exec.LookPath("git")
	if err != nil {
		t.Skip("git is not installed; it is the oracle of this test")
	}
	dir = gittest.RealTemp(t)
	git = func(stdin string, args ...string) string {
		cmd := exec.Command(program, args...)
		cmd.Dir = dir
		cmd.Env = []string{"HOME=" + dir, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + dir + "/none/gitconfig", "LC_ALL=C", "XDG_CONFIG_HOME=" + dir + "/none"}
		cmd.Stdin = strings.NewReader(stdin)
		var out, complaint bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &complaint
		if err := cmd.Run(); err != nil && cmd.ProcessState.ExitCode() != 1 { // 1: nothing is ignored
			panic(fmt.Sprintf("git %v: %v: %s", args, err, complaint.String()))
		}
		return out.String()
	}
	git("", "init", "-q")
	return dir, git
}

func write(t testing.TB, dir, name, text string) {
	t.Helper()
	full := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// judge says whether a path below root is ignored, as a walk comes to know it: from the top down.
func judge(root, path string) bool {
	rules, at := above(root, nil), root
	parts := strings.Split(path, "/")
	for i, name := range parts {
		var has special
		for _, s := range []string{ripgrepFile, plainFile, gitFile, gitDir} {
			if _, err := os.Lstat(at + "/" + s); err == nil {
				has |= specialName(s)
			}
		}
		here := at
		rules = rules.enter(at, has, func(n string) string { return readRules(here + "/" + n) })
		info, err := os.Lstat(at + "/" + name)
		dir := i < len(parts)-1 || err == nil && info.IsDir()
		if rules.match(at, name, dir) == ignored {
			return true
		}
		at += "/" + name
	}
	return false
}

// names that the patterns below have something to say about.
var ignoreNames = []string{
	"a", "b", "ab", "abc", "a b", "a ", "a\\", "!a", "#a", "a*", "a.o", "b.o", "x.log", "-", "]", "[a]", "A", "ä", "foo", "foobar", "bar", "d1", ".h", "a\xff", "a-b", "z",
}

func ignorePaths(t testing.TB, root string) []string {
	var paths []string
	for _, dir := range []string{"", "a", "foo", "foo/bar", "a/b", "a/foo/a", "x/y", "foobar/b"} {
		if dir != "" {
			paths = append(paths, dir)
		}
		for _, name := range ignoreNames {
			path := joinPath(dir, name)
			full := filepath.Join(root, path)
			if _, err := os.Lstat(full); err != nil {
				write(t, root, path, "")
			}
			paths = append(paths, path)
		}
	}
	for _, d := range []string{"d/a", "d/ab", "d/x.log", "e/b/a/c", "foo/d", "d/foo/bar/a"} { // directories
		if err := os.MkdirAll(filepath.Join(root, d), 0o755); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, d)
	}
	return paths
}

func makeDirs(t testing.TB, root string) {
	for _, dir := range []string{"a/foo/a", "foo/bar", "a/b", "x/y", "foobar/b"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
}

// drawRule draws a line of an ignore file out of pieces that matter to its grammar.
func drawRule(t *rapid.T) string {
	piece := rapid.SampledFrom([]string{
		"a", "b", "ab", "foo", "bar", "x", "y", "d", "o", "log", "*", "**", "***", "?", "/", "/", "/**/", "**/", "/**", "/*", "*/", ".", ".o",
		"[a-c]", "[!a]", "[^b]", "[]]", "[]-]", "[!]a]", "[a", "[", "]", "[[:alpha:]]", "[[:digit:]]", "[![:space:]]", "[[:nope:]]", "[[:alpha:]", "[[:a]", "[\\]]", "[a-\\z]", "[z-a]", "[-a]", "[a-]", "[a-b-z]", "[/]", "[*]", "[\\\\]", "[ä]", "[\xc3]",
		"\\", "\\a", "\\*", "\\[", "\\ ", "\\/", "\\\\", " ", "  ", "!", "#", "\t", "ä", "\xff", "-", "A", "\r",
	})
	return rapid.SampledFrom([]string{"", "", "", "!", "!", "/", "\\!", "#", "**/", " "}).Draw(t, "head") +
		strings.Join(rapid.SliceOfN(piece, 0, 6).Draw(t, "pieces"), "") +
		rapid.SampledFrom([]string{"", "", "", "/", "/", " ", "\\ ", "  ", "\\", "/**", "\r"}).Draw(t, "tail")
}

func TestIgnore_LikeGit(t *testing.T) {
	root, git := gitRepo(t)
	makeDirs(t, root)
	paths := ignorePaths(t, root)
	slices.Sort(paths)
	paths = slices.Compact(paths)
	stdin := strings.Join(paths, "\x00") + "\x00"
	cases, named := 0, 0
	lines := rapid.SliceOfN(rapid.Custom(drawRule), 0, 7)
	rapid.Check(t, func(rt *rapid.T) {
		for _, place := range []string{".gitignore", "a/.gitignore", "foo/bar/.gitignore", ".git/info/exclude"} {
			text := ""
			if rapid.IntRange(0, 2).Draw(rt, "has "+place) > 0 || place == ".gitignore" {
				text = strings.Join(lines.Draw(rt, place), "\n") + rapid.SampledFrom([]string{"", "\n"}).Draw(rt, "end")
			}
			write(t, root, place, text)
		}
		want := strings.Split(strings.TrimSuffix(git(stdin, "check-ignore", "--no-index", "-z", "--stdin"), "\x00"), "\x00")
		if want[0] == "" {
			want = want[1:]
		}
		var got []string
		for _, p := range paths {
			if judge(root, p) {
				got = append(got, p)
			}
		}
		cases++
		named += len(got)
		if diff := cmp.Diff(want, got, cmp.Transformer("quote", func(s []string) string { return fmt.Sprintf("%q", s) })); diff != "" {
			rt.Fatalf("ignored by git (-) and by us (+):\n%s", diff)
		}
	})
	t.Logf("%d sets of rules on %d paths; %d were ignored", cases, len(paths), named)
	if named == 0 {
		t.Fatal("the rules ignored nothing: the test shows nothing")
	}
}

// A linked work tree has its excludes in the repository it belongs to.
func TestIgnore_LinkedWorkTree(t *testing.T) {
	root, git := gitRepo(t)
	write(t, root, "a", "")
	git("", "add", "a")
	git("", "-c", "user.name=dev", "-c", "user.email=dev@localhost", "commit", "-q", "-m", "a")
	git("", "worktree", "add", "-q", "linked")
	write(t, root, ".git/info/exclude", "*.tmp\n")
	write(t, root, "linked/x.tmp", "")
	write(t, root, "linked/b", "")
	if got := globPaths(t, Query{Root: filepath.Join(root, "linked")}, "**"); !slices.Equal(got, []string{"a", "b"}) {
		t.Fatal(got)
	}
}

// What a user ignores everywhere holds in repositories, is the weakest of all rules, and is the same
// for git.
func TestIgnore_User(t *testing.T) {
	root, git := gitRepo(t)
	mine := filepath.Join(gittest.RealTemp(t), "mine")
	write(t, filepath.Dir(mine), "real", "*.swp\n/top\nkept\n")
	if err := os.Symlink("real", mine); err != nil { // as people keep their settings
		t.Skip("no symlinks here: ", err)
	}
	for _, name := range []string{"a.swp", "b", "top", "kept", "sub/c.swp", "sub/top"} {
		write(t, root, name, "x")
	}
	write(t, root, ".gitignore", "!kept\n")
	git("", "config", "core.excludesFile", mine)
	want := []string{".gitignore", "b", "kept", "sub/top"}
	q := Query{Root: root, Hidden: true, ExcludesFile: mine}
	if got := globPaths(t, q, "**"); !slices.Equal(got, want) {
		t.Error("found:", got)
	}
	others := strings.Fields(string(git("", "ls-files", "--others", "--exclude-standard")))
	if slices.Sort(others); !slices.Equal(others, want) {
		t.Error("git has:", others)
	}
	plain := gittest.RealTemp(t)
	write(t, plain, "a.swp", "x")
	if got := globPaths(t, Query{Root: plain, ExcludesFile: mine}, "**"); !slices.Equal(got, []string{"a.swp"}) {
		t.Error("without a repository:", got)
	}
	if got := NewGitRules(root, mine).Ignores(filepath.ToSlash(root), "a.swp", false); !got {
		t.Error("the rules of a listing do not ignore it")
	}
}

func TestIgnore_Precedence(t *testing.T) {
	root := gittest.RealTemp(t)
	for name, text := range map[string]string{
		".git/info/exclude": "e\n", ".gitignore": "g\n!e2\nx\n", ".ignore": "!g\ni\n", ".rgignore": "!i\nr\n", "e": "", "g": "", "i": "", "r": "", "x": "",
		"sub/.gitignore": "!x\n", "sub/x": "", "sub/r": "", "inner/.git/HEAD": "", "inner/x": "", "inner/r": "",
	} {
		write(t, root, name, text)
	}
	want := []string{"g", "i", "inner/x", "sub/x"} // a repository inside has its own git rules, but not its own others
	if got := globPaths(t, Query{Root: root}, "**"); !slices.Equal(got, want) {
		t.Fatal(got)
	}
	if got := globPaths(t, Query{Root: filepath.Join(root, "sub")}, "**"); !slices.Equal(got, []string{"x"}) {
		t.Fatal("from below:", got)
	}
	if got := globPaths(t, Query{Root: root, All: true}, "**"); len(got) != 9 {
		t.Fatal("with all:", got)
	}
}
