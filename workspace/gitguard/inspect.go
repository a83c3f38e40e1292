package gitguard

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/lathe-agent/lathe/internal/gitobj"
	"github.com/lathe-agent/lathe/workspace"
)

// Finding is something that git would execute or obey and that a command made.
type Finding struct {
	Path string
	Why  string // a description
	Err  error  // it could not be taken away
}

// String says it for people.
func (f Finding) String() string {
	if f.Err != nil {
		return fmt.Sprintf("%s: %s; it could not be moved aside: %v", f.Path, f.Why, f.Err)
	}
	return fmt.Sprintf("%s: %s", f.Path, f.Why)
}

// inspector looks at repositories that a command made or changed.
type inspector struct {
	root   string // the project
	common string // the repository of the project; "" means none
	trees  string // where lathe makes work trees for sessions, which may appear at any time; "" means nowhere
	aside  func(path string) error
	found  []Finding
}

func (x *inspector) take(path, why string) {
	x.found = append(x.found, Finding{Path: path, Why: why, Err: x.aside(path)})
}

// inside reports whether a path lies in the project or in its repository, with all links followed.
func (x *inspector) inside(path string) bool {
	real, err := filepath.EvalSymlinks(path)
	return err == nil && (within(x.root, real) || x.common != "" && within(x.common, real))
}

func within(folder, path string) bool {
	return folder == path || strings.HasPrefix(path, folder+string(filepath.Separator))
}

// repository inspects a .git, which may be a folder, a file that names one, or a link.
func (x *inspector) repository(path string) {
	info, err := os.Lstat(path)
	if err != nil {
		return
	}
	dir := path
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		if dir, err = filepath.EvalSymlinks(path); err != nil || !x.inside(dir) {
			x.take(path, "a link to a repository outside of the project")
			return
		}
	case info.Mode().IsRegular():
		data, err := readRegular(path)
		named, ok := strings.CutPrefix(strings.TrimRight(string(data), "\r\n"), "gitdir: ")
		if err != nil || !ok {
			return // no git reads it
		}
		if dir = named; !filepath.IsAbs(dir) {
			dir = filepath.Join(filepath.Dir(path), dir)
		}
		if _, err := os.Lstat(dir); err != nil {
			return // it leads nowhere; what is made there is found
		}
		if !x.inside(dir) {
			x.take(path, "it names a repository outside of the project")
			return
		}
		if x.common != "" && within(x.common, dir) {
			return // linked work trees and submodules are looked at there
		}
	}
	x.folder(dir, "")
}

// folder inspects the folder of a repository. Work is where its files may lie, "" beside it.
func (x *inspector) folder(dir, work string) {
	for _, name := range []string{"config", "config.worktree"} {
		x.config(filepath.Join(dir, name), dir, work)
	}
	if line := ReadLine(filepath.Join(dir, "commondir")); line != "" && line != "." {
		x.take(filepath.Join(dir, "commondir"), "it has git take its configuration from elsewhere")
	}
	x.hooks(filepath.Join(dir, "hooks"))
}

// config takes a configuration file away that says more than git writes into new ones.
func (x *inspector) config(file, dir, work string) {
	data, err := readConfig(file)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	lines, parseErr := gitobj.ConfigLines(data)
	if err != nil || parseErr != nil {
		x.take(file, "a configuration that cannot be checked")
		return
	}
	var bad []string
	for _, l := range lines {
		if !l.Header && !x.plain(l.Key, valueOf(l), dir, work) {
			bad = append(bad, l.Key)
		}
	}
	if len(bad) > 0 {
		x.take(file, "it sets "+strings.Join(bad[:min(len(bad), 10)], ", "))
	}
}

func (x *inspector) plain(key, value, dir, work string) bool {
	if key == "core.worktree" {
		if !filepath.IsAbs(value) {
			value = filepath.Join(dir, value)
		}
		return work != "" && within(work, filepath.Clean(value)) && (x.inside(value) || !exists(value))
	}
	return fits(plainCore()[key], value) || allowed(key, value)
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// hooks takes away all hooks; the samples that come with git are none.
func (x *inspector) hooks(dir string) {
	info, err := os.Lstat(dir)
	if err != nil {
		return
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		x.take(dir, "a link in place of the folder of hooks")
		return
	}
	entries, _ := os.ReadDir(dir) // an unreadable directory cannot be run either
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".sample") || strings.Contains(e.Name(), ".refused-") {
			continue
		}
		info, err := e.Info()
		if err == nil && (info.Mode()&fs.ModeSymlink != 0 || info.Mode().IsRegular() && info.Mode()&0o111 != 0) {
			x.take(filepath.Join(dir, e.Name()), "a hook, which git runs")
		}
	}
}

// inspectLinked inspects the folder that a repository has for a linked work tree.
func (x *inspector) inspectLinked(dir string) {
	tree, common := ReadLine(filepath.Join(dir, "gitdir")), ReadLine(filepath.Join(dir, "commondir"))
	if tree == "" && common == "" {
		return // git does not take it for one
	}
	if !filepath.IsAbs(tree) {
		tree = filepath.Join(dir, tree)
	}
	own := x.trees != "" && workspace.IsTreeAdmin(x.trees, filepath.Dir(tree), dir)
	if !own && !x.inside(filepath.Dir(tree)) && exists(filepath.Dir(tree)) {
		x.take(dir, "a linked work tree outside of the project")
		return
	}
	if filepath.Clean(filepath.Join(dir, common)) != filepath.Dir(filepath.Dir(dir)) {
		x.take(dir, "a linked work tree of another repository")
		return
	}
	x.config(filepath.Join(dir, "config.worktree"), dir, "")
	x.config(filepath.Join(dir, "config"), dir, "")
}

// ReadLine returns the line of a one-line git file; "" if it is not one.
func ReadLine(path string) string {
	data, err := readRegular(path)
	if err != nil || len(data) > 8<<10 {
		return ""
	}
	return strings.TrimRight(string(data), "\r\n")
}
