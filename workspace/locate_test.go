package workspace

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lathe-agent/lathe/internal/gittest"
)

// notes is a Memory in a map.
type notes map[string]string

func (n notes) Cached(_ context.Context, key string) (string, error) { return n[key], nil }

func (n notes) SaveCached(_ context.Context, key, value string) error {
	n[key] = value
	return nil
}

func TestLocate_Remote(t *testing.T) {
	git := newGit(t)
	top := git.repo(filepath.Join(gittest.RealTemp(t), "my répo"), "one")
	git.Run(top, "remote", "add", "origin", "git@GitHub.com:Owner/Repo.git")
	want := Place{
		Directory: top, Worktree: top, Sandbox: top, VCS: "git",
		ProjectID: remoteID("github.com/Owner/Repo"), Remote: "github.com/Owner/Repo",
	}
	same(t, locate(t, top, nil), want)

	sub := mkdir(t, filepath.Join(top, "a b", "ü"))
	want.Directory, want.Path = sub, "a b/ü"
	same(t, locate(t, sub, nil), want)

	inGit := filepath.Join(top, ".git", "refs")
	want.Directory, want.Path = inGit, ".git/refs"
	same(t, locate(t, inGit, nil), want)
}

// Git fetches from the first of several URLs, and so identity follows the first.
func TestLocate_ManyURLs(t *testing.T) {
	git := newGit(t)
	top := git.repo(gittest.RealTemp(t))
	git.Run(top, "remote", "add", "origin", "https://one.example/a")
	git.Run(top, "remote", "set-url", "--add", "origin", "https://two.example/b")
	want := normalizeRemote(git.Run(top, "remote", "get-url", "origin"))
	if got := locate(t, top, nil).Remote; got != want || got != "one.example/a" {
		t.Errorf("remote %q, git says %q", got, want)
	}
}

func TestLocate_RootCommit(t *testing.T) {
	git := newGit(t)
	top := git.repo(gittest.RealTemp(t), "one", "two")
	git.Run(top, "remote", "add", "origin", "/srv/git/local.git") // names nothing that others share
	git.Run(top, "remote", "add", "upstream", "https://example.org/x")
	root := git.Run(top, "rev-list", "--max-parents=0", "HEAD")
	want := Place{Directory: top, Worktree: top, Sandbox: top, VCS: "git", ProjectID: root}
	same(t, locate(t, top, nil), want)

	mem := notes{}
	same(t, locate(t, top, mem), want)
	key := "root:" + filepath.Join(top, ".git")
	if len(mem) != 1 || mem[key] != root {
		t.Errorf("remembered %v, want %s", mem, root)
	}
	known := strings.Repeat("0", 40)
	mem[key], want.ProjectID = known, known
	same(t, locate(t, top, mem), want)
	mem[key], want.ProjectID = "nonsense", root
	same(t, locate(t, top, mem), want)
}

func TestLocate_TwoRoots(t *testing.T) {
	git := newGit(t)
	top := git.repo(gittest.RealTemp(t), "one")
	git.Run(top, "checkout", "-q", "--orphan", "other")
	git.Run(top, "commit", "-q", "--allow-empty", "-m", "another root")
	roots := strings.Fields(git.Run(top, "rev-list", "--max-parents=0", "--all"))
	if len(roots) != 2 {
		t.Fatalf("roots %q", roots)
	}
	if got := locate(t, top, nil).ProjectID; got != slices.Min(roots) {
		t.Errorf("id %s, want the smaller of %v", got, roots)
	}
}

func TestLocate_NoCommits(t *testing.T) {
	git := newGit(t)
	top := git.repo(gittest.RealTemp(t))
	mem := notes{}
	want := nowhere(top)
	want.Worktree, want.Sandbox, want.VCS = top, top, "git"
	same(t, locate(t, top, mem), want)
	if len(mem) > 0 {
		t.Errorf("remembered %v although the first commit is still to come", mem)
	}
}

func TestLocate_Cached(t *testing.T) {
	git := newGit(t)
	top := git.repo(gittest.RealTemp(t), "one")
	file := filepath.Join(top, ".git", "opencode")
	root := git.Run(top, "rev-list", "--max-parents=0", "HEAD")
	for _, c := range []struct{ name, text, cached string }{
		{"plain", "abc123", "abc123"},
		{"spaces around", "  abc123\r\n", "abc123"},
		{"longest", strings.Repeat("é", maxID), strings.Repeat("é", maxID)},
		{"too long", strings.Repeat("é", maxID+1), ""},
		{"far too long", strings.Repeat("x", maxPointer+1), ""},
		{"empty", "", ""},
		{"blank", " \n", ""},
		{"two lines", "a\nb", ""},
		{"control", "a\x00b", ""},
		{"not text", "a\xffb", ""},
		{"path", "../../etc", ""},
		{"windows path", `..\etc`, ""},
		{"dots", "..", ""},
		{"global", "global\n", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			write(t, file, c.text)
			got := locate(t, top, nil)
			if got.Cached != c.cached {
				t.Errorf("cached %q, want %q", got.Cached, c.cached)
			}
			if want := cmp.Or(c.cached, root); got.ProjectID != want {
				t.Errorf("id %q, want %q", got.ProjectID, want)
			}
			if left, err := os.ReadFile(file); err != nil || string(left) != c.text {
				t.Errorf("the file was touched: %q, %v", left, err)
			}
		})
	}
	write(t, file, "abc123")
	git.Run(top, "remote", "add", "origin", "https://example.org/x")
	if got := locate(t, top, nil); got.ProjectID != remoteID("example.org/x") || got.Cached != "abc123" {
		t.Errorf("the origin must win and the cached id be told: %+v", got)
	}
}

func TestLocate_MemoryFails(t *testing.T) {
	git := newGit(t)
	top := git.repo(gittest.RealTemp(t), "one")
	broken := errors.New("disk full")
	for _, mem := range []Memory{failing{recall: broken}, failing{remember: broken}} {
		if _, err := Locate(t.Context(), top, mem); !errors.Is(err, broken) {
			t.Errorf("%+v: error %v", mem, err)
		}
	}
	git.Run(top, "remote", "add", "origin", "https://example.org/x")
	locate(t, top, failing{recall: broken}) // is not asked
}

type failing struct{ recall, remember error }

func (f failing) Cached(context.Context, string) (string, error)   { return "", f.recall }
func (f failing) SaveCached(context.Context, string, string) error { return f.remember }
