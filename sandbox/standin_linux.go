package sandbox

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// A name that does not exist cannot be mounted on, so something empty stands in for it while
// commands run: a folder, which git does not see, or a file where programs want one. Its
// permissions tell it from what users make. Everyone who uses it holds a shared lock of it,
// which ends with its holder however that ends; who can have it alone when it leaves takes it
// away. What a killed launcher left is used, and then taken away, by the next one.

// The permissions of what stands in. No other program gives them to anything empty, and no mask of
// the user takes them. A file that says something is small besides.
const (
	folderMark = unix.S_ISVTX | 0o500
	fileMark   = unix.S_ISVTX | 0o400
	textMark   = unix.S_ISVTX | 0o600
	markBits   = unix.S_ISVTX | 0o777
	mostText   = 64 // bytes
)

// stand is a placeholder for a name: a folder, an empty file, or one with a text.
type stand struct {
	file bool
	text string
}

// standIn is a placeholder in use.
type standIn struct {
	path string
	file *os.File // its lock
}

// standFor puts something under a name where nothing is, or joins what stands there already. It
// returns nil where that is not possible, or where there is something of its own.
func standFor(path string, what stand) *standIn {
	dir, err := folder(path)
	if err != nil {
		return nil
	}
	defer func() { _ = dir.Close() }()
	for range 10 { // each time another launcher has taken it away meanwhile
		made, flags := makeStandIn(int(dir.Fd()), filepath.Base(path), what)
		s, err := openStandIn(dir, path, unix.LOCK_SH)
		switch {
		case s != nil:
			return s
		case errors.Is(err, fs.ErrNotExist):
			continue
		case made: // it cannot be locked here, so no process would know when to remove it
			_ = unix.Unlinkat(int(dir.Fd()), filepath.Base(path), flags)
		}
		return nil
	}
	return nil
}

// makeStandIn reports whether it made one, and how that is unlinked. What is there is left alone.
func makeStandIn(at int, base string, what stand) (made bool, flags int) {
	switch {
	case !what.file:
		return unix.Mkdirat(at, base, folderMark) == nil, unix.AT_REMOVEDIR
	case what.text != "":
		return makeText(at, base, what.text) == nil, 0
	}
	return unix.Mknodat(at, base, unix.S_IFREG|fileMark, 0) == nil, 0
}

// makeText makes a file that is never seen without its text: programs that meet it empty fail.
func makeText(at int, base, text string) error {
	var there unix.Stat_t
	if err := unix.Fstatat(at, base, &there, unix.AT_SYMLINK_NOFOLLOW); err == nil {
		return unix.EEXIST
	}
	name := base + ".new-" + strconv.Itoa(os.Getpid()) + strconv.FormatInt(time.Now().UnixNano(), 36)
	fd, err := unix.Openat(at, name, unix.O_CREAT|unix.O_EXCL|unix.O_WRONLY|unix.O_CLOEXEC, textMark)
	if err != nil {
		return err
	}
	_, err = unix.Write(fd, []byte(text))
	if err = errors.Join(err, unix.Close(fd)); err == nil {
		err = unix.Renameat2(at, name, at, base, unix.RENAME_NOREPLACE)
	}
	if err != nil {
		_ = unix.Unlinkat(at, name, 0)
	}
	return err
}

// openStandIn locks what stands in for a name. That it was taken away before is [fs.ErrNotExist].
func openStandIn(dir *os.File, path string, lock int) (*standIn, error) {
	at, base := int(dir.Fd()), filepath.Base(path)
	fd, err := unix.Openat(at, base, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	s := &standIn{path: path, file: os.NewFile(uintptr(fd), path)}
	if err := s.check(at, base, lock); err != nil {
		return nil, errors.Join(err, s.file.Close())
	}
	return s, nil
}

var errNotOurs = errors.New("something else is there")

func (s *standIn) check(at int, base string, lock int) error {
	if info, err := s.file.Stat(); err != nil || !standsIn(s.path, info) {
		return errors.Join(errNotOurs, err)
	}
	fd := int(s.file.Fd())
	if err := flock(fd, lock); err != nil {
		return err
	}
	var held, there unix.Stat_t
	if err := errors.Join(unix.Fstat(fd, &held), unix.Fstatat(at, base, &there, unix.AT_SYMLINK_NOFOLLOW)); err != nil {
		return err
	}
	if held.Ino != there.Ino || held.Dev != there.Dev {
		return fs.ErrNotExist
	}
	return nil
}

// flock waits for a lock as long as it takes: signals, which the runtime sends to its own threads, are no reason to
// give up.
func flock(fd, how int) error {
	for {
		if err := unix.Flock(fd, how); err != unix.EINTR {
			return err
		}
	}
}

// standsIn reports whether something was made to stand in for a name. A folder with the mark
// that is gone by now was: treated as the user's own it would be mounted on without a lock, and
// the mount lost with it.
func standsIn(path string, info fs.FileInfo) bool {
	bits := uint32(info.Mode().Perm())
	if info.Mode()&fs.ModeSticky != 0 {
		bits |= unix.S_ISVTX
	}
	switch {
	case info.IsDir() && bits&markBits == folderMark:
		entries, err := os.ReadDir(path)
		return err == nil && len(entries) == 0 || errors.Is(err, fs.ErrNotExist)
	case info.Mode().IsRegular() && bits&markBits == fileMark:
		return info.Size() == 0
	case info.Mode().IsRegular() && bits&markBits == textMark:
		return info.Size() <= mostText
	}
	return false
}

// leave gives up the use of it, and removes it after the last use.
func (s *standIn) leave() {
	defer func() { _ = s.file.Close() }() // and with it the lock
	if dir, err := folder(s.path); err == nil {
		s.takeAway(dir)
		_ = dir.Close()
	}
}

func (s *standIn) takeAway(dir *os.File) {
	info, err := s.file.Stat()
	if err != nil || s.check(int(dir.Fd()), filepath.Base(s.path), unix.LOCK_EX|unix.LOCK_NB) != nil {
		return
	}
	flags := 0
	if info.IsDir() {
		flags = unix.AT_REMOVEDIR
	}
	_ = unix.Unlinkat(int(dir.Fd()), filepath.Base(s.path), flags) // a folder that has something in it stays
}

// sweep removes unused placeholders, whose launcher was killed.
func sweep(name string) {
	if info, err := os.Lstat(name); err != nil || !standsIn(name, info) {
		return
	}
	dir, err := folder(name)
	if err != nil {
		return
	}
	defer func() { _ = dir.Close() }()
	if s, err := openStandIn(dir, name, unix.LOCK_EX|unix.LOCK_NB); err == nil {
		s.takeAway(dir)
		_ = s.file.Close()
	}
}

// sweep does that for all names of a profile.
func (p Profile) sweep() {
	if !p.Confined() {
		return
	}
	for _, name := range slices.Concat(p.Protect, p.Files) {
		sweep(resolve(name))
	}
}

// standIns are the placeholders of one command.
type standIns []*standIn

func (all *standIns) add(path string, what stand) bool {
	s := standFor(path, what)
	if s != nil {
		*all = append(*all, s)
	}
	return s != nil
}

// leave gives up the use of all, deep ones first.
func (all *standIns) leave() {
	for _, s := range slices.Backward(*all) {
		s.leave()
	}
	*all = nil
}
