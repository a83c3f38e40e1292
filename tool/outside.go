package tool

import (
	"context"
	"encoding/json"
	"path/filepath"

	"github.com/lathe-agent/lathe/workspace"
)

// target is a file or directory a call names: where it really is, and what it is called in
// questions and results.
type target struct {
	workspace.File
	// Shown is the real path as the user knows it: below the session's directory where it
	// lies there, however that directory itself is reached.
	Shown string
	// Rel is Shown from the top of the checkout, with slashes, as rules have it.
	Rel string
	// Title is Rel for people: without a checkout from the session's directory, where the
	// reference counts from the root of the disk.
	Title string

	asked     string // Rel of the name that was asked for; differs where a symlink was followed
	inside    bool   // of the project, or of the session's temporary folder
	temporary bool
}

// locate finds what a call names by a path, absolute or from the session's directory. Use
// its methods to reach it: they go where was judged, and nowhere else.
func locate(c *Call, name string) (target, error) {
	if mapped, folder, instead, ok := c.Outside.temporary(c, name); ok {
		if f, err := workspace.Resolve(c.Dir, mapped); err == nil && workspace.Inside(folder, f.Path) {
			t := target{File: f, Shown: rebase(folder, instead, f.Path), inside: true, temporary: true}
			t.Rel = relative(realDir(c.Root), t.Shown)
			t.Title, t.asked = t.Shown, t.Rel
			return t, nil
		}
	}
	f, err := workspace.Resolve(c.Dir, name)
	if err != nil {
		return target{}, Failf("%w", err)
	}
	dir, root := realDir(c.Dir), realDir(c.Root)
	t := target{File: f, Shown: f.Path}
	asked := f.Name
	if workspace.Inside(c.Dir, f.Name) {
		asked = rebase(c.Dir, dir, f.Name)
	}
	t.Rel, t.asked = relative(root, f.Path), relative(root, asked)
	if t.Title = t.Rel; filepath.Dir(root) == root && workspace.Inside(dir, f.Path) {
		t.Title = relative(dir, f.Path)
	}
	switch {
	case workspace.Inside(dir, f.Path):
		t.inside = true
		t.Shown = rebase(dir, c.Dir, f.Path)
	case filepath.Dir(root) != root: // the root of a volume is no checkout
		t.inside = workspace.Inside(root, f.Path)
	}
	return t, nil
}

// patterns is what rules are asked about. A file that is reached by a symlink must be allowed
// under both of its names.
func (t target) patterns() []string {
	if t.asked != t.Rel {
		return []string{t.Rel, t.asked}
	}
	return []string{t.Rel}
}

// real is the file with the name it was asked by below the real directory of the session, so that
// both of its names differ only where a link inside was followed.
func (t target) real(c *Call) workspace.File {
	f := t.File
	if workspace.Inside(c.Dir, f.Name) {
		f.Name = rebase(c.Dir, realDir(c.Dir), f.Name)
	}
	return f
}

// reads asks for the permission to read outside of the project, where the target lies there, and
// for that to read a secret, wherever it lies. Tools call it before they ask for what they do.
func reads(ctx context.Context, c *Call, t target) error {
	if c.Outside.readable(c, t) && !t.inside {
		pattern, _, err := outsidePattern(t)
		if err != nil {
			return err
		}
		return c.Host.Ask(ctx, Permission{Name: "external_directory", Also: []string{pattern}}) // only a rule that denies it counts
	}
	if err := outside(ctx, c, t); err != nil {
		return err
	}
	return askSecret(ctx, c, t)
}

// outside asks for the permission to leave the project, where the target lies outside of it:
// of the session's directory and of the checkout. Tools that write call it before they ask for
// what they do.
func outside(ctx context.Context, c *Call, t target) error {
	if t.inside {
		return nil
	}
	pattern, meta, err := outsidePattern(t)
	if err != nil {
		return err
	}
	return c.Host.Ask(ctx, Permission{
		Name: "external_directory", Patterns: []string{pattern}, Always: []string{pattern}, Metadata: meta,
	})
}

// outsidePattern is what rules are asked about a target outside.
func outsidePattern(t target) (pattern string, meta json.RawMessage, err error) {
	dir := t.Path
	if !t.IsDir() {
		dir = filepath.Dir(dir)
	}
	meta, err = json.Marshal(struct {
		Path   string `json:"filepath"`
		Parent string `json:"parentDir"`
	}{t.Path, dir})
	return filepath.ToSlash(filepath.Join(dir, "*")), meta, err
}

// realDir is a directory without symlinks; one that cannot be looked at stays as it is.
func realDir(dir string) string {
	f, err := workspace.Resolve(dir, "")
	if err != nil {
		return dir
	}
	return f.Path
}

// rebase moves a path from below one directory to below another.
func rebase(from, to, path string) string {
	rel, err := filepath.Rel(from, path)
	if err != nil {
		return path
	}
	return filepath.Join(to, rel)
}

// relative is a path from the root as rules and titles have it: with slashes, "" for the root
// itself.
func relative(root, path string) string {
	rel, err := filepath.Rel(root, path)
	switch {
	case err != nil: // another volume
		return filepath.ToSlash(path)
	case rel == ".":
		return ""
	}
	return filepath.ToSlash(rel)
}
