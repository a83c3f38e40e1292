// Package target finds the files that calls name and asks before a call leaves the project.
//
// A path is resolved to its real location before anything is asked, and exactly that location
// is opened. The package also suggests names near a missing one, and detects binary, secret and
// guarded files.
package target

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"

	"github.com/lathe-agent/lathe/tool"
	"github.com/lathe-agent/lathe/workspace"
)

// Target is a file or directory a call names: where it really is, and what it is called in
// questions and results.
type Target struct {
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
	Inside    bool   // of the project, or of the session's temporary folder
	Temporary bool
}

// Locate finds what a call names by a path, absolute or from the session's directory. Use its
// methods to access it: they reach exactly the checked path.
func Locate(c *tool.Call, name string) (Target, error) {
	if mapped, folder, instead, ok := temporary(c, name); ok {
		if f, err := workspace.Resolve(c.Dir, mapped); err == nil && workspace.Inside(folder, f.Path) {
			t := Target{File: f, Shown: Rebase(folder, instead, f.Path), Inside: true, Temporary: true}
			t.Rel = Relative(RealDir(c.Root), t.Shown)
			t.Title, t.asked = t.Shown, t.Rel
			return t, nil
		}
	}
	f, err := workspace.Resolve(c.Dir, name)
	if err != nil {
		return Target{}, tool.Failf("%w", err)
	}
	dir, root := RealDir(c.Dir), RealDir(c.Root)
	t := Target{File: f, Shown: f.Path}
	asked := f.Name
	if workspace.Inside(c.Dir, f.Name) {
		asked = Rebase(c.Dir, dir, f.Name)
	}
	t.Rel, t.asked = Relative(root, f.Path), Relative(root, asked)
	if t.Title = t.Rel; filepath.Dir(root) == root && workspace.Inside(dir, f.Path) {
		t.Title = Relative(dir, f.Path)
	}
	switch {
	case workspace.Inside(dir, f.Path):
		t.Inside = true
		t.Shown = Rebase(dir, c.Dir, f.Path)
	case filepath.Dir(root) != root: // the root of a volume is no checkout
		t.Inside = workspace.Inside(root, f.Path)
	}
	return t, nil
}

// Patterns are the patterns for rules. A file that is reached by a symlink must be allowed
// under both of its names.
func (t Target) Patterns() []string {
	if t.asked != t.Rel {
		return []string{t.Rel, t.asked}
	}
	return []string{t.Rel}
}

// real is the file with the name it was asked by below the real directory of the session, so that
// both of its names differ only where a link inside was followed.
func (t Target) real(c *tool.Call) workspace.File {
	f := t.File
	if workspace.Inside(c.Dir, f.Name) {
		f.Name = Rebase(c.Dir, RealDir(c.Dir), f.Name)
	}
	return f
}

// AskRead asks for the permission to read outside of the project, where the target lies there, and
// for that to read a secret, wherever it lies. Tools call it before they ask for what they do.
func AskRead(ctx context.Context, c *tool.Call, t Target) error {
	if Readable(c, t) && !t.Inside {
		pattern, _, err := externalPattern(t)
		if err != nil {
			return err
		}
		return c.Host.Ask(ctx, tool.Permission{Name: "external_directory", Also: []string{pattern}}) // only a rule that denies it counts
	}
	if err := AskExternal(ctx, c, t); err != nil {
		return err
	}
	return askSecret(ctx, c, t)
}

// AskExternal asks for the permission to leave the project, where the target lies outside of it:
// of the session's directory and of the checkout. Tools that write call it before they ask for
// what they do.
func AskExternal(ctx context.Context, c *tool.Call, t Target) error {
	if t.Inside {
		return nil
	}
	pattern, meta, err := externalPattern(t)
	if err != nil {
		return err
	}
	return c.Host.Ask(ctx, tool.Permission{
		Name: "external_directory", Patterns: []string{pattern}, Always: []string{pattern}, Metadata: meta,
	})
}

// externalPattern is the pattern for a target outside.
func externalPattern(t Target) (pattern string, meta json.RawMessage, err error) {
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

// RealDir is a directory without symlinks; one that cannot be looked at stays as it is.
func RealDir(dir string) string {
	f, err := workspace.Resolve(dir, "")
	if err != nil {
		return dir
	}
	return f.Path
}

// Rebase moves a path from below one directory to below another.
func Rebase(from, to, path string) string {
	rel, err := filepath.Rel(from, path)
	if err != nil {
		return path
	}
	return filepath.Join(to, rel)
}

// Relative is a path from the root as rules and titles have it: with slashes, "" for the root
// itself.
func Relative(root, path string) string {
	rel, err := filepath.Rel(root, path)
	switch {
	case err != nil: // another volume
		return filepath.ToSlash(path)
	case rel == ".":
		return ""
	}
	return filepath.ToSlash(rel)
}

func AppendUnique(list []string, s string) []string {
	if slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}

func Exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
