package worktree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/internal/filestat"
	"github.com/lathe-agent/lathe/internal/gitobj"
	"github.com/lathe-agent/lathe/workspace"
)

// repository is the repository of a checkout. It is nil without git.
type repository struct {
	own, common string
	git         *gitobj.Repo
	config      gitobj.Config
	head        string // the commit; "" before the first one
	index       []gitobj.IndexEntry
	raw         []byte // the index file
	written     int64  // when the index file was written
	exact       bool   // a clean file has the bytes of its object
	branches    map[string]bool
}

// openRepository reads the repository of a place. One whose format is not known here is an error.
func openRepository(at workspace.Place) (*repository, error) {
	own, common, ok := at.GitDirs()
	if !ok {
		return nil, nil
	}
	r := &repository{own: own, common: common, branches: map[string]bool{}}
	git, err := gitobj.Open(own, common)
	if err != nil {
		return nil, lathe.Errorf(lathe.Unavailable, "cannot make a worktree of this repository: %w", err)
	}
	r.git = git
	if err := r.load(); err != nil {
		r.close()
		return nil, lathe.Errorf(lathe.Unavailable, "cannot make a worktree of this repository: %w", err)
	}
	return r, nil
}

// close also takes a nil repository, that of a directory without git.
func (r *repository) close() {
	if r != nil && r.git != nil {
		_ = r.git.Close() // it was only read
	}
}

// load reads everything that a copy needs at once, so that a later change of the repository does not mix two states.
func (r *repository) load() error {
	head, err := r.git.Head()
	if err != nil {
		return err
	}
	if !head.ID.IsZero() {
		r.head = head.ID.String()
	}
	if r.config, err = r.git.Config(); err != nil {
		return err
	}
	if format := r.config.Last("extensions.refstorage"); format != "" && format != "files" {
		return fmt.Errorf("it stores refs as %q, and lathe knows only files", format)
	}
	if info, err := os.Stat(r.git.IndexFile()); err == nil {
		r.written = filestat.Of(info).Mtime
	}
	// The entries and the bytes are read apart: git replaces the file, and the bytes are checked again.
	if r.raw, err = gitobj.ReadFile(r.git.IndexFile(), maxIndex); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if r.index, err = r.git.Index(); err != nil { // split, or of a later version
		r.index, r.raw = nil, nil
		return fmt.Errorf("its index cannot be read (%w); `git update-index --no-split-index` makes a plain one", err)
	}
	r.exact = r.git.StoresExactly(r.index)
	refs, err := r.git.Refs(context.Background())
	for _, ref := range refs {
		if name, ok := strings.CutPrefix(ref.Name, "refs/heads/"); ok {
			r.branches[name] = true
		}
	}
	return err
}

// maxIndex is the largest index that is copied.
const maxIndex = 512 << 20

// hasBranch looks at the disk too: another process may have made the branch since the refs were read.
func (r *repository) hasBranch(name string) bool {
	if r == nil {
		return false
	}
	if r.branches[name] {
		return true
	}
	_, err := os.Lstat(filepath.Join(r.common, "refs", "heads", filepath.FromSlash(name)))
	if err != nil || name != "lathe" {
		return err == nil
	}
	info, err := os.Lstat(filepath.Join(r.common, "refs", "heads", "lathe"))
	return err == nil && !info.IsDir()
}

// find returns the index entry of a path.
func (r *repository) find(name string) *gitobj.IndexEntry {
	if r == nil {
		return nil
	}
	i := sort.Search(len(r.index), func(i int) bool { return r.index[i].Path >= name })
	if i < len(r.index) && r.index[i].Path == name {
		return &r.index[i]
	}
	return nil
}

// tracksBelow reports whether the index has a file below a folder.
func (r *repository) tracksBelow(dir string) bool {
	if r == nil {
		return false
	}
	dir += "/"
	i := sort.Search(len(r.index), func(i int) bool { return r.index[i].Path >= dir })
	return i < len(r.index) && strings.HasPrefix(r.index[i].Path, dir)
}

// attach makes the tree a linked work tree: its folder in the repository, its branch and its .git file, which
// is written last, so that git never sees half of it.
func (t *Tree) attach(repo *repository, copied *copied) error {
	root, err := os.OpenRoot(repo.common)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := t.makeAdmin(root); err != nil {
		return err
	}
	index, err := repo.indexFor(copied)
	if err != nil {
		return err
	}
	dir := "worktrees/" + t.Admin
	files := [][2]string{
		{"locked", "lathe worktree " + t.Name + "\n"}, // or git forgets a tree that it cannot see
		{"commondir", "../..\n"},
		{"gitdir", filepath.ToSlash(filepath.Join(t.Path, ".git")) + "\n"},
		{"HEAD", "ref: refs/heads/" + t.Branch + "\n"},
	}
	if len(index) > 0 {
		files = append(files, [2]string{"index", string(index)})
	}
	files = append(files, repo.sparseFiles()...)
	for _, f := range files {
		t.root.step("admin " + f[0])
		if err := writeNew(root, path.Join(dir, f[0]), f[1]); err != nil {
			return err
		}
	}
	if err := t.makeBranch(root); err != nil {
		return err
	}
	t.root.step("dot git")
	at := filepath.ToSlash(filepath.Join(repo.common, "worktrees", t.Admin))
	return os.WriteFile(filepath.Join(t.Path, ".git"), []byte("gitdir: "+at+"\n"), 0o644)
}

// makeAdmin makes the folder of the tree in the repository. Its name is written down before it is used.
func (t *Tree) makeAdmin(root *os.Root) error {
	if err := root.Mkdir("worktrees", 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	for i := range nameTries {
		t.Admin = "lathe-" + t.Name
		if i > 0 {
			t.Admin += fmt.Sprintf("-%d", i)
		}
		if _, err := root.Lstat("worktrees/" + t.Admin); err == nil {
			continue
		}
		if err := t.save(); err != nil {
			return err
		}
		t.root.step("admin mkdir")
		if err := root.Mkdir("worktrees/"+t.Admin, 0o755); !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return fmt.Errorf("no name is left in %s", filepath.Join(t.Common, "worktrees"))
}

// makeBranch makes the branch with git's own lock. Before the first commit there is none to make.
func (t *Tree) makeBranch(root *os.Root) error {
	if t.Head == "" {
		return nil
	}
	ref := "refs/heads/" + t.Branch
	if err := root.MkdirAll(path.Dir(ref), 0o755); err != nil {
		return err
	}
	t.root.step("branch lock")
	if err := writeNew(root, ref+".lock", t.Head+"\n"); err != nil {
		return err
	}
	if _, err := root.Lstat(ref); err == nil {
		return errors.Join(fmt.Errorf("the branch %s was just made by another program", t.Branch), root.Remove(ref+".lock"))
	}
	t.root.step("branch")
	return root.Rename(ref+".lock", ref)
}

// writeNew writes a file that must not exist yet.
func writeNew(root *os.Root, name, text string) error {
	if dir := path.Dir(name); dir != "." {
		if err := root.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	f, err := root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// sparseFiles are the patterns of a sparse checkout, and the settings that switch it on for one work tree.
// Nothing else of a config is taken.
func (r *repository) sparseFiles() (out [][2]string) {
	if text, err := gitobj.ReadFile(filepath.Join(r.own, "info", "sparse-checkout"), 1<<20); err == nil {
		out = append(out, [2]string{"info/sparse-checkout", string(text)})
	}
	own, err := gitobj.ReadConfig(filepath.Join(r.own, "config.worktree"))
	if err != nil || !strings.EqualFold(r.config.Last("extensions.worktreeconfig"), "true") {
		return out
	}
	text := ""
	for _, key := range [...][2]string{{"core.sparsecheckout", "core]\n\tsparseCheckout"}, {"core.sparsecheckoutcone", "core]\n\tsparseCheckoutCone"}, {"index.sparse", "index]\n\tsparse"}} {
		if v := strings.ToLower(own.Last(key[0])); v == "true" || v == "false" {
			text += "[" + key[1] + " = " + v + "\n"
		}
	}
	if text != "" {
		out = append(out, [2]string{"config.worktree", text})
	}
	return out
}

// detach removes the tree's folder in the repository, then its branch. A branch that has commits of its own
// stays, unless the drop was forced: see [Tree.Drop].
func (t *Tree) detach() error {
	root, err := os.OpenRoot(t.Common)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // the repository is gone
	}
	if err != nil {
		return err
	}
	defer root.Close()
	t.root.step("detach admin")
	if t.Admin != "" && filepath.IsLocal(t.Admin) && t.owns(root) {
		if err := root.RemoveAll("worktrees/" + t.Admin); err != nil {
			return err
		}
		_ = root.Remove("worktrees") // git removes it with the last one too
	}
	return t.removeBranch(root)
}

// owns reports whether a folder in the repository is that of this tree: it names the tree, or was being made.
func (t *Tree) owns(root *os.Root) bool {
	data, err := root.ReadFile("worktrees/" + t.Admin + "/gitdir")
	if errors.Is(err, fs.ErrNotExist) {
		return t.State == Creating || t.State == Dropping
	}
	named, own := filepath.FromSlash(strings.TrimSpace(string(data))), filepath.Join(t.Path, ".git")
	if t.State == Creating { // a kill may have left a part of the name
		return err == nil && strings.HasPrefix(own, named)
	}
	return err == nil && named == own
}

// removeBranch removes the branch if it is where it was made.
func (t *Tree) removeBranch(root *os.Root) error {
	if t.Branch == "" || !strings.HasPrefix(t.Branch, "lathe") {
		return nil
	}
	ref := "refs/heads/" + t.Branch
	t.root.step("remove branch")
	if t.State == Creating {
		_ = root.Remove(ref + ".lock") // there may be none
	}
	tip, err := root.ReadFile(ref)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if id := strings.TrimSpace(string(tip)); id != t.Head {
		return nil // it has commits
	}
	if err := root.Remove(ref); err != nil {
		return err
	}
	_ = root.Remove("logs/" + ref) // git may have written one
	_ = root.Remove("refs/heads/lathe")
	return nil
}

// Tip is the commit of the tree's branch; "" without git or before the first commit.
func (t *Tree) Tip() string {
	if t.Common == "" || t.Branch == "" {
		return ""
	}
	data, err := gitobj.ReadFile(filepath.Join(t.Common, "refs", "heads", filepath.FromSlash(t.Branch)), 1<<10)
	if err == nil {
		return strings.TrimSpace(string(data))
	}
	repo, err := gitobj.Open(filepath.Join(t.Common, "worktrees", t.Admin), t.Common)
	if err != nil {
		return ""
	}
	defer repo.Close()
	refs, _ := repo.Refs(context.Background()) // damaged ones are left out
	i := slices.IndexFunc(refs, func(r gitobj.Ref) bool { return r.Name == "refs/heads/"+t.Branch })
	if i < 0 {
		return ""
	}
	return refs[i].ID.String()
}
