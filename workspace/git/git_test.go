package git_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/workspace"
	"github.com/lathe-agent/lathe/workspace/git"
)

// checkout is a real repository.
type checkout struct {
	testing.TB
	dir string
	git *git.Git
	env []string
}

// begin makes an empty repository on the branch main. Without git the test is skipped.
func begin(t testing.TB) *checkout {
	t.Helper()
	program, err := exec.LookPath("git")
	if err != nil {
		t.Skip("git is not installed")
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	c := &checkout{TB: t, dir: dir, env: []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=dev", "GIT_AUTHOR_EMAIL=dev@example.com", "GIT_COMMITTER_NAME=dev", "GIT_COMMITTER_EMAIL=dev@example.com",
	}}
	c.git = git.New(git.Options{Program: program, Env: append(c.env, "GIT_DIR=/nowhere")})
	c.run("init", "--quiet", "-b", "main")
	return c
}

// run runs git as its user would.
func (c *checkout) run(args ...string) string {
	c.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = c.dir, c.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		c.Fatalf("git %v: %v: %s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func (c *checkout) write(name, text string) {
	c.Helper()
	path := filepath.Join(c.dir, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
		c.Fatal(err)
	}
}

func (c *checkout) commit() {
	c.Helper()
	c.run("add", "-A")
	c.run("commit", "--quiet", "-m", "x")
}

// at is the place of a directory below the top.
func (c *checkout) at(below string) workspace.Place {
	c.Helper()
	at, err := workspace.Locate(context.Background(), filepath.Join(c.dir, below), nil)
	if err != nil {
		c.Fatal(err)
	}
	return at
}

func (c *checkout) diff(below string, a git.DiffOptions) []lathe.FileDiff {
	c.Helper()
	all, err := c.git.Diff(context.Background(), c.at(below), a)
	if err != nil {
		c.Fatal(err)
	}
	return all
}

// names lists files with their status and counts.
func names(all []lathe.FileDiff) (out []string) {
	for _, d := range all {
		out = append(out, strings.Join([]string{d.Status, d.File, strings.Repeat("+", d.Additions) + strings.Repeat("-", d.Deletions)}, " "))
	}
	return out
}

func same(t *testing.T, got, want []string) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestDiff(t *testing.T) {
	c := begin(t)
	c.write("staged first", "1\n")
	same(t, names(c.diff("", git.DiffOptions{})), []string{"added staged first +"}) // before the first commit
	c.write(".gitignore", "ignored\n")
	c.write("gone", "a\nb\n")
	c.write("kept", "a\n")
	c.write("sub/ä\"\n\tx", "a\n")
	c.write("bin", "a\x00b")
	c.commit()
	c.write("ignored", "x")
	c.write("kept", "a\nb") // no newline at the end
	c.write("sub/ä\"\n\tx", "b\n")
	c.write("sub/new \"file", "1\n2\n")
	c.write("bin", "a\x00c")
	if err := errors.Join(os.Remove(filepath.Join(c.dir, "gone")), os.Symlink("/etc/passwd", filepath.Join(c.dir, "link"))); err != nil {
		t.Fatal(err)
	}
	all := c.diff("", git.DiffOptions{Context: 1})
	same(t, names(all), []string{
		"modified bin ", "deleted gone --", "modified kept +", "added link +", "added sub/new \"file ++", "modified sub/ä\"\n\tx +-",
	})
}

// All of it, as one patch, makes a clean checkout the same as this one.
func TestPatch_AppliesElsewhere(t *testing.T) {
	c := begin(t)
	c.write("a", "1\n2\n3\n")
	c.write("gone", "x\n")
	c.commit()
	other := *c
	other.dir = filepath.Join(t.TempDir(), "clone")
	c.run("clone", "--quiet", c.dir, other.dir)
	c.write("a", "1\n2\nthree")
	c.write("new/ö file", "new\n")
	c.write("empty", "")
	if err := os.Remove(filepath.Join(c.dir, "gone")); err != nil {
		t.Fatal(err)
	}
	patch, err := c.git.Patch(context.Background(), c.at(""))
	if err != nil {
		t.Fatal(err)
	}
	if err := c.git.Apply(context.Background(), other.at(""), string(patch)); err != nil {
		t.Fatalf("%v\n%s", err, patch)
	}
	if got, err := os.ReadFile(filepath.Join(other.dir, "a")); err != nil || string(got) != "1\n2\nthree" {
		t.Errorf("%q, %v", got, err)
	}
	same(t, names(other.diff("", git.DiffOptions{})), names(c.diff("", git.DiffOptions{})))
	if err := c.git.Apply(context.Background(), other.at(""), string(patch)); !errors.Is(err, git.ErrNotClean) {
		t.Errorf("a second time: %v", err)
	}
}

func TestDiff_OfADirectoryAndAFile(t *testing.T) {
	c := begin(t)
	c.write("a/x", "1\n")
	c.write("b/x", "1\n")
	c.commit()
	c.write("a/x", "2\n")
	c.write("b/x", "2\n")
	c.write("b/y", "2\n")
	same(t, names(c.diff("b", git.DiffOptions{})), []string{"modified b/x +-", "added b/y +"})
	same(t, names(c.diff("b", git.DiffOptions{File: "b/x"})), []string{"modified b/x +-"})
	if d := c.diff("b", git.DiffOptions{NoPatch: true}); d[0].Patch != "" || d[1].Patch != "" {
		t.Errorf("%+v", d)
	}
}

func TestDiff_Context(t *testing.T) {
	c := begin(t)
	c.write("a", "1\n2\n3\n4\n5\n6\n7\n8\n9\n")
	c.commit()
	c.write("a", "1\n2\n3\n4\nfive\n6\n7\n8\n9\n")
	for n, want := range map[int]int{0: 0, 1: 2, 3: 6, 1 << 40: 8} {
		patch := c.diff("", git.DiffOptions{Context: n})[0].Patch
		if got := strings.Count(patch, "\n "); got != want {
			t.Errorf("context %d: %d lines\n%s", n, got, patch)
		}
	}
}

// A file that was only touched has not changed, and the index of the user is not written.
func TestDiff_Touched(t *testing.T) {
	c := begin(t)
	c.write("a", "1\n")
	c.commit()
	index := filepath.Join(c.dir, ".git", "index")
	before, err := os.ReadFile(index)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(c.dir, "a")); err != nil {
		t.Fatal(err)
	}
	c.write("a", "1\n")
	same(t, names(c.diff("", git.DiffOptions{})), nil)
	if after, err := os.ReadFile(index); err != nil || string(after) != string(before) {
		t.Errorf("the index was written, or %v", err)
	}
}

func TestBranches(t *testing.T) {
	c := begin(t)
	if b, d := git.Branch(c.at("")), git.DefaultBranch(t.Context(), c.at("")); b != "main" || d != "" {
		t.Errorf("before the first commit: %q, %q", b, d)
	}
	c.write("a", "1\n")
	c.commit()
	c.run("checkout", "--quiet", "-b", "work/one")
	c.write("b", "1\n")
	c.commit()
	c.write("c", "1\n")
	if b, d := git.Branch(c.at("")), git.DefaultBranch(t.Context(), c.at("")); b != "work/one" || d != "main" {
		t.Errorf("%q, %q", b, d)
	}
	same(t, names(c.diff("", git.DiffOptions{Mode: git.SinceBranch})), []string{"added b +", "added c +"})
	same(t, names(c.diff("", git.DiffOptions{Mode: git.Uncommitted})), []string{"added c +"})
	c.run("checkout", "--quiet", "main")
	same(t, names(c.diff("", git.DiffOptions{Mode: git.SinceBranch})), nil)
	c.run("checkout", "--quiet", "--detach")
	if b := git.Branch(c.at("")); b != "" {
		t.Errorf("at a commit: %q", b)
	}
}

// What the remote says counts before names that are usual.
func TestDefaultBranch_OfTheRemote(t *testing.T) {
	c := begin(t)
	c.write("a", "1\n")
	c.commit()
	c.run("branch", "trunk")
	c.run("update-ref", "refs/remotes/origin/trunk", "HEAD")
	c.run("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/trunk")
	if d := git.DefaultBranch(t.Context(), c.at("")); d != "trunk" {
		t.Errorf("%q", d)
	}
}

func TestLinkedWorktree(t *testing.T) {
	c := begin(t)
	c.write("a", "1\n")
	c.commit()
	linked := *c
	linked.dir = filepath.Join(filepath.Dir(c.dir), filepath.Base(c.dir)+"-linked")
	c.run("worktree", "add", "--quiet", "-b", "side", linked.dir)
	t.Cleanup(func() { _ = os.RemoveAll(linked.dir) })
	linked.write("a", "2\n")
	same(t, names(linked.diff("", git.DiffOptions{})), []string{"modified a +-"})
	same(t, names(c.diff("", git.DiffOptions{})), nil)
	if b := git.Branch(linked.at("")); b != "side" {
		t.Errorf("%q", b)
	}
}

func TestOutsideGit(t *testing.T) {
	c := begin(t)
	c.dir = t.TempDir()
	c.write("a", "1\n")
	same(t, names(c.diff("", git.DiffOptions{})), nil)
	if b, d := git.Branch(c.at("")), git.DefaultBranch(t.Context(), c.at("")); b != "" || d != "" {
		t.Errorf("%q, %q", b, d)
	}
	if err := c.git.Apply(t.Context(), c.at(""), "x"); !errors.Is(err, git.ErrNoGit) {
		t.Error(err)
	}
	if err := c.git.Init(t.Context(), c.dir); err != nil || c.at("").VCS != "git" {
		t.Errorf("%v, %+v", err, c.at(""))
	}
	same(t, names(c.diff("", git.DiffOptions{})), []string{"added a +"})
}

func TestNoProgram(t *testing.T) {
	c := begin(t)
	c.write("a", "1\n")
	_, err := git.New(git.Options{}).Diff(t.Context(), c.at(""), git.DiffOptions{})
	if lathe.CodeOf(err) != lathe.Unavailable || !strings.Contains(err.Error(), "install") {
		t.Error(err)
	}
}

// Patches that lead out of the checkout, through a symlink or into the repository change nothing.
func TestApply_StaysInside(t *testing.T) {
	c := begin(t)
	c.write("a", "1\n")
	c.commit()
	outside := t.TempDir()
	if err := os.Symlink(outside, filepath.Join(c.dir, "link")); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"../x", "sub/../../x", "link/x", ".git/hooks/pre-commit", ".git/config2", filepath.Join(outside, "x")} {
		patch := "diff --git a/" + path + " b/" + path + "\nnew file mode 100755\n--- /dev/null\n+++ b/" + path + "\n@@ -0,0 +1 @@\n+x\n"
		if err := c.git.Apply(t.Context(), c.at(""), patch); !errors.Is(err, git.ErrNotClean) && !strings.HasPrefix(path, outside) {
			t.Errorf("%s: %v", path, err)
		}
	}
	for _, path := range []string{filepath.Join(c.dir, "..", "x"), filepath.Join(outside, "x"), filepath.Join(c.dir, ".git", "hooks", "pre-commit"), filepath.Join(c.dir, ".git", "config2")} {
		if _, err := os.Lstat(path); err == nil {
			t.Errorf("%s was made", path)
		}
	}
}

// tryRun is run where failing is allowed.
func (c *checkout) tryRun(args ...string) error {
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = c.dir, c.env
	return cmd.Run()
}
