package sandbox

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"

	"golang.org/x/sys/unix"
)

// rebinder keeps protected and hidden names of running commands covered. A mount ends when a
// process outside replaces the file below it, as editors do to save a file: the command could
// read or write the new one. The kernel notifies a thread of the session's first process, which
// mounts it again.
//
// That takes a moment, in which the command can open what is new. Nothing that a process without
// privileges can do comes before it.
type rebinder struct {
	inotify, wake int
	home          int   // the mounts of the first process
	err           error // that it cannot work

	mu      sync.Mutex             // also while mounts are made, so that their namespace stays
	held    map[*mountSpace][]step // mounts that commands rely on, shallow first
	folders map[int]string         // that are watched, by the kernel's number
}

// newRebinder starts the thread. Systems have few inotify instances for a user: without one, or
// the files for it, commands still start, with a notice.
func newRebinder() *rebinder {
	r := &rebinder{held: map[*mountSpace][]step{}, folders: map[int]string{}}
	var err1, err2, err3 error
	r.inotify, err1 = unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	r.wake, err2 = unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	r.home, err3 = unix.Open("/proc/self/ns/mnt", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if r.err = errors.Join(err1, err2, err3); r.err == nil {
		onNewThread(r.live)
	}
	return r
}

// held are the steps of a plan that protect or hide something.
func (p *plan) held() (out []step) {
	for _, s := range p.Steps {
		switch {
		case s.Kind == stepEmpty, s.Mount != nil && s.ReadOnly, s.Mount == nil && slices.Contains(slices.Concat(p.pins, p.binds, p.links), s.Path):
			out = append(out, s)
		}
	}
	return out
}

// watch begins to look at the folders of protected names. It is called before they are mounted.
func (r *rebinder) watch(steps []step) error {
	if r.err != nil {
		return r.err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.watchFolders(steps)
}

func (r *rebinder) watchFolders(steps []step) error {
	var done []string
	for _, s := range steps {
		dir := filepath.Dir(s.Path)
		if slices.Contains(done, dir) {
			continue
		}
		done = append(done, dir)
		wd, err := unix.InotifyAddWatch(r.inotify, dir, unix.IN_CREATE|unix.IN_MOVED_TO|unix.IN_ONLYDIR)
		if err != nil && err != unix.ENOENT && err != unix.EACCES { // a command finds nothing there either
			return fmt.Errorf("watch %s: %w", dir, err)
		}
		if err == nil {
			r.folders[wd] = dir
		}
	}
	return nil
}

// add keeps the mounts of a command, and looks at once for what happened while they were made.
func (r *rebinder) add(m *mountSpace, steps []step) {
	r.mu.Lock()
	r.held[m] = steps
	r.mu.Unlock()
	_, _ = unix.Write(r.wake, binary.NativeEndian.AppendUint64(nil, 1)) // it is woken already if that fails
}

func (r *rebinder) remove(m *mountSpace) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.held, m)
}

// live is the life of the thread.
func (r *rebinder) live() {
	if err := unix.Unshare(unix.CLONE_FS); err != nil {
		return
	}
	buf := make([]byte, 64<<10)
	for {
		poll := []unix.PollFd{{Fd: int32(r.inotify), Events: unix.POLLIN}, {Fd: int32(r.wake), Events: unix.POLLIN}}
		if _, err := unix.Poll(poll, -1); err != nil && err != unix.EINTR {
			return
		}
		woken, _ := unix.Read(r.wake, buf[:8]) // there is nothing if it was not
		n, _ := unix.Read(r.inotify, buf)
		r.mu.Lock()
		if woken > 0 || r.concerns(buf[:max(n, 0)]) {
			r.cover()
		}
		r.mu.Unlock()
	}
}

// concerns reports whether one of the kernel's events is about a protected name.
func (r *rebinder) concerns(events []byte) bool {
	for len(events) >= unix.SizeofInotifyEvent {
		wd, mask := int(int32(binary.NativeEndian.Uint32(events))), binary.NativeEndian.Uint32(events[4:])
		end := unix.SizeofInotifyEvent + int(binary.NativeEndian.Uint32(events[12:]))
		name, _, _ := bytes.Cut(events[unix.SizeofInotifyEvent:end], []byte{0})
		path := filepath.Join(r.folders[wd], string(name))
		events = events[end:]
		if mask&unix.IN_Q_OVERFLOW != 0 {
			return true
		}
		for _, steps := range r.held {
			if slices.ContainsFunc(steps, func(s step) bool { return s.Path == path }) {
				return true
			}
		}
	}
	return false
}

// cover mounts what lies open, in all commands.
func (r *rebinder) cover() {
	for m, steps := range r.held {
		for range 10 { // each time something was made before its folder was watched
			if !r.coverOne(m, steps) {
				break
			}
			_ = r.watchFolders(steps) // some may be new
		}
	}
}

// coverOne does it for one command, and reports whether there was anything to do.
func (r *rebinder) coverOne(m *mountSpace, steps []step) bool {
	if enterMounts(m.fd, 0) != nil {
		return false // there is no way to its mounts any more
	}
	steps = slices.DeleteFunc(slices.Clone(steps), step.mounted)
	if enterMounts(r.home, 0) != nil || len(steps) == 0 {
		return false
	}
	var sources []int
	for _, s := range steps { // here everything can be seen
		fd, err := s.open(-1)
		if err != nil {
			fd = -1
		}
		sources = append(sources, fd)
	}
	_ = enterMounts(m.fd, 0) // as before
	for i, s := range steps {
		if sources[i] >= 0 {
			_ = attach(sources[i], s.Path) // if it is still there, and no link leads to it
		}
	}
	_ = enterMounts(r.home, 0)
	return true
}

// mounted reports whether the mount of a step is there, or nothing is that needs one.
func (s step) mounted() bool {
	var st unix.Statx_t
	err := unix.Statx(unix.AT_FDCWD, s.Path, unix.AT_SYMLINK_NOFOLLOW|unix.AT_NO_AUTOMOUNT, 0, &st)
	return err != nil || st.Attributes&unix.STATX_ATTR_MOUNT_ROOT != 0
}
