package sandbox

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// A view is what a command sees of the files: steps that each mount one thing, the shallow ones
// first. All sources are taken from the files as they are, before the first step, so that the order
// says only what covers what.

// step mounts one thing at a path.
type step struct {
	Kind     stepKind
	Path     string
	Source   string // of a copy or a symlink, where it is not Path
	ReadOnly bool
	File     bool   // the empty stand-in is a file
	Holds    []hold // names in an empty folder that later steps mount at
	Mount    *Mount // where the profile asks for it

	shared string // where the session has it already
}

type stepKind string

const (
	stepCopy    stepKind = "copy"  // the existing entry, or the one at Source
	stepEmpty   stepKind = "empty" // nothing
	stepOverlay stepKind = "overlay"
	stepLink    stepKind = "link" // the symlink that is there, or is at Source
)

// hold is a name that something is mounted at.
type hold struct {
	Path string // below the folder
	File bool
}

// place is where a command starts.
type place struct {
	dir string
	env []string
}

// variable is one of the command's environment.
func (c place) variable(name string) string {
	for _, entry := range slices.Backward(c.env) {
		if value, ok := strings.CutPrefix(entry, name+"="); ok {
			return value
		}
	}
	return ""
}

// veil is the set of hidden names: the deepest of them above a path says whether it is hidden.
type veil map[string]bool

// hidden finds the names to hide and those that stay visible below them.
func hidden(p Profile, write []string) veil {
	v := veil{}
	for _, path := range p.Hide {
		if real, err := filepath.EvalSymlinks(path); err == nil && real != "/" {
			v[real] = true
		}
	}
	shown := slices.Clone(write)
	for _, path := range p.Show {
		if real, err := filepath.EvalSymlinks(path); err == nil {
			shown = append(shown, real)
			delete(v, real)
		}
	}
	for _, path := range shown {
		if v.hides(path) && !v[path] {
			v[path] = false
		}
	}
	maps.DeleteFunc(v, func(path string, hides bool) bool { return hides == v.hides(filepath.Dir(path)) }) // as it would be anyway
	return v
}

func (v veil) hides(path string) bool {
	for dir := path; ; dir = filepath.Dir(dir) {
		if hides, ok := v[dir]; ok || dir == filepath.Dir(dir) {
			return hides
		}
	}
}

// outside leaves out what lies in folders that can be written.
func (v veil) outside(write []string) veil {
	maps.DeleteFunc(v, func(path string, hides bool) bool {
		return hides && slices.ContainsFunc(write, func(root string) bool { return within(root, path) })
	})
	return v
}

// readable lists the files and folders that hold all that is not hidden; nil means that nothing
// is. It must not be asked for what lies in a folder that can be written: the command could not
// read files that it makes beside it.
func readable(v veil) (out []string) {
	above := map[string]bool{}
	for path, hides := range v {
		for dir := path; hides && dir != filepath.Dir(dir); {
			dir = filepath.Dir(dir)
			above[dir] = true
		}
	}
	if len(above) == 0 {
		return nil
	}
	out = []string{}
	for next := []string{"/"}; len(next) > 0; next = next[1:] {
		entries, _ := os.ReadDir(next[0]) // an unlistable folder has nothing to read
		for _, e := range entries {
			path := filepath.Join(next[0], e.Name())
			switch {
			case e.Type()&os.ModeSymlink != 0 || v[path]:
			case above[path]:
				next = append(next, path)
			default:
				out = append(out, path)
			}
		}
	}
	for path, hides := range v {
		if !hides {
			out = append(out, path)
		}
	}
	return out
}

// temporaryFolders are the folders that a folder of the session replaces.
var temporaryFolders = []string{"/tmp", "/var/tmp"}

// view makes the steps.
func (p *plan) view(profile Profile, c place) error {
	v := hidden(profile, p.Write)
	temp, err := p.temporary(profile)
	if err != nil {
		return err
	}
	steps := slices.Concat(p.roots(v), p.covers(v), temp, p.tempFiles(profile, c, temp))
	for _, path := range p.pins {
		steps = append(steps, step{Kind: stepCopy, Path: path})
	}
	for _, path := range p.binds {
		steps = append(steps, step{Kind: stepCopy, Path: path, ReadOnly: true})
	}
	for _, path := range p.links {
		steps = append(steps, step{Kind: stepLink, Path: path, ReadOnly: true})
	}
	p.Steps = sorted(steps, v)
	if err := p.hold(temp); err != nil {
		return err
	}
	for _, s := range temp {
		p.Write = append(p.Write, s.Path)
	}
	for _, m := range profile.Mounts {
		if m.Type == LinkMount {
			m.Target = resolve(m.Target) // a symlink may be there
		} else if m.Target, err = filepath.EvalSymlinks(m.Target); err != nil {
			return fmt.Errorf("no mount point: %w", err)
		}
		s := step{Kind: stepCopy, Path: m.Target, Source: m.Source, ReadOnly: m.ReadOnly, Mount: &m}
		switch m.Type {
		case BindMount:
		case OverlayMount:
			s.Kind = stepOverlay
		case LinkMount:
			s.Kind = stepLink
			// Nothing can be mounted on the read-only copy once others have replaced the file that it is of.
			p.Steps = slices.DeleteFunc(p.Steps, func(other step) bool { return other.Path == s.Path })
		}
		if p.Steps = append(p.Steps, s); !m.ReadOnly {
			p.Write = append(p.Write, m.Target)
		}
	}
	return nil
}

// sorted puts steps in their order, and leaves out those that others cover. Of those at one path the
// last counts.
func sorted(steps []step, v veil) []step {
	steps = slices.DeleteFunc(steps, func(s step) bool { return s.Kind != stepEmpty && v.hides(s.Path) })
	slices.SortStableFunc(steps, func(a, b step) int { return cmp.Compare(a.Path, b.Path) })
	var out []step
	for i, s := range steps {
		if i+1 == len(steps) || steps[i+1].Path != s.Path {
			out = append(out, s)
		}
	}
	return out
}

// roots are the folders and files that can be written. One inside of another is the same mount, so
// that files can be moved between them, if nothing is between them.
func (p *plan) roots(v veil) (steps []step) {
	var roots []string
	for _, path := range slices.Sorted(slices.Values(p.Write)) {
		info, err := os.Lstat(path)
		if err != nil || !info.IsDir() && !info.Mode().IsRegular() {
			continue
		}
		if !slices.ContainsFunc(roots, func(r string) bool { return within(r, path) && !below(v, r, path) }) {
			roots = append(roots, path)
			steps = append(steps, step{Kind: stepCopy, Path: path})
		}
	}
	return steps
}

// below reports whether a hidden name is above a path and below another.
func below(v veil, above, path string) bool {
	for name, hides := range v {
		if hides && within(above, name) && within(name, path) {
			return true
		}
	}
	return false
}

// covers are the hidden names, and the visible ones inside them.
func (p *plan) covers(v veil) (steps []step) {
	for path, hides := range v {
		info, err := os.Lstat(path)
		switch {
		case err != nil:
		case hides:
			steps = append(steps, step{Kind: stepEmpty, Path: path, ReadOnly: true, File: !info.IsDir()})
		default:
			steps = append(steps, step{Kind: stepCopy, Path: path, ReadOnly: !p.writable(path)})
		}
	}
	return steps
}

// realTemporary are the temporary folders without links.
func realTemporary() (out []string) {
	for _, path := range temporaryFolders {
		if real, err := filepath.EvalSymlinks(path); err == nil && !slices.Contains(out, real) {
			out = append(out, real)
		}
	}
	return out
}

// temporary is the folder of the session, where the temporary folders are.
func (p *plan) temporary(profile Profile) (steps []step, err error) {
	if profile.Temp == "" {
		return nil, nil
	}
	source, err := filepath.EvalSymlinks(profile.Temp)
	if err != nil {
		return nil, fmt.Errorf("the temporary folder of the session: %w", err)
	}
	for _, path := range realTemporary() {
		steps = append(steps, step{Kind: stepCopy, Path: path, Source: source})
	}
	return steps, nil
}

// tempFiles are the parts of the machine's temporary folders that a command needs.
func (p *plan) tempFiles(profile Profile, c place, temp []step) (steps []step) {
	names := slices.Concat(p.Write, profile.Show, profile.Sockets, []string{c.dir, c.variable("HOME")}, filepath.SplitList(c.variable("PATH")))
	for _, m := range profile.Mounts {
		names = append(names, m.Target)
	}
	if profile.Mode == ReadOnly {
		names = append(names, profile.Protect...)
	}
	for _, name := range names {
		real, err := filepath.EvalSymlinks(name)
		if err != nil || !filepath.IsAbs(name) || p.writable(real) { // which is mounted anyway
			continue
		}
		if slices.ContainsFunc(temp, func(s step) bool { return s.Path != real && within(s.Path, real) && !within(s.Source, real) }) {
			steps = append(steps, step{Kind: stepCopy, Path: real, ReadOnly: true})
		}
	}
	return steps
}

// hold makes sure that there is something to mount at in folders that are not those of the machine.
func (p *plan) hold(temp []step) error {
	for i, s := range p.Steps {
		above := -1
		for j, other := range p.Steps[:i] {
			if within(other.Path, s.Path) {
				above = j // the deepest is the last
			}
		}
		if above < 0 {
			continue
		}
		info, err := os.Lstat(s.Path)
		if err != nil {
			continue // it was removed since
		}
		in := &p.Steps[above]
		h := hold{Path: strings.TrimPrefix(s.Path, in.Path+"/"), File: !info.IsDir()}
		switch {
		case in.Kind == stepEmpty:
			in.Holds = append(in.Holds, h)
		case in.Source != "" && slices.ContainsFunc(temp, func(t step) bool { return t.Path == in.Path }):
			if err := h.makeIn(in.Source); err != nil {
				return fmt.Errorf("make %s in the temporary folder of the session: %w", s.Path, err)
			}
		}
	}
	return nil
}

// makeIn makes the name in a folder. The folder is one that commands write to, so it follows no
// links.
func (h hold) makeIn(folder string) error {
	fd, err := unix.Open(folder, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(fd) }()
	return h.makeAt(fd)
}

func (h hold) makeAt(at int) error {
	names := strings.Split(h.Path, "/")
	fd := at
	defer func() {
		if fd != at {
			_ = unix.Close(fd)
		}
	}()
	for i, name := range names {
		if h.File && i == len(names)-1 {
			return touchAt(fd, name)
		}
		if err := unix.Mkdirat(fd, name, 0o755); err != nil && err != unix.EEXIST {
			return err
		}
		next, err := unix.Openat(fd, name, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		if err != nil {
			return err
		}
		if fd != at {
			_ = unix.Close(fd)
		}
		fd = next
	}
	return nil
}

// touchAt makes an empty file where there is nothing.
func touchAt(at int, name string) error {
	if err := unix.Mknodat(at, name, unix.S_IFREG|0o444, 0); err != unix.EEXIST {
		return err
	}
	return nil
}
