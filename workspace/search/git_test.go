package search

import (
	"os"
	"path/filepath"
	"testing"
)

// Of all ignore files only git's count, below a repository or not.
func TestGitRules(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(root, ".git", "info"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, ".git", "info", "exclude"), []byte("*.local\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	at := filepath.ToSlash(root)
	top := NewGitRules(root, "")
	in := top.Enter(at, "*.o\n/sub/only\nbuild/\n")
	below := in.Enter(at+"/sub", "!keep.o\n")
	for _, c := range []struct {
		rules   *GitRules
		at      string
		name    string
		dir     bool
		ignored bool
	}{
		{top, at, "a.local", false, true},
		{top, at, "a.o", false, false},
		{in, at, "a.o", false, true},
		{in, at, "a.local", false, true},
		{in, at, "build", true, true},
		{in, at, "build", false, false},
		{below, at + "/sub", "only", false, true},
		{below, at + "/sub", "keep.o", false, false},
		{below, at + "/sub", "x.o", false, true},
	} {
		if got := c.rules.Ignores(c.at, c.name, c.dir); got != c.ignored {
			t.Errorf("%s/%s (directory %v): ignored %v", c.at, c.name, c.dir, got)
		}
	}
	if NewGitRules(t.TempDir(), "").Ignores(at, "a.local", false) {
		t.Error("rules of another repository")
	}
}
