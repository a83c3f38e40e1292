package worktree

import (
	"bytes"
	"compress/zlib"
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/internal/gitobj"
)

// A commit needs blobs, trees, the commit object and a ref. All are written as loose objects, which every version of git
// reads. Objects come first and the ref last: a kill in between leaves objects that nothing refers to, and git collects
// those. The ref moves under git's own lock file, so that a git process at the same time waits or fails, and neither
// loses a commit of the other.
//
// Files whose content in the repository differs from that on disk (filters, line endings) cannot be committed without
// running the project's filters. Such a repository is refused, with the command that does it.

// gitEntry is a file of a commit.
type gitEntry struct {
	mode uint32
	id   string
	file *File // in the tree; nil if it is not checked out
}

// committer writes commits for a tree without running git, so that no hook or filter runs.
type committer struct {
	tree  *Tree
	repo  *gitobj.Repo
	root  *os.Root // the repository's folder
	long  bool
	index []gitobj.IndexEntry
}

// Commit commits the state of the tree to its branch and returns the commit, "" if nothing changed. What was not
// committed in the checkout when the tree was made becomes a commit of its own.
func (t *Tree) Commit(ctx context.Context, message string) (string, error) {
	if t.Common == "" {
		return "", lathe.Errorf(lathe.Invalid, "worktree %s is a plain copy without git; merge it without --branch", t.Name)
	}
	release, err := t.Hold()
	if err != nil {
		return "", err
	}
	defer release()
	own := filepath.Join(t.Common, "worktrees", t.Admin)
	repo, err := gitobj.Open(own, t.Common)
	if err != nil {
		return "", err
	}
	defer repo.Close()
	root, err := os.OpenRoot(t.Common)
	if err != nil {
		return "", err
	}
	defer root.Close()
	index, err := repo.Index()
	if err != nil {
		return "", err
	}
	if !repo.StoresExactly(index) {
		return "", lathe.Errorf(lathe.Invalid, "this repository converts files (filters or line endings), which only git does; run `git -C %s commit` yourself", t.Path)
	}
	c := &committer{tree: t, repo: repo, root: root, long: !repo.SHA1(), index: index}
	return c.run(ctx, message)
}

// run writes objects first, then moves the branch: a kill in between leaves objects that git collects.
func (c *committer) run(ctx context.Context, message string) (string, error) {
	t := c.tree
	base, err := readBase(t.file(baseFile))
	if err != nil {
		return "", err
	}
	tip := t.Tip()
	old, err := c.committed(tip)
	if err != nil {
		return "", err
	}
	now, err := t.scan(ctx, base)
	if err != nil {
		return "", err
	}
	parent := tip
	if start := c.state(old, base); tip == t.Head && t.Merged.IsZero() && !sameEntries(old, start) && c.keepBase(start) == nil {
		if parent, err = c.commit(start, parent, "Uncommitted changes at the start of worktree "+t.Name); err != nil {
			return "", err
		}
		old = start
	}
	next := c.state(old, now)
	if sameEntries(old, next) {
		if parent == tip {
			return "", nil
		}
	} else {
		if err := c.keepFiles(next); err != nil {
			return "", err
		}
		if parent, err = c.commit(next, parent, cmpOr(message, "Changes of worktree "+t.Name)); err != nil {
			return "", err
		}
	}
	return parent, c.move(tip, parent, next)
}

// committed lists the files of a commit.
func (c *committer) committed(commit string) (map[string]gitEntry, error) {
	out := map[string]gitEntry{}
	if commit == "" {
		return out, nil
	}
	id, err := gitobj.ParseID(commit)
	if err != nil {
		return nil, err
	}
	kind, data, err := c.repo.Object(id)
	line, _, _ := bytes.Cut(data, []byte("\n"))
	tree, ok := strings.CutPrefix(string(line), "tree ")
	if err != nil || kind != gitobj.CommitKind || !ok {
		return nil, errors.Join(err, fmt.Errorf("%s is not a commit", commit))
	}
	return out, c.list(tree, "", out, 0)
}

// list adds the files of a tree object, with those of trees in it.
func (c *committer) list(tree, prefix string, out map[string]gitEntry, depth int) error {
	id, err := gitobj.ParseID(tree)
	if err != nil || depth > maxDepth {
		return errors.Join(err, errors.New("a tree cannot be read"))
	}
	_, data, err := c.repo.Object(id)
	if err != nil {
		return err
	}
	size := newHash(c.long).Size()
	for len(data) > 0 {
		space, zero := bytes.IndexByte(data, ' '), bytes.IndexByte(data, 0)
		if space < 0 || zero < space || len(data) < zero+1+size {
			return errors.New("a tree of the repository is damaged")
		}
		mode, err := strconv.ParseUint(string(data[:space]), 8, 32)
		if err != nil {
			return err
		}
		name, sum := prefix+string(data[space+1:zero]), hex.EncodeToString(data[zero+1:zero+1+size])
		data = data[zero+1+size:]
		if mode == 0o040000 {
			if err := c.list(sum, name+"/", out, depth+1); err != nil {
				return err
			}
			continue
		}
		out[name] = gitEntry{mode: uint32(mode), id: sum}
	}
	return nil
}

// state is the next commit for a state of the tree. Submodules and files that a sparse checkout leaves out stay as
// they were committed.
func (c *committer) state(old map[string]gitEntry, files map[string]File) map[string]gitEntry {
	out := map[string]gitEntry{}
	kept := map[string]bool{}
	for _, e := range c.index {
		if e.Skip || strings.HasSuffix(e.Path, "/") {
			kept[e.Path] = true
		}
	}
	var modules []string
	for name, e := range old {
		sparse := kept[name]
		for i := range len(name) {
			sparse = sparse || name[i] == '/' && kept[name[:i+1]]
		}
		if e.mode == modeRepo {
			modules = append(modules, name+"/")
		}
		if _, there := files[name]; e.mode == modeRepo || sparse && !there {
			out[name] = e
		}
	}
	for name, f := range files {
		if !slices.ContainsFunc(modules, func(m string) bool { return strings.HasPrefix(name, m) }) && f.ID != "" {
			out[name] = gitEntry{mode: f.Mode, id: f.ID, file: &f}
		}
	}
	return out
}

// sameEntries compares what would be committed.
func sameEntries(a, b map[string]gitEntry) bool {
	return maps.EqualFunc(a, b, func(x, y gitEntry) bool { return x.mode == y.mode && x.id == y.id })
}

// keepBase writes the contents at the start that the repository does not have.
func (c *committer) keepBase(entries map[string]gitEntry) error {
	for _, e := range entries {
		if e.mode == modeRepo || c.has(e.id) {
			continue
		}
		data, err := findContent(c.tree.file(contentsFile), e.id)
		if err != nil {
			return err
		}
		if _, err := c.write("blob", data); err != nil {
			return err
		}
	}
	return nil
}

// keepFiles writes the contents of the tree that the repository does not have.
func (c *committer) keepFiles(entries map[string]gitEntry) error {
	root, err := os.OpenRoot(c.tree.Path)
	if err != nil {
		return err
	}
	defer root.Close()
	for name, e := range entries {
		if e.file == nil || c.has(e.id) {
			continue
		}
		data, _, err := readAt(root, name)
		if err != nil {
			return err
		}
		if id, err := c.write("blob", data); err != nil || id != e.id {
			return errors.Join(err, lathe.Errorf(lathe.Conflict, "%s changed just now; commit again", name))
		}
	}
	return nil
}

// has reports whether an object exists in the repository or its alternates.
func (c *committer) has(id string) bool {
	parsed, err := gitobj.ParseID(id)
	return err == nil && c.repo.Has(parsed)
}

// write writes a loose object.
func (c *committer) write(kind string, data []byte) (string, error) {
	text := append([]byte(kind+" "+strconv.Itoa(len(data))+"\x00"), data...)
	h := newHash(c.long)
	h.Write(text)
	id := hex.EncodeToString(h.Sum(nil))
	name := "objects/" + id[:2] + "/" + id[2:]
	if _, err := c.root.Lstat(name); err == nil || c.has(id) {
		return id, nil
	}
	var packed bytes.Buffer
	w := zlib.NewWriter(&packed)
	_, _ = w.Write(text) // a buffer takes everything
	_ = w.Close()
	temp := "objects/" + id[:2] + "/tmp_obj_lathe_" + id[2:12]
	_ = c.root.Remove(temp) // of a killed process
	c.tree.root.step("object")
	if err := writeNew(c.root, temp, packed.String()); err != nil {
		return "", err
	}
	return id, errors.Join(c.root.Chmod(temp, 0o444), c.root.Rename(temp, name))
}

// commit writes the trees and the commit of a state.
func (c *committer) commit(entries map[string]gitEntry, parent, message string) (string, error) {
	tree, err := c.writeTree(slices.Sorted(maps.Keys(entries)), entries, "")
	if err != nil {
		return "", err
	}
	config, _ := c.repo.Config() // without a name lathe is the author
	clean := func(s, other string) string {
		return cmpOr(strings.TrimSpace(strings.Map(func(r rune) rune {
			if r < ' ' || r == '<' || r == '>' {
				return -1
			}
			return r
		}, s)), other)
	}
	who := fmt.Sprintf("%s <%s> %d +0000", clean(config.Last("user.name"), "lathe"), clean(config.Last("user.email"), "lathe@localhost"), c.tree.root.now().Unix())
	text := "tree " + tree + "\n"
	if parent != "" {
		text += "parent " + parent + "\n"
	}
	return c.write("commit", []byte(text+"author "+who+"\ncommitter "+who+"\n\n"+strings.TrimSpace(message)+"\n"))
}

// writeTree writes the tree of the sorted names below a prefix.
func (c *committer) writeTree(names []string, entries map[string]gitEntry, prefix string) (string, error) {
	type line struct{ key, text string }
	var lines []line
	for len(names) > 0 {
		name, _, isDir := strings.Cut(names[0][len(prefix):], "/")
		n, mode, id, key := 1, uint32(0o040000), "", name+"/"
		if isDir {
			for n < len(names) && strings.HasPrefix(names[n], prefix+name+"/") {
				n++
			}
			var err error
			if id, err = c.writeTree(names[:n], entries, prefix+name+"/"); err != nil {
				return "", err
			}
		} else {
			e := entries[names[0]]
			mode, id, key = e.mode, e.id, name
		}
		raw, err := hex.DecodeString(id)
		if err != nil {
			return "", err
		}
		lines = append(lines, line{key, strconv.FormatUint(uint64(mode), 8) + " " + name + "\x00" + string(raw)})
		names = names[n:]
	}
	slices.SortFunc(lines, func(a, b line) int { return strings.Compare(a.key, b.key) })
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(l.text)
	}
	return c.write("tree", []byte(b.String()))
}

// move moves the branch with git's own lock, then the index of the tree.
func (c *committer) move(from, to string, entries map[string]gitEntry) error {
	ref := "refs/heads/" + c.tree.Branch
	if err := writeNew(c.root, ref+".lock", to+"\n"); err != nil {
		return lathe.Errorf(lathe.Conflict, "the branch %s is locked: %w", c.tree.Branch, err)
	}
	if now := c.tree.Tip(); now != from {
		return errors.Join(lathe.Errorf(lathe.Conflict, "the branch %s moved just now; try again", c.tree.Branch), c.root.Remove(ref+".lock"))
	}
	c.tree.root.step("move branch")
	if err := c.root.Rename(ref+".lock", ref); err != nil {
		return err
	}
	index := "worktrees/" + c.tree.Admin + "/index"
	if err := writeNew(c.root, index+".lock", string(c.newIndex(entries))); err != nil {
		if errors.Is(err, fs.ErrExist) {
			return nil // git is at work there, and `git reset` brings the index up to date
		}
		return err
	}
	return c.root.Rename(index+".lock", index)
}

// newIndex is the index for a commit.
func (c *committer) newIndex(entries map[string]gitEntry) []byte {
	b := []byte("DIRC\x00\x00\x00\x03")
	b = binary.BigEndian.AppendUint32(b, uint32(len(entries)))
	for _, name := range slices.Sorted(maps.Keys(entries)) {
		e, start := entries[name], len(b)
		b = append(b, make([]byte, 40)...)
		if e.file != nil {
			patchStat(b[start:], e.file)
		}
		binary.BigEndian.PutUint32(b[start+24:], e.mode)
		raw, _ := hex.DecodeString(e.id) // it was encoded here
		b = append(b, raw...)
		flags := uint16(min(len(name), 0xfff))
		if e.file == nil && e.mode != modeRepo { // left out on purpose
			b = binary.BigEndian.AppendUint16(b, flags|0x4000)
			b = binary.BigEndian.AppendUint16(b, 0x4000)
		} else {
			b = binary.BigEndian.AppendUint16(b, flags)
		}
		b = append(b, name...)
		b = append(b, make([]byte, 8-(len(b)-start)%8)...)
	}
	h := newHash(c.long)
	h.Write(b)
	return h.Sum(b)
}
