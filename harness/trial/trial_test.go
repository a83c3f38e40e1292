package trial

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/lathe-agent/lathe/eval"
	"github.com/lathe-agent/lathe/internal/gittest"
)

// tree makes files below a folder: "" is a folder, "> x" a link to x.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := gittest.RealTemp(t)
	for name, text := range files {
		at := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		err := error(nil)
		if target, ok := strings.CutPrefix(text, "> "); ok {
			err = os.Symlink(target, at)
		} else {
			err = os.WriteFile(at, []byte(text), 0o644)
		}
		if err != nil {
			t.Skip(err)
		}
	}
	return dir
}

// list reads all files below a folder, as tree takes them.
func list(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(at string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		name, _ := filepath.Rel(dir, at)
		if target, err := os.Readlink(at); err == nil {
			out[filepath.ToSlash(name)] = "> " + target
			return nil
		}
		data, err := os.ReadFile(at)
		out[filepath.ToSlash(name)] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func hold(t *testing.T, dir string, want map[string]string) {
	t.Helper()
	got := list(t, dir)
	for name, text := range want {
		if got[name] != text {
			t.Errorf("%s has %q, want %q", name, got[name], text)
		}
		delete(got, name)
	}
	if len(got) > 0 {
		t.Errorf("there is more: %v", got)
	}
}

func TestFill_Folder(t *testing.T) {
	t.Parallel()
	from := tree(t, map[string]string{
		"a.txt": "a", "sub/b.sh": "b", "sub/link": "> ../../outside", ".git/config": "x", "sub/.GIT/hooks/x": "x", ".gitignore": "*.log\n/build\n", "x.log": "l", "build/o": "o",
		"tests/t": "t", "sub/tests/t": "kept", "cases.results.jsonl": "r",
	})
	to := filepath.Join(t.TempDir(), "base")
	s := eval.Source{Folder: from, Exclude: []string{"tests"}}
	if err := fill(t.Context(), to, s, Reader{Skip: []string{filepath.Join(from, "cases.results.jsonl")}}); err != nil {
		t.Fatal(err)
	}
	hold(t, to, map[string]string{"a.txt": "a", "sub/b.sh": "b", "sub/link": "> ../../outside", ".gitignore": "*.log\n/build\n", "sub/tests/t": "kept"})
	forbidden := Reader{Forbidden: func(path string) bool { return path == filepath.Join(from, "sub") }}
	if err := fill(t.Context(), filepath.Join(t.TempDir(), "base"), s, forbidden); err == nil || !strings.Contains(err.Error(), "credentials") {
		t.Errorf("got %v", err)
	}
}

// A digest names what is copied, and nothing else.
func TestReader_Digest(t *testing.T) {
	t.Parallel()
	dir := tree(t, map[string]string{"a.txt": "a", "x.log": "l", ".gitignore": "*.log\n", "skip": "s"})
	r := Reader{Skip: []string{filepath.Join(dir, "skip")}}
	sum := func(ignore bool) string {
		t.Helper()
		s, err := r.Digest(t.Context(), dir, nil, ignore)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	before, all := sum(true), sum(false)
	write("x.log", "other")
	write("skip", "other")
	if sum(true) != before || sum(false) == all {
		t.Error("an ignored file counts, or does not count without ignore")
	}
	write("a.txt", "b")
	if sum(true) == before {
		t.Error("a changed file does not count")
	}
	if s, err := r.Digest(t.Context(), filepath.Join(dir, "a.txt"), nil, false); err != nil || len(s) != 64 {
		t.Errorf("a file: %q, %v", s, err)
	}
}

// The files of a commit are written without git, whatever hooks and filters the repository has.
func TestFill_Commit(t *testing.T) {
	t.Parallel()
	g := gittest.New(t)
	repo := tree(t, map[string]string{"a.txt": "one\n", "sub/run.sh": "#!/bin/sh\n", "link": "> a.txt"})
	g.Run(repo, "init", "-q", "-b", "main")
	if err := os.Chmod(filepath.Join(repo, "sub", "run.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
	g.Run(repo, "add", "-A")
	g.Run(repo, "commit", "-q", "-m", "one")
	g.Run(repo, "tag", "-a", "-m", "v1", "v1")
	first := strings.TrimSpace(g.Run(repo, "rev-parse", "HEAD"))
	if err := os.WriteFile(filepath.Join(repo, "a.txt"), []byte("two\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	g.Run(repo, "commit", "-q", "-a", "-m", "two")
	bare := filepath.Join(t.TempDir(), "bare.git")
	g.Run(repo, "clone", "-q", "--bare", repo, bare)
	one := map[string]string{"a.txt": "one\n", "sub/run.sh": "#!/bin/sh\n", "link": "> a.txt"}
	two := map[string]string{"a.txt": "two\n", "sub/run.sh": "#!/bin/sh\n", "link": "> a.txt"}
	for _, c := range []struct {
		repo, commit string
		want         map[string]string
	}{{repo, first, one}, {repo, "v1", one}, {repo, "main", two}, {repo, "HEAD", two}, {bare, "v1", one}, {bare, first, one}} {
		to := filepath.Join(t.TempDir(), "base")
		if err := fill(t.Context(), to, eval.Source{Repo: c.repo, Commit: c.commit}, Reader{}); err != nil {
			t.Errorf("%s: %v", c.commit, err)
			continue
		}
		hold(t, to, c.want)
		if info, err := os.Stat(filepath.Join(to, "sub", "run.sh")); err != nil || runtime.GOOS != "windows" && info.Mode()&0o100 == 0 {
			t.Errorf("%s: the script cannot run: %v", c.commit, err)
		}
	}
	for _, commit := range []string{"nothing", strings.Repeat("0", 40), "../main", ""} {
		if err := fill(t.Context(), filepath.Join(t.TempDir(), "base"), eval.Source{Repo: repo, Commit: commit}, Reader{}); err == nil {
			t.Errorf("commit %q: no error", commit)
		}
	}
}

const patchText = "--- a/deep/t.txt\n+++ b/deep/t.txt\n@@ -1 +1 @@\n-one\n+two\n--- a/gone.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-gone\n--- /dev/null\n+++ b/new/x.txt\n@@ -0,0 +1 @@\n+x\n"

// The files of a check replace what an agent left, wherever it put files and links in their way.
func TestOverlay(t *testing.T) {
	t.Parallel()
	hidden := tree(t, map[string]string{"tests/t.sh": "t", "tests/sub/u.sh": "u", "run.sh": "r"})
	check := eval.Check{Patch: patchText, Files: []string{filepath.Join(hidden, "tests"), filepath.Join(hidden, "run.sh")}}
	outside := tree(t, map[string]string{"victim.txt": "v", "t.txt": "one\n"})
	for name, agent := range map[string]map[string]string{
		"nothing": {},
		"edits":   {"deep/t.txt": "mine", "gone.txt": "still here", "tests/t.sh": "exit 0", "tests/conftest.py": "planted", "run.sh": "exit 0"},
		"links":   {"deep": "> " + outside, "tests": "> " + outside, "run.sh": "> " + filepath.Join(outside, "victim.txt"), "new": "> ..", "gone.txt": "> " + outside},
		"files":   {"deep": "a file", "tests": "a file", "new": "a file"},
		"folders": {"deep/t.txt/x": "x", "run.sh/x": "x", "new/x.txt/y": "y"},
	} {
		dir := tree(t, map[string]string{"deep/t.txt": "one\n", "gone.txt": "gone\n", "a.txt": "a"})
		o, err := ReadOverlay(dir, check)
		if err != nil {
			t.Fatal(err)
		}
		for path := range agent {
			top, _, _ := strings.Cut(path, "/")
			if err := os.RemoveAll(filepath.Join(dir, top)); err != nil {
				t.Fatal(err)
			}
		}
		for path, text := range agent {
			at := filepath.Join(dir, filepath.FromSlash(path))
			if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
				t.Fatal(err)
			}
			if target, ok := strings.CutPrefix(text, "> "); ok {
				err = os.Symlink(target, at)
			} else {
				err = os.WriteFile(at, []byte(text), 0o644)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := o.Write(t.Context(), dir, Reader{}); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		hold(t, dir, map[string]string{"deep/t.txt": "two\n", "a.txt": "a", "new/x.txt": "x\n", "tests/t.sh": "t", "tests/sub/u.sh": "u", "run.sh": "r"})
		if paths := o.Paths(dir); len(paths) != 5 || !slices.Contains(paths, filepath.Join(dir, "tests")) {
			t.Errorf("%s: %v", name, paths)
		}
	}
	hold(t, outside, map[string]string{"victim.txt": "v", "t.txt": "one\n"})
}

// A patch reads nothing through a link that leads out of the project.
func TestReadOverlay_Link(t *testing.T) {
	t.Parallel()
	outside := tree(t, map[string]string{"t.txt": "one\n"})
	dir := tree(t, map[string]string{"deep": "> " + outside, "gone.txt": "gone\n"})
	if _, err := ReadOverlay(dir, eval.Check{Patch: patchText}); err == nil {
		t.Error("it was read")
	}
	if _, err := ReadOverlay(tree(t, map[string]string{"deep/t.txt": "other\n", "gone.txt": "gone\n"}), eval.Check{Patch: patchText}); err == nil || !strings.Contains(err.Error(), "does not fit deep/t.txt") {
		t.Errorf("got %v", err)
	}
}
