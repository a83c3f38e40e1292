package sandbox

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// guard knows how protected names were before a command, and puts them back. It is for those
// that nothing can be mounted on: some that do not exist, and where mounts are not possible all
// of them.
//
// It works with our rights and not with those of the command, so it never follows a symlink, which
// the command could have put in its way.
type guard struct {
	aside string
	names []string // without symlinks, shallow first
	was   map[string]state
	large map[string]bool // names with too much below them: only they themselves are known
}

// state is the former content of a name.
type state struct {
	mode fs.FileMode // its type and permissions
	data []byte      // of a file
	link string      // of a symlink
	size int64
	time time.Time
}

const (
	guardBytes = 8 << 20 // remembered content, in total
	guardFiles = 2000
)

// newGuard remembers names with all below them. What is not in it did not exist.
func newGuard(names []string, aside string) *guard {
	g := &guard{aside: aside, names: slices.Clone(names), was: map[string]state{}, large: map[string]bool{}}
	slices.Sort(g.names)
	budget := int64(guardBytes)
	for _, name := range g.names {
		found := map[string]state{}
		_ = filepath.WalkDir(name, func(path string, _ fs.DirEntry, _ error) error {
			if len(g.was)+len(found) >= guardFiles {
				g.large[name] = true
				return fs.SkipAll
			}
			if s, err := look(path, budget); err == nil {
				budget -= int64(len(s.data))
				found[path] = s
			}
			return nil
		})
		if g.large[name] {
			found = map[string]state{}
			if s, err := look(name, 0); err == nil {
				found[name] = s
			}
		}
		maps.Copy(g.was, found)
	}
	return g
}

// look reads the content of a name: files up to a size, if readable.
func look(path string, most int64) (state, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return state{}, err
	}
	if standsIn(path, info) {
		return state{}, fs.ErrNotExist
	}
	s := state{mode: info.Mode(), size: info.Size(), time: info.ModTime()}
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		s.link, err = os.Readlink(path)
	case info.Mode().IsRegular() && info.Size() <= most:
		s.data, _ = os.ReadFile(path) // without, its size and time must do
	}
	return s, err
}

// same reports whether nothing has changed that a reader could notice.
func (s state) same(now state) bool {
	switch {
	case s.mode != now.mode || s.link != now.link:
		return false
	case !s.mode.IsRegular():
		return true
	case s.data == nil || now.data == nil: // too large to be remembered
		return s.size == now.size && s.time.Equal(now.time)
	}
	return bytes.Equal(s.data, now.data)
}

// restore undoes what was done to the names and returns those it was done to. What it could not
// undo is an error.
func (g *guard) restore() (names []string, err error) {
	for _, name := range g.names {
		changed, lost := g.takeAway(name)
		for _, path := range g.below(name) {
			if _, statErr := os.Lstat(path); errors.Is(statErr, fs.ErrNotExist) {
				changed = true
				lost = errors.Join(lost, put(path, g.was[path]))
			}
		}
		if changed {
			names = append(names, name)
		}
		err = errors.Join(err, lost)
	}
	return names, err
}

// takeAway moves changed files aside.
func (g *guard) takeAway(name string) (changed bool, err error) {
	_ = filepath.WalkDir(name, func(path string, e fs.DirEntry, walkErr error) error {
		if walkErr != nil {
			return nil // it is not there, as it should be; or there is nothing to be done
		}
		was, known := g.was[path]
		now, lookErr := look(path, guardBytes)
		switch {
		case g.large[name] && path != name:
			return fs.SkipAll
		case lookErr == nil && known && was.same(now) || errors.Is(lookErr, fs.ErrNotExist):
			return nil
		case known && was.mode.IsRegular() && was.data == nil && was.size > 0:
			changed = true
			err = errors.Join(err, fmt.Errorf("%s was changed and is too large to be put back", path))
			return nil
		}
		changed = true
		err = errors.Join(err, g.moveAside(path))
		if e != nil && e.IsDir() {
			return fs.SkipDir
		}
		return nil
	})
	return changed, err
}

// below returns what was there of a name, shallow first.
func (g *guard) below(name string) (paths []string) {
	for path := range g.was {
		if within(name, path) {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	return paths
}

// folder opens the one a path is in, if no symlink leads there.
func folder(path string) (*os.File, error) {
	fd, err := unix.Openat2(unix.AT_FDCWD, filepath.Dir(path), &unix.OpenHow{
		Flags: unix.O_PATH | unix.O_DIRECTORY | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS,
	})
	if err != nil {
		return nil, &fs.PathError{Op: "open the folder of", Path: path, Err: err}
	}
	return os.NewFile(uintptr(fd), filepath.Dir(path)), nil
}

func put(path string, s state) error {
	dir, err := folder(path)
	if err != nil {
		return err
	}
	defer func() { _ = dir.Close() }()
	at, base := int(dir.Fd()), filepath.Base(path)
	perm := uint32(s.mode.Perm())
	switch {
	case s.mode.IsDir():
		err = folderAt(at, base, perm)
	case s.mode&fs.ModeSymlink != 0:
		err = unix.Symlinkat(s.link, at, base)
	case s.mode.IsRegular() && (s.data != nil || s.size == 0):
		err = fill(at, base, s)
	default:
		return fmt.Errorf("%s is gone and cannot be put back", path)
	}
	if err != nil {
		return fmt.Errorf("put %s back: %w", path, err)
	}
	return nil
}

// folderAt makes a folder with exactly these permissions.
func folderAt(at int, base string, perm uint32) error {
	if err := unix.Mkdirat(at, base, perm); err != nil {
		return err
	}
	fd, err := unix.Openat(at, base, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	return errors.Join(unix.Fchmod(fd, perm), unix.Close(fd))
}

func fill(at int, base string, s state) error {
	fd, err := unix.Openat(at, base, unix.O_CREAT|unix.O_EXCL|unix.O_WRONLY|unix.O_NOFOLLOW|unix.O_CLOEXEC, uint32(s.mode.Perm()))
	if err != nil {
		return err
	}
	f := os.NewFile(uintptr(fd), base)
	_, err = f.Write(s.data)
	return errors.Join(err, f.Chmod(s.mode.Perm()), f.Close())
}

// MoveAside takes something from its name without destroying it: into a folder, or beside its name
// where that cannot be. It follows no links.
func MoveAside(path, aside string) error { return (&guard{aside: aside}).moveAside(path) }

// moveAside takes something from its name without destroying it: it could be the user's own, made
// while the command ran. Where it cannot go into the folder for it, it stays beside its name under
// one that no program reads.
func (g *guard) moveAside(path string) error {
	dir, err := folder(path)
	if err != nil {
		return err
	}
	defer func() { _ = dir.Close() }()
	at, base := int(dir.Fd()), filepath.Base(path)
	stamp := strconv.FormatInt(time.Now().UnixNano(), 36)
	if g.aside != "" && os.MkdirAll(g.aside, 0o700) == nil {
		name := strings.TrimLeft(strings.ReplaceAll(path, "/", "%"), "%")
		name = name[max(0, len(name)-150):]
		if unix.Renameat(at, base, unix.AT_FDCWD, filepath.Join(g.aside, stamp+"-"+name)) == nil {
			return nil
		}
	}
	return unix.Renameat(at, base, at, base[:min(len(base), 200)]+".refused-"+stamp)
}
