package git

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/lathe-agent/lathe/internal/gitobj"
	"github.com/lathe-agent/lathe/workspace"
)

// view is the repository that git sees: a folder of lathe with the index, the history and the
// ignore rules of the real one.
type view struct {
	dir     string // which git takes for the repository
	top     string // of the work tree
	objects string // the real ones
	head    gitobj.Ref
	sha1    bool
}

// maxIndex is how large an index is read, in bytes: that of two million files.
const maxIndex = 256 << 20

// allowedConfig are the only config keys of a repository that apply: those that say how its files lie on
// the disk.
var allowedConfig = []string{"core.filemode", "core.ignorecase", "core.symlinks", "core.autocrlf", "core.eol", "core.precomposeunicode"}

// attributes override those of the project: no file has a filter, not even one of the user,
// since the project would choose its input. Flags disable diff drivers.
const attributes = "* -filter\n"

// repository opens the repository of a place for reading without git. It reports false if there
// is none, or none that has a work tree.
func repository(at workspace.Place) (r *gitobj.Repo, own, common string, ok bool) {
	own, common, ok = at.GitDirs()
	if !ok || at.VCS != "git" || own == at.Sandbox {
		return nil, "", "", false
	}
	r, err := gitobj.Open(own, common)
	return r, own, common, err == nil
}

// newView makes a view; nil means that there is no repository. The caller closes it.
func newView(at workspace.Place) (*view, error) {
	r, own, common, ok := repository(at)
	if !ok {
		return nil, nil
	}
	defer func() { _ = r.Close() }() // it was only read
	head, err := r.Head()
	if err != nil { // of a form that is not known
		return nil, nil
	}
	dir, err := os.MkdirTemp("", "lathe-git-")
	if err != nil {
		return nil, err
	}
	v := &view{dir: dir, top: at.Sandbox, objects: filepath.Join(common, "objects"), head: head, sha1: r.SHA1()}
	if err := v.fill(r, own, common); err != nil {
		return nil, errors.Join(err, v.close())
	}
	return v, nil
}

func (v *view) close() error { return os.RemoveAll(v.dir) }

func (v *view) fill(r *gitobj.Repo, own, common string) error {
	for _, name := range []string{"refs", "info"} {
		if err := os.Mkdir(filepath.Join(v.dir, name), 0o700); err != nil {
			return err
		}
	}
	config, _ := r.Config() // of a damaged one what could be read counts
	head := "ref: refs/heads/none\n"
	if !v.head.ID.IsZero() {
		head = v.head.ID.String() + "\n"
	}
	for name, text := range map[string]string{"HEAD": head, "config": v.config(config), "info/attributes": attributes} {
		if err := os.WriteFile(filepath.Join(v.dir, name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	copies := map[string]string{
		"index": filepath.Join(own, "index"), "shallow": filepath.Join(common, "shallow"),
		"info/exclude": filepath.Join(common, "info", "exclude"),
	}
	shared, _ := filepath.Glob(filepath.Join(own, "sharedindex.*")) // the pattern is right unless the path has stars
	for _, path := range shared {
		copies[filepath.Base(path)] = path
	}
	for name, from := range copies {
		data, err := gitobj.ReadFile(from, maxIndex)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, gitobj.ErrNotRegular) {
			continue
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(v.dir, name), data, 0o600)
		}
		if err != nil {
			return err
		}
	}
	return v.keepTime(own)
}

// keepTime gives the index the time of the real one: by it git knows which files it must compare.
func (v *view) keepTime(own string) error {
	info, err := os.Stat(filepath.Join(own, "index"))
	if err != nil {
		return nil // there is none
	}
	err = os.Chtimes(filepath.Join(v.dir, "index"), info.ModTime(), info.ModTime())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// config is the configuration that git reads in place of the project's.
func (v *view) config(of gitobj.Config) string {
	var b strings.Builder
	if v.sha1 {
		b.WriteString("[core]\n\trepositoryformatversion = 0\n")
	} else {
		b.WriteString("[extensions]\n\tobjectformat = sha256\n[core]\n\trepositoryformatversion = 1\n")
	}
	b.WriteString("\tbare = false\n")
	for _, key := range allowedConfig {
		switch value := strings.ToLower(of.Last(key)); value {
		case "true", "false", "input", "lf", "crlf", "native":
			b.WriteString("\t" + strings.TrimPrefix(key, "core.") + " = " + value + "\n")
		}
	}
	return b.String()
}

// env makes git use this repository only.
func (v *view) env() []string {
	return []string{
		"GIT_DIR=" + v.dir, "GIT_WORK_TREE=" + v.top, "GIT_OBJECT_DIRECTORY=" + v.objects,
		"GIT_CEILING_DIRECTORIES=" + filepath.Dir(v.top),
	}
}

// base is the base for uncommitted work: the commit, or nothing before the first.
func (v *view) base() string {
	switch {
	case !v.head.ID.IsZero():
		return v.head.ID.String()
	case v.sha1:
		return "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
	default:
		return "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321"
	}
}
