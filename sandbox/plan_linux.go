package sandbox

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// request describes the sandbox to the launcher.
type request struct {
	Profile Profile `json:"profile"`
	Kernel  Kernel  `json:"kernel"`
	// OwnNetwork says that the launcher is in a network namespace, and so is the command.
	OwnNetwork bool `json:"ownNetwork,omitempty"`
}

// plan is a profile as it applies to the files that are there.
type plan struct {
	Landlock int // the version to use
	Write    []string
	Read     []string // all files that can be read; nil is all
	Mounts   bool     // it has mounts of its own, with these:
	Steps    []step
	Sockets  []string // where it can connect to sockets with a name
	Session  bool     // it shares the processes of a session
	Families []uint32 // of sockets that it can make; nil is all

	pins  []string // folders that cannot be moved
	binds []string // mounted read-only
	links []string // symlinks that are mounted on themselves, so that they cannot be replaced
	watch []string // held by the guard alone

	private      bool     // its temporary folders are its session's
	missing      []string // mounts that could not be made
	placeholders standIns // bound in place of what is not there
}

// devices are the files that every program may write to.
var devices = []string{"/dev/null", "/dev/zero", "/dev/full"}

func newPlan(r request, w way, c place) (*plan, error) {
	mounts := w.mounts
	p := &plan{
		Landlock: r.Kernel.Landlock, Mounts: mounts, Families: r.families(),
		Session: w.session, private: mounts && r.Profile.Temp != "",
	}
	for _, path := range slices.Concat(r.Profile.Write, devices) {
		if real, err := filepath.EvalSymlinks(path); err == nil && !slices.Contains(p.Write, real) {
			p.Write = append(p.Write, real)
		}
	}
	if p.private { // the host's temporary folders are writable only for other reasons
		p.Write = slices.DeleteFunc(p.Write, func(path string) bool { return slices.Contains(realTemporary(), path) })
	}
	names := slices.Concat(r.Profile.Protect, r.Profile.Files, r.Profile.Watch)
	for _, path := range r.Profile.Busy {
		if real, err := filepath.EvalSymlinks(path); err == nil && mounts {
			names = append(names, real)
		}
	}
	p.protect(names, newAbsent(r.Profile))
	if !mounts && r.Profile.Mode == ReadOnly {
		// Nothing holds a project in a writable folder then, so that folder is none.
		p.Write = slices.DeleteFunc(p.Write, func(root string) bool {
			return slices.ContainsFunc(p.watch, func(name string) bool { return within(root, name) })
		})
		p.watch = nil
	}
	defer p.findSockets(r.Profile.Sockets)
	if !mounts {
		p.Read = readable(hidden(r.Profile, p.Write).outside(p.Write))
		return p, nil
	}
	return p, p.view(r.Profile, c)
}

// rules are the names that Landlock has rules for. For a writable folder that is mounted inside of
// something hidden it is the latter, which is empty and mounted read-only: so commands of a session
// that differ only in such folders have the same rules (see [domain]).
func (p *plan) rules() []string {
	out := slices.Clone(p.Write)
	for _, s := range p.Steps {
		i := slices.Index(out, s.Path)
		if !p.Session || i < 0 || s.Mount == nil || s.Kind != stepCopy || s.ReadOnly {
			continue
		}
		for _, above := range p.Steps { // the deepest is the last
			if above.Kind == stepEmpty && above.Path != s.Path && within(above.Path, s.Path) {
				out[i] = above.Path
			}
		}
	}
	return out
}

// resolve follows the symlinks that lead to a name, not the name itself.
func resolve(path string) string {
	dir, base := filepath.Dir(path), filepath.Base(path)
	if dir == path {
		return path
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		return filepath.Join(real, base)
	}
	return filepath.Join(resolve(dir), base)
}

// absent says what can stand in for names that do not exist.
type absent struct {
	none  bool // nothing, for any
	files map[string]stand
	bare  map[string]bool
}

func newAbsent(p Profile) absent {
	a := absent{none: p.Reads, files: map[string]stand{}, bare: map[string]bool{}}
	for _, name := range p.Files {
		a.files[resolve(name)] = stand{file: true, text: p.Texts[name]}
	}
	for _, name := range p.Watch {
		a.bare[resolve(name)] = true
	}
	return a
}

// protect sorts names into those that are bound and those that are watched.
func (p *plan) protect(names []string, missing absent) {
	var bind []string
	for _, name := range names {
		name = resolve(name)
		info, err := os.Lstat(name)
		if err == nil && standsIn(name, info) {
			err = fs.ErrNotExist
		}
		switch {
		case err == nil && info.Mode()&fs.ModeSymlink != 0: // the link, and what it leads to
			p.links = append(p.links, name)
			if real, err := filepath.EvalSymlinks(name); err == nil {
				bind = append(bind, real)
			}
		case err == nil && p.Mounts:
			bind = append(bind, name)
		case err == nil || errors.Is(err, fs.ErrNotExist):
			p.watch = append(p.watch, name)
		}
	}
	if !p.Mounts {
		p.watch, bind, p.links = slices.Concat(p.watch, bind, p.links), nil, nil
	}
	p.bind(bind)
	slices.Sort(p.watch)
	p.watch = slices.DeleteFunc(slices.Compact(p.watch), func(name string) bool { return !p.writable(name) || p.bound(name) })
	p.bind(p.standIn(missing))
	p.links = slices.DeleteFunc(p.links, func(name string) bool { return !p.writable(name) || p.bound(name) })
	for _, name := range slices.Concat(p.binds, p.links, p.watch) {
		p.pin(name)
	}
	slices.Sort(p.pins)
}

func (p *plan) bind(names []string) {
	slices.Sort(names) // shallow first
	for _, name := range names {
		if p.writable(name) && !p.bound(name) {
			p.binds = append(p.binds, name)
		}
	}
}

func (p *plan) bound(name string) bool {
	return slices.ContainsFunc(p.binds, func(b string) bool { return within(b, name) })
}

// standIn puts something under the names that do not exist, so that it can be bound. They are
// watched all the same: others can take it away.
func (p *plan) standIn(missing absent) (names []string) {
	for _, name := range p.watch {
		if !p.Mounts || missing.none || missing.bare[name] {
			sweep(name)
			continue
		}
		if p.placeholders.add(name, missing.files[name]) {
			names = append(names, name)
		}
	}
	return names
}

func (p *plan) writable(name string) bool {
	return slices.ContainsFunc(p.Write, func(root string) bool { return within(root, name) })
}

// pin keeps the folders above a name where they are: who could move them could put others there.
func (p *plan) pin(name string) {
	if !p.Mounts {
		return
	}
	for dir := filepath.Dir(name); p.writable(dir); dir = filepath.Dir(dir) {
		if info, err := os.Lstat(dir); err == nil && info.IsDir() && p.writable(filepath.Dir(dir)) && !slices.Contains(p.pins, dir) {
			p.pins = append(p.pins, dir)
		}
		if dir == filepath.Dir(dir) {
			return
		}
	}
}

// findSockets finds where the command can connect to sockets: where it can write, and what is allowed.
// In the temporary folders of the machine there are those of others.
func (p *plan) findSockets(allowed []string) {
	for _, path := range p.Write {
		if !slices.Contains(p.foreignTemporary(), path) {
			p.Sockets = append(p.Sockets, path)
		}
	}
	for _, path := range allowed {
		if real, err := filepath.EvalSymlinks(path); err == nil {
			p.Sockets = append(p.Sockets, real)
		}
	}
}

func (p *plan) reach() reach {
	return reach{p.Sockets, p.foreignTemporary(), make(chan struct{}, mostConnects)}
}

// foreignTemporary are the temporary folders that the command shares with others.
func (p *plan) foreignTemporary() (out []string) {
	if !p.private {
		out = realTemporary()
	}
	if !p.Session && !p.private {
		out = append(out, "/dev/shm")
	}
	return out
}
