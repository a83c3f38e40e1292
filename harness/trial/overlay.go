package trial

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lathe-agent/lathe"
	"github.com/lathe-agent/lathe/eval"
)

// maxPatched is the size of a file that a patch may change.
const maxPatched = 16 << 20

// Overlay are the files of a check. They are put into a project when the agent has ended, over those that it left.
type Overlay struct {
	folders []string  // files and folders of the user, by absolute paths
	files   []patched // each path once
}

// patched is a file as a patch makes it.
type patched struct {
	path string      // with slashes
	data string      // its whole content
	perm fs.FileMode // 0 removes the file
}

// ReadOverlay computes the files of a check from a project before the agent begins, so that nothing it does changes them.
func ReadOverlay(dir string, c eval.Check) (*Overlay, error) {
	o := &Overlay{folders: c.Files}
	if c.Patch == "" {
		return o, nil
	}
	all, err := eval.ParsePatch(c.Patch)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	for _, p := range all {
		if err := o.patch(root, p); err != nil {
			return nil, lathe.Errorf(lathe.Invalid, "check_patch: %w", err)
		}
	}
	return o, nil
}

// patch adds the result of a patch for one file. It sees what earlier parts made.
func (o *Overlay) patch(root *os.Root, p eval.FilePatch) error {
	old, perm := "", fs.FileMode(0o644)
	if p.Executable {
		perm = 0o755
	}
	if p.From != "" {
		if at := slices.IndexFunc(o.files, func(f patched) bool { return f.path == p.From }); at >= 0 {
			old, perm = o.files[at].data, o.files[at].perm
		} else {
			info, err := root.Stat(filepath.FromSlash(p.From))
			if err != nil {
				return fmt.Errorf("%s: %w", p.From, err)
			}
			data, err := readLimited(root, filepath.FromSlash(p.From), maxPatched)
			if err != nil {
				return err
			}
			old, perm = string(data), info.Mode().Perm()
		}
	}
	text, err := p.Apply(old)
	if err != nil {
		return err
	}
	set := func(f patched) {
		o.files = append(slices.DeleteFunc(o.files, func(g patched) bool { return g.path == f.path }), f)
	}
	if p.From != "" && p.From != p.To {
		set(patched{path: p.From})
	}
	if p.To != "" {
		set(patched{path: p.To, data: text, perm: perm})
	}
	return nil
}

// Write puts the files of a check into a project. What stands in their way is removed, and no link leads elsewhere.
func (o *Overlay) Write(ctx context.Context, dir string, r Reader) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, f := range o.files {
		name := filepath.FromSlash(f.path)
		if err := clearPath(root, name); err != nil {
			return fmt.Errorf("write %s for the check: %w", f.path, err)
		}
		if f.perm == 0 {
			continue
		}
		if err := root.WriteFile(name, []byte(f.data), f.perm|0o600); err != nil {
			return fmt.Errorf("write %s for the check: %w", f.path, err)
		}
	}
	for _, from := range o.folders {
		if err := r.place(ctx, root, from); err != nil {
			return fmt.Errorf("copy %s for the check: %w", from, err)
		}
	}
	return nil
}

// clearPath removes what has a name, and makes real folders above it: an agent may have put links there.
func clearPath(root *os.Root, name string) error {
	above := ""
	for part := range strings.SplitSeq(filepath.Dir(name), string(filepath.Separator)) {
		if above = filepath.Join(above, part); above == "." {
			break
		}
		info, err := root.Lstat(above)
		if err == nil && !info.IsDir() {
			err = root.RemoveAll(above)
		}
		if err == nil && info.IsDir() {
			continue
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err := root.Mkdir(above, 0o755); err != nil {
			return err
		}
	}
	if err := root.RemoveAll(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// place copies a file or folder of the user to the top of a project, under its own name.
func (r Reader) place(ctx context.Context, root *os.Root, from string) error {
	if err := r.check(from); err != nil {
		return err
	}
	name := filepath.Base(from)
	if err := clearPath(root, name); err != nil {
		return err
	}
	info, err := os.Stat(from)
	if err != nil {
		return err
	}
	if info.IsDir() {
		if err := root.Mkdir(name, 0o755); err != nil {
			return err
		}
		to, err := root.OpenRoot(name)
		if err != nil {
			return err
		}
		defer to.Close()
		return copyFiles(ctx, to, from, walk{Reader: r})
	}
	above, err := os.OpenRoot(filepath.Dir(from))
	if err != nil {
		return err
	}
	defer above.Close()
	_, err = copyFile(root, name, entry{mode: info.Mode(), open: func() (*os.File, error) { return openRegular(above, name) }}, maxBytes)
	return err
}

// Paths are the files and folders that the overlay replaces in a project.
func (o *Overlay) Paths(dir string) (out []string) {
	for _, f := range o.files {
		out = append(out, filepath.Join(dir, filepath.FromSlash(f.path)))
	}
	for _, from := range o.folders {
		out = append(out, filepath.Join(dir, filepath.Base(from)))
	}
	return out
}
