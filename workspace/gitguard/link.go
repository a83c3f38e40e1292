package gitguard

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// The user's git changes its configuration by a new file in place of the old one. That takes
// away what is mounted on the file for commands, and the new file has its own name before. So
// while commands can run, the file lies in its own folder in .git, with a symlink in its place.
// Git makes its lock and the new file where the link leads to. For commands the folder is
// read-only and the link is covered, and neither of the two is ever replaced.
//
// The link works for every program without us. A lathe that was killed leaves it, and the next one that
// runs a command there takes it back. Where there can be no such link, [Watch.Hold] must do.

const (
	linkFolder = "lathe" // in .git
	linkTarget = linkFolder + "/config"
)

// RealConfig is the file that a configuration file is: itself, or where our link leads. No
// other symlink is followed.
func RealConfig(config string) (real string, linked bool) {
	real = filepath.Join(filepath.Dir(config), linkFolder, "config")
	if target, err := os.Readlink(config); err != nil || target != linkTarget || filepath.Base(config) != "config" {
		return config, false
	}
	dir, err1 := os.Lstat(filepath.Dir(real))
	file, err2 := os.Lstat(real)
	if err1 != nil || err2 != nil || !dir.IsDir() || !file.Mode().IsRegular() {
		return config, false
	}
	return real, true
}

// Link keeps the configuration file of one repository where commands cannot reach it, while they run and
// a while longer. It can be used by several goroutines.
type Link struct {
	config string
	locks  string // a folder out of the reach of commands
	may    bool   // the link may be made, not only be used

	mu     sync.Mutex
	uses   int
	lock   *os.File // shared by all processes whose commands run there; nil means none
	idle   *time.Timer
	closed bool
}

// linkTime is how long it stays after the last command: programs that watch .git should not see it come and
// go with every command.
const linkTime = 30 * time.Second

// NewLink is for the configuration file of a repository. Folder is for locks. Without make the link of
// another process is used, and none is made.
func NewLink(folder, config string, make bool) *Link {
	return &Link{config: config, locks: filepath.Join(folder, "links"), may: make}
}

// Acquire is called before something starts that could write the repository, and Leave when nothing of it is
// left. That it cannot be is no error for the command. What runs already was started without the link
// then, so nothing is tried again before all of it has ended.
func (l *Link) Acquire() (err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.idle != nil {
		l.idle.Stop()
	}
	if l.uses++; l.uses > 1 {
		return nil
	}
	if l.lock != nil {
		if _, linked := RealConfig(l.config); linked {
			return nil
		}
		l.restore() // the user has put a file in its place
	}
	l.lock, err = l.join()
	return err
}

// Release gives up one use.
func (l *Link) Release() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.uses--; l.uses > 0 || l.lock == nil {
		return
	}
	if l.closed {
		l.restore()
		return
	}
	l.idle = time.AfterFunc(linkTime, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.uses == 0 {
			l.restore()
		}
	})
}

// Close puts the file back at once if nothing uses it, or else with the last use.
func (l *Link) Close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed = true; l.idle != nil {
		l.idle.Stop()
	}
	if l.uses == 0 {
		l.restore()
	}
}

// join takes a share of the lock. The first process makes the link: later, the commands of
// others would lose their mounts.
func (l *Link) join() (*os.File, error) {
	if err := os.MkdirAll(l.locks, 0o700); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(l.locks, ShortName(l.config)), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	for try := range 10 { // each time another one has put the file back meanwhile
		var failed error
		alone := lockAlone(f) == nil
		if _, linked := RealConfig(l.config); alone && !linked {
			failed = l.convert()
		}
		if err := lockShared(f, lockTime); err != nil {
			return nil, errors.Join(err, f.Close())
		}
		if _, linked := RealConfig(l.config); linked || failed != nil || !alone && try > 0 {
			return f, failed
		}
	}
	return f, nil
}

// restore puts the file back if no other process needs the link.
func (l *Link) restore() {
	if l.lock == nil {
		return
	}
	if lockAlone(l.lock) == nil {
		_ = l.takeBack() // the link works, and the next one tries again
	}
	_ = l.lock.Close()
	l.lock = nil
}

var errNotPlain = errors.New("it is not a plain file of ours")

// convert makes the link, under git's lock. The file itself is moved, so that it stays as it is.
func (l *Link) convert() (err error) {
	if !l.may {
		return errNotPlain
	}
	if err := inPlace(l.config); err != nil {
		return err
	}
	l.clear()
	if err := isPlain(l.config); err != nil {
		return err
	}
	real, err := l.makeFolder()
	defer func() {
		if err != nil {
			l.clear()
		}
	}()
	if err != nil {
		return err
	}
	unlock, err := lockConfig(l.config, linkWait)
	if err != nil {
		return err
	}
	defer unlock()
	if err := exchange(real, l.config); err != nil {
		return err
	}
	if err := isPlain(real); err != nil { // another process put it there meanwhile
		return errors.Join(err, exchange(real, l.config))
	}
	return nil
}

// isPlain is an error for files that are not linked: foreign files, and placeholders.
func isPlain(config string) error {
	info, err := os.Lstat(config)
	if err == nil && (!info.Mode().IsRegular() || info.Mode()&fs.ModeSticky != 0 || !ours(info) || relativeCondition(config)) {
		err = fmt.Errorf("%s: %w", config, errNotPlain)
	}
	return err
}

// makeFolder makes the folder with the link in it, and returns the link's name there, which the file gets.
func (l *Link) makeFolder() (real string, err error) {
	top, err := os.Lstat(filepath.Dir(l.config))
	if err != nil {
		return "", err
	}
	folder := filepath.Join(filepath.Dir(l.config), linkFolder)
	if err := os.Mkdir(folder, 0o700); err != nil {
		return "", err
	}
	real = filepath.Join(folder, "config")
	// Users who can read or change the file must be able to do so there.
	return real, errors.Join(os.Chmod(folder, top.Mode()&(fs.ModePerm|fs.ModeSetgid)), os.Symlink(linkTarget, real))
}

// linkWait is how long a lock of git is waited for: a command waits meanwhile.
const linkWait = 100 * time.Millisecond

// takeBack puts the file where it was, under git's lock. A file that the user has put in place of the link
// is newer, and stays.
func (l *Link) takeBack() error {
	real, linked := RealConfig(l.config)
	if info, err := os.Lstat(real); linked && (err != nil || !ours(info)) {
		return errors.Join(errNotPlain, err)
	}
	if !linked {
		l.clear()
		return nil
	}
	if _, err := lockConfig(real, lockTime); err != nil {
		return err
	}
	err := exchange(real, l.config)
	if err == nil && !isOurLink(real) { // the user was faster
		err = exchange(real, l.config)
	}
	if err != nil {
		_ = os.Remove(real + ".lock")
		return err
	}
	l.clear()
	return nil
}

// isOurLink reports whether a file is the symlink that we make.
func isOurLink(path string) bool {
	target, err := os.Readlink(path)
	return err == nil && target == linkTarget
}

// clear removes the folder if git reads a file in its usual place. It goes in one step: a git
// that has found the link before, and makes its lock only now, must fail and not change an
// unused file.
func (l *Link) clear() {
	folder := filepath.Join(filepath.Dir(l.config), linkFolder)
	info, err := os.Lstat(folder)
	if err != nil || !info.IsDir() || !ours(info) {
		return
	}
	if _, err := os.Lstat(l.config); errors.Is(err, fs.ErrNotExist) { // another process removed the link
		if left, err := os.Lstat(filepath.Join(folder, "config")); err == nil && left.Mode().IsRegular() {
			_ = os.Link(filepath.Join(folder, "config"), l.config)
		}
	}
	if info, err := os.Lstat(l.config); err != nil || !info.Mode().IsRegular() {
		return
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return
	}
	defer func() { _ = root.Close() }() // nothing is written to it
	away := fmt.Sprintf("%s.%d", folder, time.Now().UnixNano())
	if os.Rename(folder, away) != nil {
		return
	}
	_, _ = root.Remove("config"), root.Remove("config.lock") // of lathe, or of a killed git
	if os.Remove(away) != nil {
		_ = os.Rename(away, folder) // something of others is in it
	}
}

// relativeCondition reports whether a configuration has a condition about the folder that it lies in: git
// would take it for the one that the link leads to.
func relativeCondition(config string) bool {
	text, err := readRegular(config)
	text = bytes.ToLower(text)
	return err != nil || bytes.Contains(text, []byte("gitdir:./")) || bytes.Contains(text, []byte("gitdir/i:./"))
}
