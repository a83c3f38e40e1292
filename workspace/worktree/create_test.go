package worktree

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/internal/gittest"
)

// A tree has the last commit plus uncommitted work, and git sees the same state in it.
func TestCreate(t *testing.T) {
	t.Parallel()
	b := newRepo(t)
	before := files(t, b.dir)
	tree := b.create("fix")
	want := map[string]string{}
	for name, text := range before {
		if !strings.HasPrefix(name, "build/") && name != "trace.log" {
			want[name] = text
		}
	}
	if got := files(t, tree.Path); !reflect.DeepEqual(got, want) {
		t.Errorf("tree has %v; want %v", got, want)
	}
	if got := files(t, b.dir); !reflect.DeepEqual(got, before) {
		t.Errorf("the checkout changed: %v", got)
	}
	status := b.git.Run(b.dir, "status", "--porcelain=v1", "-uall")
	if got := b.git.Run(tree.Path, "status", "--porcelain=v1", "-uall"); !slices.Equal(lines(got), lines(status)) {
		t.Errorf("status\n%s\nwant\n%s", got, status)
	}
	if got := b.git.Run(tree.Path, "branch", "--show-current"); got != "lathe/fix" {
		t.Errorf("branch %s", got)
	}
	b.git.Run(tree.Path, "add", "-A")
	b.git.Run(tree.Path, "commit", "-q", "-m", "in the tree")
	b.git.Run(b.dir, "fsck", "--strict")
	if got := b.git.Run(b.dir, "log", "--format=%s", "lathe/fix"); got != "in the tree\nfirst" {
		t.Errorf("history %q", got)
	}
	info, err := os.Stat(filepath.Join(tree.Path, "run.sh"))
	must(t, err)
	if info.Mode().Perm()&0o100 == 0 {
		t.Errorf("mode %v", info.Mode())
	}
}

func TestCreate_Names(t *testing.T) {
	t.Parallel()
	b := newRepo(t)
	for _, name := range []string{"../x", "a/b", ".git", "-x", "x..y", "x.lock", ".", strings.Repeat("x", 65), "x\n", "a b", ".lathe"} {
		if _, _, err := b.root.Create(t.Context(), b.place(), Options{Name: name}); lathe.CodeOf(err) != lathe.Invalid {
			t.Errorf("%q: %v", name, err)
		}
	}
	b.create("one")
	if _, _, err := b.root.Create(t.Context(), b.place(), Options{Name: "one"}); lathe.CodeOf(err) != lathe.Conflict {
		t.Errorf("second of a name: %v", err)
	}
	b.git.Run(b.dir, "branch", "lathe/two")
	if _, _, err := b.root.Create(t.Context(), b.place(), Options{Name: "two"}); lathe.CodeOf(err) != lathe.Conflict {
		t.Errorf("branch is taken: %v", err)
	}
	if tree := b.create(""); tree.Name != "w1" {
		t.Errorf("chose %s", tree.Name)
	}
}

// A branch that is called lathe leaves no room for lathe/NAME.
func TestCreate_BranchInTheWay(t *testing.T) {
	t.Parallel()
	b := newRepo(t)
	b.git.Run(b.dir, "branch", "lathe")
	b.git.Run(b.dir, "pack-refs", "--all")
	tree := b.create("x")
	if got := b.git.Run(tree.Path, "branch", "--show-current"); got != "lathe-x" {
		t.Errorf("branch %s", got)
	}
}

func TestCreate_NoCommit(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.git = gittest.New(t)
	b.git.Run(b.dir, "init", "-q", "-b", "main")
	b.write("a", "1\n")
	tree := b.create("x")
	if got := b.git.Run(tree.Path, "status", "--porcelain"); got != "?? a" {
		t.Errorf("status %q", got)
	}
	_, err := tree.Drop(t.Context(), false)
	must(t, err)
}

// Nothing names the project of a repository without commits, and its path begins at the root of the volume. The session works
// in the same folder of the copy nevertheless.
func TestCreate_NoCommitBelow(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.git = gittest.New(t)
	b.git.Run(b.dir, "init", "-q", "-b", "main")
	b.write("sub/a.txt", "a\n")
	for _, below := range []string{"", "sub"} {
		tree, release, err := b.root.Create(t.Context(), place(t, filepath.Join(b.dir, below)), Options{Scratch: true})
		must(t, err)
		if want := filepath.Join(tree.Path, below); tree.Directory != want {
			t.Errorf("it works in %s, want %s", tree.Directory, want)
		}
		release()
	}
}

func TestCreate_NoGit(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("a.txt", "1\n")
	b.write("dir/b.bin", "\x00\x01")
	tree := b.create("copy")
	if got, want := files(t, tree.Path), files(t, b.dir); !reflect.DeepEqual(got, want) {
		t.Errorf("tree has %v; want %v", got, want)
	}
	write(t, filepath.Join(tree.Path, "a.txt"), "2\n")
	plan, err := tree.Plan(t.Context(), b.dir)
	must(t, err)
	if len(plan) != 1 || plan[0].Outcome != Take {
		t.Errorf("plan %+v", plan)
	}
}

func TestCreate_FromLinkedWorktree(t *testing.T) {
	t.Parallel()
	b := newRepo(t)
	other := filepath.Join(filepath.Dir(b.dir), "other")
	b.git.Run(b.dir, "worktree", "add", "-q", "-b", "side", other)
	write(t, filepath.Join(other, "a.txt"), "side\n")
	tree, release, err := b.root.Create(t.Context(), place(t, other), Options{Name: "x"})
	must(t, err)
	defer release()
	if got := files(t, tree.Path)["a.txt"]; got != "side\n" {
		t.Errorf("a.txt %q", got)
	}
	if got := b.git.Run(tree.Path, "status", "--porcelain"); got != "M a.txt" {
		t.Errorf("status %q", got)
	}
	if tree.Origin != other {
		t.Errorf("origin %s", tree.Origin)
	}
	// A tree of a tree works the same.
	again, release2, err := b.root.Create(t.Context(), place(t, tree.Path), Options{Name: "y"})
	must(t, err)
	defer release2()
	if got := files(t, again.Path)["a.txt"]; got != "side\n" || again.Origin != tree.Path {
		t.Errorf("a.txt %q of %s", got, again.Origin)
	}
}

func TestCreate_Sparse(t *testing.T) {
	t.Parallel()
	for _, more := range [][]string{nil, {"--sparse-index"}} {
		b := newRepo(t)
		b.git.Run(b.dir, "add", "-A")
		b.git.Run(b.dir, "commit", "-q", "-m", "all")
		b.git.Run(b.dir, append([]string{"sparse-checkout", "set", "--cone"}, append(more, "new")...)...)
		tree := b.create("x")
		if got := b.git.Run(tree.Path, "status", "--porcelain"); got != "" {
			t.Errorf("%v: status %q", more, got)
		}
		if _, err := os.Lstat(filepath.Join(tree.Path, "dir/b.txt")); err == nil {
			t.Error("a file outside of the sparse checkout was made")
		}
		changes, err := tree.Changes(t.Context())
		if err != nil || len(changes) != 0 {
			t.Errorf("changes %v, %v", changes, err)
		}
		if got := b.git.Run(tree.Path, "sparse-checkout", "list"); got != "new" {
			t.Errorf("patterns %q", got)
		}
	}
}

func TestCreate_Submodules(t *testing.T) {
	t.Parallel()
	b := newRepo(t)
	lib := filepath.Join(filepath.Dir(b.dir), "lib")
	b.git.Run(filepath.Dir(b.dir), "init", "-q", "-b", "main", lib)
	write(t, filepath.Join(lib, "lib.txt"), "lib\n")
	b.git.Run(lib, "add", "-A")
	b.git.Run(lib, "commit", "-q", "-m", "lib")
	b.git.Run(b.dir, "submodule", "add", "-q", lib, "vendor/lib")
	b.git.Run(b.dir, "add", "-A")
	b.git.Run(b.dir, "commit", "-q", "-m", "with a submodule")
	write(t, b.path("vendor/lib/lib.txt"), "changed\n")
	tree := b.create("x")
	if got := files(t, tree.Path)["vendor/lib/lib.txt"]; got != "changed\n" {
		t.Errorf("submodule %q", got)
	}
	if got := b.git.Run(tree.Path, "status", "--porcelain"); got != "" {
		t.Errorf("status %q", got)
	}
	write(t, filepath.Join(tree.Path, "vendor/lib/lib.txt"), "again\n")
	plan, err := tree.Plan(t.Context(), b.dir)
	if err != nil || len(plan) != 1 || plan[0].Path != "vendor/lib/lib.txt" || plan[0].Outcome != Take {
		t.Errorf("plan %+v, %v", plan, err)
	}
}

// Files that a filter made stay as they are on disk, and no filter runs.
func TestCreate_LFS(t *testing.T) {
	t.Parallel()
	b := newRepo(t)
	mark := filepath.Join(filepath.Dir(b.dir), "ran")
	pointer := "version https://git-lfs.github.com/spec/v1\noid sha256:" + strings.Repeat("a", 64) + "\nsize 12345\n"
	b.write(".gitattributes", "*.bin filter=lfs diff=lfs merge=lfs -text\n")
	b.write("pointer.bin", pointer)
	b.write("smudged.bin", "\x00the content itself")
	b.git.Run(b.dir, "-c", "filter.lfs.clean=cat", "add", "-A")
	b.git.Run(b.dir, "commit", "-q", "-m", "lfs")
	for _, key := range []string{"smudge", "clean", "process"} {
		b.git.Run(b.dir, "config", "filter.lfs."+key, "touch "+mark+"; cat")
	}
	tree := b.create("x")
	got := files(t, tree.Path)
	if got["pointer.bin"] != pointer || got["smudged.bin"] != "\x00the content itself" {
		t.Errorf("files %q", got)
	}
	changes, err := tree.Changes(t.Context())
	if err != nil || len(changes) != 0 {
		t.Errorf("changes %v, %v", changes, err)
	}
	if _, err := os.Lstat(mark); err == nil {
		t.Error("a filter ran")
	}
}

func TestCreate_Links(t *testing.T) {
	t.Parallel()
	b := newRepo(t)
	b.write("build/deep/x", "x\n")
	tree, release, err := b.root.Create(t.Context(), b.place(), Options{Name: "x", Links: []string{"build", "trace.log", "missing", "a.txt"}})
	must(t, err)
	defer release()
	got := files(t, tree.Path)
	if got["build/deep/x"] != "x\n" || got["trace.log"] != "log\n" {
		t.Errorf("files %q", got)
	}
	write(t, filepath.Join(tree.Path, "build/deep/x"), "written\n")
	if files(t, b.dir)["build/deep/x"] != "x\n" {
		t.Error("the checkout was written through a link")
	}
	if changes, err := tree.Changes(t.Context()); err != nil || len(changes) != 0 {
		t.Errorf("changes %v, %v", changes, err)
	}
	for _, name := range []string{"../secret", "/etc/passwd", ".git/config", ".", ".."} {
		if _, _, err := b.root.Create(t.Context(), b.place(), Options{Name: "y", Links: []string{name}}); lathe.CodeOf(err) != lathe.Invalid {
			t.Errorf("%q: %v", name, err)
		}
	}
	if all, err := b.root.List(b.place()); err != nil || len(all) != 1 {
		t.Errorf("%d trees are left, %v", len(all), err)
	}
}

// Eight at once, of one checkout.
func TestCreate_AtOnce(t *testing.T) {
	t.Parallel()
	b := newRepo(t)
	before := files(t, b.dir)
	done := make(chan error)
	for i := range 8 {
		go func() {
			tree, release, err := b.root.Create(context.Background(), b.place(), Options{Name: fmt.Sprintf("t%d", i)})
			if err == nil {
				err = os.WriteFile(filepath.Join(tree.Path, "a.txt"), []byte(tree.Name), 0o644)
				release()
			}
			done <- err
		}()
	}
	for range 8 {
		must(t, <-done)
	}
	all, err := b.root.List(b.place())
	must(t, err)
	if len(all) != 8 {
		t.Fatalf("%d trees", len(all))
	}
	for _, tree := range all {
		plan, err := tree.Plan(t.Context(), b.dir)
		if err != nil || len(plan) != 1 || plan[0].Outcome != Take || string(plan[0].Data) != tree.Name {
			t.Errorf("%s: %+v, %v", tree.Name, plan, err)
		}
	}
	if got := files(t, b.dir); !reflect.DeepEqual(got, before) {
		t.Error("the checkout changed")
	}
	b.git.Run(b.dir, "fsck", "--strict")
}

func TestDrop(t *testing.T) {
	t.Parallel()
	b := newRepo(t)
	refs := b.git.Run(b.dir, "for-each-ref")
	tree := b.create("x")
	write(t, filepath.Join(tree.Path, "more"), "x")
	if _, err := tree.Drop(t.Context(), false); lathe.CodeOf(err) != lathe.Conflict {
		t.Errorf("a dirty tree was dropped: %v", err)
	}
	must(t, os.Remove(filepath.Join(tree.Path, "more")))
	_, err := tree.Drop(t.Context(), false)
	must(t, err)
	if got := b.git.Run(b.dir, "for-each-ref"); got != refs {
		t.Errorf("refs %s", got)
	}
	if got := lines(b.git.Run(b.dir, "worktree", "list")); len(got) != 1 {
		t.Errorf("worktrees %v", got)
	}
	tree = b.create("y")
	b.git.Run(tree.Path, "commit", "-q", "--allow-empty", "-m", "own")
	if _, err := tree.Drop(t.Context(), false); lathe.CodeOf(err) != lathe.Conflict {
		t.Errorf("a tree with commits was dropped: %v", err)
	}
	kept, err := tree.Drop(t.Context(), true)
	if err != nil || kept != "lathe/y" || b.git.Run(b.dir, "log", "-1", "--format=%s", kept) != "own" {
		t.Errorf("kept %q, %v", kept, err)
	}
	if entries, _ := os.ReadDir(filepath.Join(b.root.project(b.place()), metaDir)); len(entries) != 1 { // the lock
		t.Errorf("left %v", entries)
	}
}

func TestRecover_KeepsTreesWithoutSession(t *testing.T) {
	t.Parallel()
	b := newRepo(t)
	tree := b.create("x")
	write(t, filepath.Join(tree.Path, "work"), "hours")
	merging, err := b.root.Recover(t.Context(), b.place())
	if err != nil || len(merging) != 0 {
		t.Fatal(merging, err)
	}
	found, err := b.root.Find(b.place(), "x")
	if err != nil || found.IsLive() || files(t, found.Path)["work"] != "hours" {
		t.Errorf("%+v, %v", found, err)
	}
	if of := b.root.Of(filepath.Join(tree.Path, "dir")); of == nil || of.Name != "x" {
		t.Errorf("of %+v", of)
	}
	if of := b.root.Of(b.dir); of != nil {
		t.Errorf("of the checkout %+v", of)
	}
}

// A kill between the creation of a file in the repository and its content leaves an empty file.
func TestRecover_EmptyFile(t *testing.T) {
	t.Parallel()
	b := newRepo(t)
	tree := b.create("x")
	admin := filepath.Join(tree.Common, "worktrees", tree.Admin)
	must(t, tree.Update(t.Context(), func(r *Record) { r.State = Creating }))
	must(t, os.WriteFile(filepath.Join(admin, "gitdir"), nil, 0o644))
	_, err := b.root.Recover(t.Context(), b.place())
	must(t, err)
	if _, err := os.Lstat(admin); err == nil {
		t.Error("the folder in the repository stayed")
	}
}
