package worktree

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/lathe-agent/lathe/internal/filestat"
	"github.com/lathe-agent/lathe/internal/gitobj"
	"github.com/lathe-agent/lathe/workspace/search"
)

// scanner lists the files of a tree: those of its base, and all others that are not ignored.
type scanner struct {
	ctx     context.Context
	top     string
	base    map[string]File
	folders map[string]bool // that the base has files in
	tracked map[string]bool // that the tree added to git although they are ignored
	links   map[string]bool
	long    bool
	out     map[string]File
}

// scan lists the files of the tree now. A file with the stat of its copy is not read.
func (t *Tree) scan(ctx context.Context, base map[string]File) (map[string]File, error) {
	root, err := os.OpenRoot(t.Path)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	s := &scanner{ctx: ctx, top: filepath.ToSlash(t.Path), base: base, folders: map[string]bool{}, tracked: map[string]bool{}, links: map[string]bool{}, out: make(map[string]File, len(base))}
	for name := range base {
		s.addFolders(name)
	}
	for _, l := range t.Links {
		s.links[l.Path] = true
	}
	if t.Common != "" {
		if repo, err := gitobj.Open(filepath.Join(t.Common, "worktrees", t.Admin), t.Common); err == nil {
			s.long = !repo.SHA1()
			list, _ := repo.Index() // a damaged one only hides files that are ignored
			for _, e := range list {
				s.tracked[e.Path] = true
				s.addFolders(e.Path)
			}
			_ = repo.Close() // it was only read
		}
	}
	excludes := ""
	if t.root.Excludes != nil {
		excludes = t.root.Excludes()
	}
	return s.out, s.dir(root, "", search.NewGitRules(t.Path, excludes), 0)
}

// addFolders makes folders of known files known, so that ignore rules do not hide them.
func (s *scanner) addFolders(name string) {
	for dir := path.Dir(name); dir != "." && !s.folders[dir]; dir = path.Dir(dir) {
		s.folders[dir] = true
	}
}

// dir lists a directory and all below it.
func (s *scanner) dir(root *os.Root, at string, rules *search.GitRules, depth int) error {
	if s.ctx.Err() != nil {
		return context.Cause(s.ctx)
	}
	entries, err := readNames(root)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Name() == search.GitIgnoreFile && e.Type().IsRegular() {
			if text, err := readSmall(root, e.Name()); err == nil {
				rules = rules.Enter(path.Join(s.top, at), text)
			}
		}
	}
	for _, e := range entries {
		name := path.Join(at, e.Name())
		if strings.EqualFold(e.Name(), ".git") || s.links[name] {
			continue
		}
		_, inBase := s.base[name]
		known := inBase || s.tracked[name] || s.folders[name]
		if !known && rules.Ignores(path.Join(s.top, at), e.Name(), e.IsDir()) {
			continue
		}
		if !e.IsDir() {
			err = s.file(root, e, name)
		} else if depth < maxDepth {
			err = s.below(root, e.Name(), name, rules, depth)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// below lists a folder, unless it is a repository of its own.
func (s *scanner) below(root *os.Root, base, name string, rules *search.GitRules, depth int) error {
	in, err := root.OpenRoot(base)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return nil
	}
	if err != nil {
		return err
	}
	defer in.Close()
	if _, err := in.Lstat(".git"); err == nil && !s.folders[name] {
		return nil // a repository that the agent made
	}
	return s.dir(in, name, rules, depth+1)
}

// file reads a file if its stat says that it may have changed.
func (s *scanner) file(root *os.Root, e fs.DirEntry, name string) error {
	info, err := root.Lstat(e.Name())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() && info.Mode()&fs.ModeSymlink == 0 {
		return nil
	}
	f := File{Path: name, Mode: modeFile, stat: filestat.Of(info)}
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		f.Mode = modeLink
	case info.Mode()&0o100 != 0:
		f.Mode = modeExec
	}
	was := s.base[name]
	if now := f.stat; was.Mode == f.Mode && was.ID != "" && was.stat == (filestat.Stat{Size: now.Size, Mtime: now.Mtime, Ctime: now.Ctime, Inode: now.Inode}) {
		s.out[name] = was
		return nil
	}
	if info.Size() > maxFile {
		s.out[name] = f // without an id it differs from every other
		return nil
	}
	data, _, err := readAt(root, e.Name())
	if err != nil {
		if errors.Is(err, fs.ErrPermission) {
			s.out[name] = f
			return nil
		}
		return err
	}
	f.ID = hashBlob(s.long, data)
	s.out[name] = f
	return nil
}
