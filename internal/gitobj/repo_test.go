package gitobj

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lathe-agent/lathe/internal/gittest"
)

func TestRepo_AgreesWithGit(t *testing.T) {
	for _, format := range []string{"sha1", "sha256"} {
		for _, c := range []struct {
			name string
			then [][]string // git commands after the history was loaded
		}{
			{"loose", nil},
			{"packed as loaded", nil},
			{"deep deltas", [][]string{{"repack", "-adfq", "--depth=50", "--window=20"}, {"pack-refs", "--all"}}},
			{"deltas by id", [][]string{{"-c", "repack.useDeltaBaseOffset=false", "repack", "-adfq", "--depth=50"}}},
			{"old index", [][]string{{"-c", "pack.indexVersion=1", "repack", "-adfq"}, {"pack-refs", "--all"}}},
			{"several packs", [][]string{{"multi-pack-index", "write"}}},
			{"long offsets", [][]string{{"repack", "-adfq"}}},
		} {
			t.Run(format+"/"+c.name, func(t *testing.T) {
				t.Parallel()
				git := newGit(t)
				dir := git.repo(format)
				rng := rand.New(rand.NewPCG(uint64(len(c.name)), uint64(len(format))))
				git.load(dir, history(rng, 120), c.name == "loose")
				if c.name == "several packs" {
					git.load(dir, history(rng, 40), false)
					git.load(dir, history(rng, 40), false)
				}
				for _, args := range c.then {
					git.Run(dir, args...)
				}
				if c.name == "long offsets" {
					longOffsets(t, git, dir)
				}
				if c.then != nil {
					git.load(dir, history(rng, 20), true) // and some that came later
				}
				agree(t, git, dir, dir, dir)
			})
		}
	}
}

// longOffsets writes the index as if most of the pack lay beyond two gigabytes.
func longOffsets(t *testing.T, git gitRunner, dir string) {
	t.Helper()
	packs, err := filepath.Glob(filepath.Join(dir, "objects", "pack", "*.pack"))
	if err != nil || len(packs) != 1 {
		t.Fatalf("packs %q, %v", packs, err)
	}
	idx := strings.TrimSuffix(packs[0], ".pack") + ".idx"
	if err := os.Remove(idx); err != nil {
		t.Fatal(err)
	}
	git.Run(dir, "index-pack", "--index-version=2,0x40", "-o", idx, packs[0])
}

// Refs of all sorts: tags on tags, on trees and on blobs, symbolic ones, a detached HEAD,
// names that differ from packed ones, broken ones.
func TestRefs_AgreeWithGit(t *testing.T) {
	git := newGit(t)
	dir := git.repo("sha1")
	git.load(dir, history(rand.New(rand.NewPCG(5, 6)), 40), false)
	tree, first := git.Run(dir, "rev-parse", "main^{tree}"), git.Run(dir, "rev-parse", "main")
	blob := git.Run(dir, "rev-parse", "main:dir")
	git.Run(dir, "tag", "-a", "-m", "x", "on-commit", "main")
	git.Run(dir, "tag", "-a", "-m", "x", "on-tag", "on-commit")
	git.Run(dir, "tag", "-a", "-m", "x", "on-tree", tree)
	git.Run(dir, "tag", "on-blob", blob)
	git.Run(dir, "pack-refs", "--all")
	git.Run(dir, "update-ref", "refs/heads/main", git.Run(dir, "rev-parse", "b1"))
	git.Run(dir, "update-ref", "refs/stash", first)
	git.Run(dir, "update-ref", "refs/a/deep/er/name", first)
	git.Run(dir, "symbolic-ref", "refs/remotes/origin/HEAD", "refs/heads/b2")
	git.Run(dir, "symbolic-ref", "refs/heads/twice", "refs/remotes/origin/HEAD")
	agree(t, git, dir, dir, dir)

	git.Run(dir, "update-ref", "--no-deref", "HEAD", first)
	agree(t, git, dir, dir, dir)

	// What leads nowhere is passed over.
	r := open(t, dir, dir)
	before := roots(t, r)
	write(t, filepath.Join(dir, "refs", "heads", "empty"), "")
	write(t, filepath.Join(dir, "refs", "heads", "text"), "hello\n")
	write(t, filepath.Join(dir, "refs", "heads", "gone"), strings.Repeat("1", 40)+"\n")
	write(t, filepath.Join(dir, "refs", "heads", "circle"), "ref: refs/heads/circle\n")
	write(t, filepath.Join(dir, "refs", "heads", "out"), "ref: refs/../../x\n")
	write(t, filepath.Join(dir, "refs", "heads", "x.lock"), first+"\n")
	refs, err := r.Refs(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, ref := range refs {
		for _, bad := range []string{"empty", "text", "circle", "out", "x.lock"} {
			if ref.Name == "refs/heads/"+bad {
				t.Errorf("%+v", ref)
			}
		}
	}
	if after := roots(t, r); !slices.Equal(after, before) {
		t.Errorf("roots %v, want %v", after, before)
	}
}

func roots(t *testing.T, r *Repo) []ID {
	t.Helper()
	refs, err := r.Refs(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ids, err := r.Roots(t.Context(), refs)
	if err != nil {
		t.Fatal(err)
	}
	return ids
}

func TestRepo_NoCommits(t *testing.T) {
	git := newGit(t)
	dir := git.repo("sha1")
	r := open(t, dir, dir)
	head, err := r.Head()
	if want := (Ref{Name: "HEAD", Target: "refs/heads/main"}); err != nil || head != want {
		t.Errorf("HEAD %+v, %v; want %+v", head, err, want)
	}
	refs, err := r.Refs(t.Context())
	if err != nil || len(refs) > 0 {
		t.Errorf("refs %v, %v", refs, err)
	}
	roots, err := r.Roots(t.Context(), refs)
	if err != nil || len(roots) > 0 {
		t.Errorf("roots %v, %v", roots, err)
	}
	if _, _, err := r.Object(ID{}); !errors.Is(err, ErrMissing) {
		t.Errorf("the zero id: %v", err)
	}
}

// All checkouts count for "--all", whichever is asked.
func TestRepo_Worktrees(t *testing.T) {
	git := newGit(t)
	dir := git.repo("sha1")
	git.load(dir, history(rand.New(rand.NewPCG(7, 8)), 30), false)
	base := filepath.Dir(dir)
	for _, name := range []string{"one", "two"} {
		git.Run(dir, "worktree", "add", "-q", "--detach", filepath.Join(base, name), "main")
	}
	one, two := filepath.Join(base, "one"), filepath.Join(base, "two")
	// A root that only a detached checkout knows, and refs that are a checkout's own.
	git.Run(two, "checkout", "-q", "--orphan", "lonely")
	git.Run(two, "commit", "-q", "--allow-empty", "-m", "lonely")
	git.Run(two, "checkout", "-q", "--detach")
	git.Run(two, "update-ref", "-d", "refs/heads/lonely")
	git.Run(one, "update-ref", "refs/bisect/bad", "main")
	git.Run(one, "update-ref", "refs/worktree/mine", "main")
	git.Run(dir, "update-ref", "refs/bisect/good", "main")
	git.Run(dir, "pack-refs", "--all")
	agree(t, git, dir, dir, dir)
	agree(t, git, one, filepath.Join(dir, "worktrees", "one"), dir)
	agree(t, git, two, filepath.Join(dir, "worktrees", "two"), dir)
}

func TestRoots_Shallow(t *testing.T) {
	git := newGit(t)
	dir := git.repo("sha1")
	git.load(dir, history(rand.New(rand.NewPCG(9, 10)), 60), false)
	for _, depth := range []int{1, 3} {
		clone := filepath.Join(gittest.RealTemp(t), "clone.git")
		git.Run(dir, "clone", "-q", "--bare", "--no-single-branch", fmt.Sprintf("--depth=%d", depth), "file://"+filepath.ToSlash(dir), clone)
		agree(t, git, clone, clone, clone)
	}
}

// A repository that borrows its objects, from one that borrows them too.
func TestRepo_Alternates(t *testing.T) {
	git := newGit(t)
	dir := git.repo("sha1")
	git.load(dir, history(rand.New(rand.NewPCG(11, 12)), 30), false)
	base := gittest.RealTemp(t)
	first, second := filepath.Join(base, "first.git"), filepath.Join(base, "second.git")
	git.Run(base, "clone", "-q", "--bare", "--shared", dir, first)
	git.Run(base, "clone", "-q", "--bare", "--shared", first, second)
	agree(t, git, second, second, second)

	// In a circle, to nowhere, to a file: git reads on, and so do we.
	alternates := filepath.Join(second, "objects", "info", "alternates")
	text, err := os.ReadFile(alternates)
	if err != nil {
		t.Fatal(err)
	}
	write(t, alternates, "# note\n\n/nowhere\n../config\n../objects\n"+string(text))
	agree(t, git, second, second, second)
}

func TestRepo_Replacements(t *testing.T) {
	git := newGit(t)
	dir := git.repo("sha1")
	git.load(dir, history(rand.New(rand.NewPCG(13, 14)), 20), false)
	child := git.Run(dir, "rev-list", "--min-parents=1", "--all", "-1")
	git.Run(dir, "replace", "--graft", child)
	agree(t, git, dir, dir, dir)
}

func TestOpen_UnknownFormats(t *testing.T) {
	git := newGit(t)
	for _, setting := range []string{"extensions.objectFormat=sha3", "extensions.refStorage=reftable"} {
		dir := git.repo("sha1")
		key, value, _ := strings.Cut(setting, "=")
		git.Run(dir, "config", key, value)
		if r, err := Open(dir, dir); err == nil {
			t.Errorf("%s was opened: %+v", setting, r)
		}
	}
}

func TestRepo_Close(t *testing.T) {
	git := newGit(t)
	dir := git.repo("sha1")
	git.load(dir, history(rand.New(rand.NewPCG(15, 16)), 10), false)
	r, err := Open(dir, dir)
	if err != nil {
		t.Fatal(err)
	}
	head, err := r.Head()
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if _, _, err := r.Object(head.ID); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
