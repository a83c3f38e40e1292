package worktree

import (
	"os"
	"path/filepath"
	"testing"
)

// hostile makes git run a program at nearly everything that it does with a checkout.
func hostile(t *testing.T, b *bench) (mark string) {
	t.Helper()
	mark = filepath.Join(filepath.Dir(b.dir), "ran")
	script := "#!/bin/sh\ntouch " + mark + "\ncat\n"
	for _, name := range []string{"post-checkout", "post-index-change", "reference-transaction", "pre-commit", "post-commit", "prepare-commit-msg", "pre-auto-gc"} {
		write(t, b.path(".git/hooks/"+name), script)
		must(t, os.Chmod(b.path(".git/hooks/"+name), 0o755))
	}
	b.write("evil.sh", script)
	must(t, os.Chmod(b.path("evil.sh"), 0o755))
	b.write(".gitattributes", "*.txt filter=evil diff=evil merge=evil\n")
	for key, value := range map[string]string{
		"filter.evil.smudge": b.path("evil.sh"), "filter.evil.clean": b.path("evil.sh"), "diff.evil.textconv": b.path("evil.sh"), "merge.evil.driver": b.path("evil.sh"),
		"core.fsmonitor": b.path("evil.sh"), "core.editor": b.path("evil.sh"), "gpg.program": b.path("evil.sh"), "commit.gpgsign": "true", "core.pager": b.path("evil.sh"),
	} {
		f, err := os.OpenFile(b.path(".git/config"), os.O_APPEND|os.O_WRONLY, 0)
		must(t, err)
		dot := len(key) - len(filepath.Ext(key))
		section, name := key[:dot], key[dot+1:]
		if inner := filepath.Ext(section); inner != "" {
			section = section[:len(section)-len(inner)] + " \"" + inner[1:] + "\""
		}
		_, err = f.WriteString("[" + section + "]\n\t" + name + " = " + value + "\n")
		must(t, err)
		must(t, f.Close())
	}
	return mark
}

// No hook, filter or program of the project's config runs when a tree is made, compared, planned and dropped. git itself
// runs them.
func TestAttack_Programs(t *testing.T) {
	t.Parallel()
	b := newRepo(t)
	mark := hostile(t, b)
	tree := b.create("x")
	write(t, filepath.Join(tree.Path, "a.txt"), "changed\n")
	if changes, err := tree.Changes(t.Context()); err != nil || len(changes) != 1 {
		t.Errorf("changes %v, %v", changes, err)
	}
	if plan, err := tree.Plan(t.Context(), b.dir); err != nil || len(plan) != 1 || plan[0].Outcome != Take {
		t.Errorf("plan %+v, %v", plan, err)
	}
	_, err := tree.Diff(t.Context())
	must(t, err)
	_, _ = tree.Commit(t.Context(), "refused, because of the filter")
	_, err = tree.Drop(t.Context(), true)
	must(t, err)
	if _, err := os.Lstat(mark); err == nil {
		t.Fatal("a program of the project ran")
	}
	b.git.Run(b.dir, "worktree", "add", "-q", "--detach", filepath.Join(filepath.Dir(b.dir), "control"))
	if _, err := os.Lstat(mark); err != nil {
		t.Error("git runs nothing either, so this test shows nothing")
	}
}

// Links in the repository lead no write out of it.
func TestAttack_Links(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"worktrees", "refs/heads/lathe", "refs/heads"} {
		b := newRepo(t)
		outside := filepath.Join(filepath.Dir(b.dir), "outside")
		must(t, os.Mkdir(outside, 0o755))
		if name == "refs/heads" {
			must(t, os.Rename(b.path(".git/refs/heads"), filepath.Join(outside, "heads")))
			outside = filepath.Join(outside, "heads")
		}
		must(t, os.Symlink(outside, b.path(".git/"+name)))
		before := files(t, outside)
		_, release, err := b.root.Create(t.Context(), b.place(), Options{Name: "x"})
		if err == nil {
			release()
		}
		if inTheWay := name == "refs/heads/lathe"; (err == nil) != inTheWay { // then the branch is called lathe-x
			t.Errorf("%s: %v", name, err)
		}
		if after := files(t, outside); len(after) != len(before) {
			t.Errorf("%s: files outside: %v", name, after)
		}
	}
}

// A folder of the checkout that is a link, or becomes one, is copied as a link: nothing behind it is read or written.
func TestAttack_LinkedFolders(t *testing.T) {
	t.Parallel()
	b := newRepo(t)
	secret := filepath.Join(filepath.Dir(b.dir), "secret")
	write(t, filepath.Join(secret, "key"), "secret\n")
	must(t, os.Symlink(secret, b.path("out")))
	tree, release, err := b.root.Create(t.Context(), b.place(), Options{Name: "x", Links: []string{"out", "build"}})
	must(t, err)
	defer release()
	if got := files(t, tree.Path)["out"]; got != "-> "+secret {
		t.Errorf("out is %q", got)
	}
	must(t, os.RemoveAll(filepath.Join(tree.Path, "dir")))
	must(t, os.Symlink(secret, filepath.Join(tree.Path, "dir")))
	plan, err := tree.Plan(t.Context(), b.dir)
	must(t, err)
	for _, m := range plan {
		if string(m.Data) == "secret\n" {
			t.Errorf("%s was read through a link", m.Path)
		}
	}
}

// A repository that is damaged or strange is refused with an error, and leaves nothing.
func TestAttack_Strange(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]func(b *bench){
		"index":   func(b *bench) { write(b, b.path(".git/index"), "DIRC\x00\x00\x00\x02\xff\xff\xff\xff") },
		"reftabl": func(b *bench) { b.git.Run(b.dir, "config", "extensions.refstorage", "reftable") },
	} {
		b := newRepo(t)
		damage(b)
		if _, release, err := b.root.Create(t.Context(), b.place(), Options{Name: "x"}); err == nil {
			release()
			t.Errorf("%s: made", name)
		}
		if all, err := b.root.List(b.place()); err != nil || len(all) != 0 {
			t.Errorf("%s: %d trees, %v", name, len(all), err)
		}
	}
}
