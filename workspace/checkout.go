package workspace

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/internal/gitobj"
)

const (
	maxPointer = 8 << 10 // bytes of a file that holds one path, one ref or one id
	maxID      = 128     // characters of an id another program left
)

// checkout is a working tree and the repository behind it. All paths are real.
type checkout struct {
	top    string // the directory that holds .git
	gitDir string // files of this checkout alone
	common string // files that all checkouts of the repository share; often the same
	config gitobj.Config
}

// findCheckout walks up from dir to the nearest .git that is a repository. One that
// is not (half deleted, an orphaned worktree, another program's folder) is passed as
// if it were not there, because the directory must open all the same.
func findCheckout(dir string) (checkout, bool) {
	isolated := IsolatedTop(dir)
	for {
		if c, ok := readCheckout(dir); ok {
			return c, true
		}
		parent := filepath.Dir(dir)
		if parent == dir || dir == isolated {
			return checkout{}, false
		}
		dir = parent
	}
}

const (
	// TreesSuffix ends the name of the folder for trees that lathe makes for sessions.
	TreesSuffix = "-worktrees"
	// TreesMeta is the folder in each project of it that has the facts of its trees.
	TreesMeta = ".lathe"
	// TreeRecord is the file with the facts of a tree.
	TreeRecord = "record.json"
)

// IsolatedTop returns the top of the tree that lathe made for one session (package workspace/worktree) and that
// holds a real path; "" if it is in none. Whoever imitates one gets less: a tree only narrows what is in reach.
func IsolatedTop(path string) string {
	if !strings.Contains(path, TreesSuffix+string(filepath.Separator)) { // nearly always
		return ""
	}
	for dir := path; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		project := filepath.Dir(dir)
		if !strings.HasSuffix(filepath.Dir(project), TreesSuffix) {
			continue
		}
		if info, err := os.Lstat(filepath.Join(project, TreesMeta, filepath.Base(dir), TreeRecord)); err == nil && info.Mode().IsRegular() {
			return dir
		}
	}
	return ""
}

// IsTreeAdmin reports whether a folder in a repository is that of a tree that lathe made below root. The record of the
// tree says so, which no command can write.
func IsTreeAdmin(root, tree, admin string) bool {
	top := IsolatedTop(realPath(tree))
	if top == "" || top != realPath(tree) || filepath.Dir(filepath.Dir(top)) != realPath(root) {
		return false
	}
	data, err := gitobj.ReadFile(filepath.Join(filepath.Dir(top), TreesMeta, filepath.Base(top), TreeRecord), 1<<20)
	var record struct{ Common, Admin string }
	return err == nil && json.Unmarshal(data, &record) == nil && record.Admin != "" &&
		filepath.Join(record.Common, "worktrees", record.Admin) == realPath(admin)
}

// readCheckout reads the repository whose .git lies in top. It checks for the same files as
// git, so that the two agree.
func readCheckout(top string) (checkout, bool) {
	entry := filepath.Join(top, ".git")
	info, err := os.Stat(entry)
	if err != nil {
		return checkout{}, false
	}
	c := checkout{top: top, gitDir: entry}
	if !info.IsDir() { // a linked worktree or a submodule
		if c.gitDir, err = readPointer(entry, "gitdir: ", top); err != nil {
			return checkout{}, false
		}
	}
	// A relative commondir starts at the physical directory.
	c.gitDir = realPath(c.gitDir)
	c.common = c.gitDir
	switch common, err := readPointer(filepath.Join(c.gitDir, "commondir"), "", c.gitDir); {
	case err == nil:
		c.common = realPath(common)
	case !errors.Is(err, fs.ErrNotExist):
		return checkout{}, false
	}
	if !hasHead(c.gitDir) || !isDir(filepath.Join(c.common, "objects")) || !isDir(filepath.Join(c.common, "refs")) {
		return checkout{}, false
	}
	c.config, err = gitobj.ReadConfig(filepath.Join(c.common, "config"))
	return c, err == nil
}

// mainDir is the checkout the repository was made with. For a linked worktree that is
// the directory around the common .git; a submodule keeps its git directory elsewhere
// and says in core.worktree where its files are; any other repository, a bare one
// above all, stands for itself.
//
// The top of a checkout is never taken from core.worktree: a hostile configuration
// could name "/" there and put everything inside the project.
func (c checkout) mainDir() string {
	if c.common == c.gitDir {
		return c.top
	}
	if filepath.Base(c.common) == ".git" {
		return filepath.Dir(c.common)
	}
	if path, err := resolve(c.config.Last("core.worktree"), c.common); err == nil && isDir(path) {
		return realPath(path)
	}
	return c.common
}

// cachedID reads the id that OpenCode keeps in the repository. It is checked as any foreign
// text: ids name directories of lathe, so it must not lead out of one.
func cachedID(common string) string {
	data, err := gitobj.ReadFile(filepath.Join(common, "opencode"), maxPointer)
	if err != nil {
		return ""
	}
	id := strings.TrimSpace(string(data))
	bad := func(r rune) bool { return !unicode.IsPrint(r) || r == '/' || r == '\\' }
	switch {
	case id == "" || id == "." || id == ".." || id == lathe.GlobalProject:
		return ""
	case !utf8.ValidString(id) || utf8.RuneCountInString(id) > maxID || strings.ContainsFunc(id, bad):
		return ""
	}
	return id
}

// hasHead says whether dir has a HEAD as git writes it. A detached one is an object
// id; very old repositories have a symlink, which dangles before the first commit.
func hasHead(dir string) bool {
	path := filepath.Join(dir, "HEAD")
	if target, err := os.Readlink(path); err == nil && strings.HasPrefix(filepath.ToSlash(target), "refs/") {
		return true
	}
	data, err := gitobj.ReadFile(path, maxPointer)
	if err != nil {
		return false
	}
	head := strings.TrimRight(string(data), "\r\n\t ")
	if ref, ok := strings.CutPrefix(head, "ref:"); ok {
		return strings.HasPrefix(strings.TrimLeft(ref, " \t"), "refs/")
	}
	return isObjectID(head)
}

// readPointer reads a file that holds a path after prefix, and resolves it from dir.
func readPointer(file, prefix, dir string) (string, error) {
	data, err := gitobj.ReadFile(file, maxPointer)
	if err != nil {
		return "", err
	}
	path, ok := strings.CutPrefix(string(data), prefix)
	if !ok {
		return "", errPointer
	}
	return resolve(strings.TrimRight(path, "\r\n"), dir)
}

// resolve makes a path that git wrote absolute. A network share is refused unless dir
// is on it: merely looking at a share sends the user's credentials there.
func resolve(path, dir string) (string, error) {
	path = filepath.FromSlash(path)
	if path == "" || strings.ContainsRune(path, 0) {
		return "", errPointer
	}
	volume := filepath.VolumeName(path)
	if strings.HasPrefix(volume, `\\`) && !strings.EqualFold(volume, filepath.VolumeName(dir)) {
		return "", errPointer
	}
	if filepath.IsAbs(path) {
		return filepath.Clean(path), nil
	}
	return filepath.Join(dir, path), nil
}

var errPointer = errors.New("holds no usable path")

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// GitDirs returns where the repository of the place keeps what belongs to this checkout alone
// and what all its checkouts share. It reports false without git.
func (p Place) GitDirs() (own, common string, ok bool) {
	if p.VCS != "git" {
		return "", "", false
	}
	c, ok := readCheckout(p.Sandbox)
	return c.gitDir, c.common, ok
}

// mostTrees is how many linked work trees are looked at.
const mostTrees = 100

// Worktrees returns the other work trees of the repository whose checkout has its top here, by real
// paths: those that the repository knows, and that name it back. Isolated ones are left out.
func Worktrees(top string) (out []string) {
	c, ok := readCheckout(top)
	if !ok {
		return nil
	}
	entries, _ := os.ReadDir(filepath.Join(c.common, "worktrees")) // there may be none
	for _, e := range entries[:min(len(entries), mostTrees)] {
		own := filepath.Join(c.common, "worktrees", e.Name())
		dot, err := readPointer(filepath.Join(own, "gitdir"), "", own)
		if err != nil {
			continue
		}
		tree := realPath(filepath.Dir(dot))
		if IsolatedTop(tree) != "" { // only its session sees it
			continue
		}
		if other, ok := readCheckout(tree); ok && other.gitDir == realPath(own) && other.common == c.common {
			out = append(out, tree)
		}
	}
	return out
}

// CheckoutOf returns the checkout around a directory, without the identity of its project: a few reads of files.
func CheckoutOf(dir string) (Place, bool) {
	c, ok := findCheckout(dir)
	if !ok {
		return Place{}, false
	}
	return Place{Directory: dir, Worktree: c.top, Sandbox: c.top, VCS: "git"}, true
}
