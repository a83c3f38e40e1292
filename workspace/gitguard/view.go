package gitguard

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/lathe-agent/lathe/internal/filelock"
)

// largest is how much of a configuration file is read; git's own are a thousandth of it.
const largest = 1 << 20

// lockTime is how long a configuration file is waited for that another git changes.
const lockTime = 2 * time.Second

// View is a set of copies of configuration files that one command works with. Each file of the
// user is covered, for the command, by a symlink to its copy: git writes through symlinks, so it
// makes its lock and the new file beside the copy. (A copy that is itself mounted over the file
// cannot be replaced, which is what git does to change it.)
//
// On disk it is a folder with the copies in view/N/config, which is all that the command can
// write, what they were copied from in base/N, the symlinks in link/N and a list of the files.
// The list is locked while the view is used, so that one without a user is known.
type View struct {
	dir  string
	list *os.File
	viewList
}

type viewList struct {
	Since   time.Time `json:"since"`
	Project string    `json:"project"`
	Files   []string  `json:"files"`
}

// ShortName is a short name for a path, the same every time.
func ShortName(path string) string {
	sum := sha256.Sum256([]byte(path))
	return hex.EncodeToString(sum[:8])
}

// viewsOf is the folder for the views of one project.
func viewsOf(folder, project string) string {
	return filepath.Join(folder, "views", ShortName(project))
}

// OpenView copies configuration files, which need not exist, for a command in a project. Folder
// holds the views.
func OpenView(folder, project string, files []string) (_ *View, err error) {
	top := viewsOf(folder, project)
	if err := os.MkdirAll(top, 0o700); err != nil {
		return nil, fmt.Errorf("copy the configuration of git: %w", err)
	}
	dir, err := os.MkdirTemp(top, "")
	if err != nil {
		return nil, fmt.Errorf("copy the configuration of git: %w", err)
	}
	v := &View{dir: dir, viewList: viewList{Since: time.Now(), Project: project, Files: files}}
	if err := v.fill(); err != nil {
		v.Remove()
		return nil, fmt.Errorf("copy the configuration of git: %w", err)
	}
	return v, nil
}

func (v *View) fill() (err error) {
	for _, name := range []string{"view", "base", "link"} {
		err = errors.Join(err, os.Mkdir(filepath.Join(v.dir, name), 0o700))
	}
	for i, real := range v.Files {
		data, readErr := readConfig(real)
		if readErr != nil && !errors.Is(readErr, fs.ErrNotExist) {
			return readErr
		}
		err = errors.Join(err, os.Mkdir(filepath.Dir(v.Copy(i)), 0o700), os.WriteFile(v.Copy(i), data, 0o644),
			os.WriteFile(v.base(i), data, 0o600), os.Symlink(v.Copy(i), v.Link(i)))
	}
	if err != nil {
		return err
	}
	unlocked := filepath.Join(v.dir, "list.new") // under its name it is always locked, or unused
	list, err := os.OpenFile(unlocked, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	v.list = list
	return errors.Join(filelock.TryLock(list), json.NewEncoder(list).Encode(v.viewList), os.Rename(unlocked, filepath.Join(v.dir, "list")))
}

// Copy is the copy of a file, Link the symlink to it, and Writable the folder of all copies.
func (v *View) Copy(i int) string { return filepath.Join(v.Writable(), strconv.Itoa(i), "config") }

// Link is the symlink that covers file i for the command.
func (v *View) Link(i int) string { return filepath.Join(v.dir, "link", strconv.Itoa(i)) }

// Writable is the folder of all copies, which the command can write.
func (v *View) Writable() string { return filepath.Join(v.dir, "view") }

func (v *View) base(i int) string { return filepath.Join(v.dir, "base", strconv.Itoa(i)) }

// Remove ends the use of a view. What was not carried over is lost.
func (v *View) Remove() {
	if v.list != nil {
		_ = v.list.Close() // and with it the lock
	}
	_ = os.RemoveAll(v.dir) // the next start finds the rest
}

// Change is the result for the changes to one configuration file.
type Change struct {
	File                        string
	Applied, Refused, Conflicts []string
	Err                         error // nothing was carried over
}

// ApplyChanges takes over what the command changed since the last time. It can be called while processes
// of the command run.
func (v *View) ApplyChanges() (changes []Change) {
	for i, file := range v.Files {
		c := Change{File: file}
		var m Merged
		if m, c.Err = v.applyTo(i); c.Err != nil || len(m.Applied)+len(m.Refused)+len(m.Conflicts) > 0 {
			c.Applied, c.Refused, c.Conflicts = m.Applied, m.Refused, m.Conflicts
			changes = append(changes, c)
		}
	}
	return changes
}

func (v *View) applyTo(i int) (Merged, error) {
	base, err1 := readRegular(v.base(i))
	copied, err2 := readRegular(v.Copy(i))
	switch {
	case errors.Is(err2, fs.ErrNotExist):
		return Merged{}, nil // git never removes it
	case err1 != nil || err2 != nil:
		return Merged{}, errors.Join(err1, err2)
	case bytes.Equal(base, copied):
		return Merged{}, nil
	}
	m, err := Merge(base, copied, base, v.ofModule(i)) // most often there is nothing to take over
	if err == nil && m.Text != nil {
		m, err = update(v.Files[i], func(now []byte) (Merged, error) { return Merge(base, copied, now, v.ofModule(i)) })
	}
	if err != nil && !errors.Is(err, errUnreadable) {
		return m, err
	}
	return m, errors.Join(err, os.WriteFile(v.base(i), copied, 0o600))
}

// ofModule allows a submodule to say where in the project its files are, which git does whenever it
// puts them there.
func (v *View) ofModule(i int) func(key, value string) bool {
	dir := filepath.Dir(v.Files[i])
	x := inspector{root: v.Project}
	return func(key, value string) bool {
		return key == "core.worktree" && strings.Contains(filepath.ToSlash(dir), "/modules/") && x.plain(key, value, dir, v.Project)
	}
}

// update changes a configuration file under the lock that git takes. The file is written in place:
// a new one in its stead would take away the mounts that cover it for other commands.
func update(file string, change func([]byte) (Merged, error)) (m Merged, err error) {
	file, _ = RealConfig(file)
	if err := inPlace(file); err != nil {
		return m, err
	}
	unlock, err := lockConfig(file, lockTime)
	if err != nil {
		return m, err
	}
	defer unlock()
	now, err := readRegular(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return m, err
	}
	if m, err = change(now); err != nil || m.Text == nil {
		return m, err
	}
	return m, writeInPlace(file, now, m.Text)
}

// inPlace is an error where a link leads to a file by now.
func inPlace(file string) error {
	if dir, err := filepath.EvalSymlinks(filepath.Dir(file)); err != nil || dir != filepath.Clean(filepath.Dir(file)) {
		return errors.Join(fmt.Errorf("%s is not where it was", file), err)
	}
	return nil
}

// lockConfig makes the lock file that git makes, and returns what removes it. It waits for another's.
func lockConfig(file string, most time.Duration) (func(), error) {
	lock := file + ".lock"
	for end, wait := time.Now().Add(most), time.Millisecond; ; wait = min(2*wait, 50*time.Millisecond) {
		f, err := os.OpenFile(lock, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		switch {
		case err == nil:
			_ = f.Close() // it is empty
			return func() { _ = os.Remove(lock) }, nil
		case !errors.Is(err, fs.ErrExist):
			return nil, err
		case time.Now().After(end):
			return nil, fmt.Errorf("%s exists: another git changes the configuration, or one was killed and left it", lock)
		}
		time.Sleep(wait)
	}
}

// writeInPlace replaces the content of a file so that it is valid at every moment: a shorter
// text is first padded with empty lines.
func writeInPlace(file string, old, text []byte) error {
	f, err := os.OpenFile(file, os.O_CREATE|os.O_WRONLY|openFlags, 0o644)
	if err != nil && errors.Is(err, fs.ErrPermission) && os.Chmod(file, 0o644) == nil {
		f, err = os.OpenFile(file, os.O_WRONLY, 0) // the stand-in for a missing file
	}
	if err != nil {
		return err
	}
	padded := append(bytes.Clone(text), bytes.Repeat([]byte("\n"), max(0, len(old)-len(text)))...)
	_, err = f.WriteAt(padded, 0)
	if err == nil && len(padded) != len(text) {
		err = f.Truncate(int64(len(text)))
	}
	if info, statErr := f.Stat(); statErr == nil && info.Mode()&fs.ModeSticky != 0 {
		err = errors.Join(err, f.Chmod(0o644)) // it stood in for a missing one, and is one now
	}
	return errors.Join(err, f.Close())
}

// readConfig reads a configuration file, also where our link leads. It reads again what was linked or
// put back meanwhile.
func readConfig(path string) (text []byte, err error) {
	for range 3 {
		real, linked := RealConfig(path)
		if text, err = readRegular(real); err == nil || !linked && !isOurLink(path) {
			break
		}
	}
	return text, err
}

// readRegular reads a file that is no symlink and not too large.
func readRegular(path string) ([]byte, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > largest {
		return nil, fmt.Errorf("%s is not a configuration file: %w", path, errUnreadable)
	}
	f, err := os.OpenFile(path, os.O_RDONLY|openFlags, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	if now, err := f.Stat(); err != nil || !os.SameFile(now, info) {
		return nil, fmt.Errorf("%s was exchanged: %w", path, errors.Join(errUnreadable, err))
	}
	return io.ReadAll(io.LimitReader(f, largest))
}

// Unwatched describes a project in which commands ran that were not watched to their end. The
// zero value is that there were none.
type Unwatched struct {
	Since     time.Time // from when on files were not looked at
	Protected []string  // configuration files that the commands had copies of: their repositories were protected
}

// Recover applies the changes in unused views of a project, whose lathe was killed.
func Recover(folder, project string) (changes []Change, u Unwatched) {
	top := viewsOf(folder, project)
	entries, _ := os.ReadDir(top) // most often there is none
	for _, e := range entries {
		v, ok := reopen(filepath.Join(top, e.Name()))
		if !ok {
			continue
		}
		changes = append(changes, v.ApplyChanges()...)
		if u.Since.IsZero() || v.Since.Before(u.Since) {
			u.Since = v.Since
		}
		u.Protected = append(u.Protected, v.Files...)
		v.Remove()
	}
	return changes, u
}

// reopen takes over an unused view. One that has no list yet is being made, or was never
// finished; after a while it is taken away.
func reopen(dir string) (*View, bool) {
	f, err := os.OpenFile(filepath.Join(dir, "list"), os.O_RDWR, 0)
	if err != nil {
		if info, err := os.Stat(dir); err == nil && time.Since(info.ModTime()) > time.Hour {
			_ = os.RemoveAll(dir)
		}
		return nil, false
	}
	v := &View{dir: dir, list: f}
	if filelock.TryLock(f) != nil || json.NewDecoder(f).Decode(&v.viewList) != nil {
		_ = f.Close()
		return nil, false
	}
	return v, true
}
