package gitobj

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
)

const (
	maxTreeFiles = 1 << 19 // files of a commit
	maxTrees     = 1 << 19 // folders that are read for it
	maxTreeDepth = 200
)

// The modes of files in a tree.
const (
	ModeFile    = 0o100644
	ModeExec    = 0o100755
	ModeLink    = 0o120000
	ModeGitlink = 0o160000 // a commit of another repository
	modeFolder  = 0o040000
)

// TreeFile is a file of a commit.
type TreeFile struct {
	Path string // from the top, with slashes; it leads nowhere else and into no .git
	Mode uint32
	ID   ID // of its content
}

// Files lists the files of a commit, or of the commit that a tag is put on, folder by folder.
func (r *Repo) Files(ctx context.Context, id ID) ([]TreeFile, error) {
	for range maxPeel {
		kind, data, err := r.Object(id)
		if err != nil {
			return nil, err
		}
		switch kind {
		case CommitKind:
			tree, _, ok := cutID(data, "tree ", r.hash)
			if !ok {
				return nil, corrupt("a commit has no tree")
			}
			w := &treeWalk{repo: r}
			if err := w.folder(ctx, tree, "", 0); err != nil {
				return nil, fmt.Errorf("read the files of %s: %w", id, err)
			}
			return w.files, nil
		case TagKind:
			if id, err = parseTag(data, r.hash); err != nil {
				return nil, err
			}
		default:
			return nil, corrupt("%s is a %s and no commit", id, kind)
		}
	}
	return nil, fmt.Errorf("a tag on more than %d tags: %w", maxPeel, ErrLimit)
}

// treeWalk collects files.
type treeWalk struct {
	repo  *Repo
	files []TreeFile
	trees int
}

// folder adds the files of a tree and of those in it.
func (w *treeWalk) folder(ctx context.Context, id ID, prefix string, depth int) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	if w.trees++; w.trees > maxTrees || depth > maxTreeDepth {
		return fmt.Errorf("too many folders: %w", ErrLimit)
	}
	kind, data, err := w.repo.Object(id)
	if err != nil {
		return err
	}
	if kind != TreeKind {
		return corrupt("%s is a %s and no tree", id, kind)
	}
	seen := map[string]bool{} // a name twice could be a link first, and then a folder behind it
	for len(data) > 0 {
		f, rest, err := cutEntry(data, w.repo.hash)
		if err != nil {
			return err
		}
		data = rest
		if seen[f.Path] || !safePath(prefix+f.Path, 0) || bytes.ContainsRune([]byte(f.Path), '/') {
			return corrupt("a tree has the name %.200q", f.Path)
		}
		seen[f.Path] = true
		if f.Path = prefix + f.Path; f.Mode == modeFolder {
			if err := w.folder(ctx, f.ID, f.Path+"/", depth+1); err != nil {
				return err
			}
			continue
		}
		if w.files = append(w.files, f); len(w.files) > maxTreeFiles {
			return fmt.Errorf("more than %d files: %w", maxTreeFiles, ErrLimit)
		}
	}
	return nil
}

// cutEntry takes an entry off the front of a tree: a mode, a name and an id.
func cutEntry(data []byte, hash int) (f TreeFile, rest []byte, err error) {
	head, rest, ok := bytes.Cut(data, []byte{0})
	mode, name, fine := bytes.Cut(head, []byte(" "))
	n, err := strconv.ParseUint(string(mode), 8, 32)
	if !ok || !fine || err != nil || len(rest) < hash || len(name) == 0 {
		return f, nil, corrupt("a tree has a damaged entry")
	}
	return TreeFile{Path: string(name), Mode: uint32(n), ID: rawID(rest[:hash])}, rest[hash:], nil
}
