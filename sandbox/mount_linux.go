package sandbox

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"
)

// mount gives the command its view of the files. Nothing in it can be changed but what it may
// write: not permissions and times either, which Landlock leaves alone. Protected names in it cannot
// be written, moved or replaced.
func (p *plan) mount() error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("mounts of its own: %w", err)
	}
	sources, err := p.sources()
	if err != nil {
		return err
	}
	if p.Session {
		if err := unix.Unmount(sharedPlace, unix.MNT_DETACH); err != nil {
			return fmt.Errorf("uncover %s: %w", sharedPlace, err)
		}
	}
	if !slices.ContainsFunc(p.Steps, func(s step) bool { return s.Path == "/" }) {
		if err := readOnly(unix.AT_FDCWD, "/"); err != nil {
			return fmt.Errorf("mount all read-only: %w", err)
		}
	}
	for i, s := range p.Steps {
		if sources[i] < 0 || s.Path == "/" {
			continue
		}
		if err := attach(sources[i], s.Path); err != nil {
			return fmt.Errorf("mount %s: %w", s.Path, err)
		}
	}
	if !p.Session && ownTerminals() {
		p.Write = append(p.Write, terminalFolder, terminalMaker)
	}
	return nil
}

func readOnly(at int, path string) error {
	flags := uint(unix.AT_RECURSIVE)
	if path == "" {
		flags |= unix.AT_EMPTY_PATH
	}
	return unix.MountSetattr(at, path, flags, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY})
}

// attach mounts at a path that no link leads to: what lies in the folder of a session was made by
// commands. Others may replace the file at the path meanwhile, as git does with its configuration: then
// what was opened is no place to mount at any more, and it is opened again. A symlink at the path itself is
// mounted on, not followed.
func attach(source int, path string) (err error) {
	defer func() { _ = unix.Close(source) }()
	for range attachTries {
		if err = attachOnce(source, path); err != unix.ENOENT && err != unix.EINVAL {
			break
		}
	}
	return err
}

// attachTries is more often than a program that does nothing else can replace a file at the wrong moment.
const attachTries = 100

func attachOnce(source int, path string) error {
	at, err := unix.Openat2(unix.AT_FDCWD, path, &unix.OpenHow{Flags: unix.O_PATH | unix.O_NOFOLLOW | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS})
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(at) }()
	const emptyTarget = 0x40 // MOVE_MOUNT_T_EMPTY_PATH
	return unix.MoveMount(source, "", at, "", unix.MOVE_MOUNT_F_EMPTY_PATH|emptyTarget)
}

// sources takes what all steps mount from the files as they are; -1 means that it is gone.
func (p *plan) sources() ([]int, error) {
	out := make([]int, len(p.Steps))
	if err := p.nothing(out); err != nil {
		return nil, err
	}
	for i, s := range p.Steps {
		var err error
		if out[i], err = s.open(out[i]); err != nil && s.Mount != nil { // better than what can be written
			p.missing = append(p.missing, fmt.Sprintf("%s is read-only: %v", s.Path, err))
			out[i], err = step{Kind: stepCopy, Path: s.Path, ReadOnly: true}.open(0)
		}
		if err != nil {
			return nil, fmt.Errorf("copy the mount of %s: %w", s.Path, err)
		}
	}
	return out, nil
}

// open takes what a step mounts; what is empty is made already.
func (s step) open(made int) (fd int, err error) {
	switch {
	case s.shared != "":
		fd, err = unix.OpenTree(unix.AT_FDCWD, s.shared, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC)
	case s.Kind == stepEmpty:
		return made, nil
	case s.Kind == stepOverlay:
		fd, err = overlay(*s.Mount)
	case s.Kind == stepLink:
		fd, err = unix.OpenTree(unix.AT_FDCWD, cmp.Or(s.Source, s.Path), unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_SYMLINK_NOFOLLOW)
	default:
		fd, err = unix.OpenTree(unix.AT_FDCWD, cmp.Or(s.Source, s.Path), unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_RECURSIVE)
	}
	if err == unix.ENOENT && s.Source == "" && s.shared == "" && s.Kind != stepOverlay {
		return -1, nil
	}
	if err == nil && s.ReadOnly {
		err = readOnly(fd, "")
	}
	return fd, err
}

// overlay makes a mount of a folder whose changes go to another.
func overlay(m Mount) (int, error) {
	fs, err := unix.Fsopen("overlay", unix.FSOPEN_CLOEXEC)
	if err != nil {
		return -1, err
	}
	defer func() { _ = unix.Close(fs) }()
	for _, o := range [][2]string{{"lowerdir", m.Source}, {"upperdir", m.Upper}, {"workdir", m.Work}} {
		if err := unix.FsconfigSetString(fs, o[0], o[1]); err != nil {
			return -1, fmt.Errorf("%s %s: %w", o[0], o[1], err)
		}
	}
	// Without it the kernel wants attributes that only the administrator may set.
	if err := unix.FsconfigSetFlag(fs, "userxattr"); err != nil {
		return -1, err
	}
	// With the end of the command the kernel would write out the whole file system below. Kernels
	// before 5.10 do not know it.
	_ = unix.FsconfigSetFlag(fs, "volatile")
	if err := unix.FsconfigCreate(fs); err != nil {
		return -1, err
	}
	return unix.Fsmount(fs, unix.FSMOUNT_CLOEXEC, unix.MOUNT_ATTR_NODEV|unix.MOUNT_ATTR_NOSUID)
}

// nothing makes the empty folders and files, all in one file system.
func (p *plan) nothing(out []int) error {
	if p.Session || !slices.ContainsFunc(p.Steps, func(s step) bool { return s.Kind == stepEmpty }) {
		return nil
	}
	root, err := emptyFileSystem()
	if err != nil {
		return fmt.Errorf("a file system for what is hidden: %w", err)
	}
	defer func() { _ = unix.Close(root) }()
	// It is mounted while copies are taken, anywhere: not all systems copy what is not.
	const anywhere = "/proc"
	if err := unix.MoveMount(root, "", unix.AT_FDCWD, anywhere, unix.MOVE_MOUNT_F_EMPTY_PATH); err != nil {
		return fmt.Errorf("mount what stands for what is hidden: %w", err)
	}
	for i, s := range p.Steps {
		if s.Kind != stepEmpty {
			continue
		}
		if out[i], err = s.empty(root, strconv.Itoa(i)); err != nil {
			return fmt.Errorf("hide %s: %w", s.Path, err)
		}
	}
	return unix.Unmount(anywhere, unix.MNT_DETACH)
}

func emptyFileSystem() (int, error) {
	fs, err := unix.Fsopen("tmpfs", unix.FSOPEN_CLOEXEC)
	if err != nil {
		return -1, err
	}
	defer func() { _ = unix.Close(fs) }()
	if err := unix.FsconfigCreate(fs); err != nil {
		return -1, err
	}
	return unix.Fsmount(fs, unix.FSMOUNT_CLOEXEC, unix.MOUNT_ATTR_NODEV|unix.MOUNT_ATTR_NOSUID)
}

// empty makes what a step hides something with.
func (s step) empty(root int, name string) (int, error) {
	err := hold{Path: name, File: s.File}.makeAt(root)
	for _, h := range s.Holds {
		if err == nil {
			err = hold{Path: name + "/" + h.Path, File: h.File}.makeAt(root)
		}
	}
	if err != nil {
		return -1, err
	}
	fd, err := unix.OpenTree(root, name, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC)
	if err != nil {
		return -1, err
	}
	return fd, readOnly(fd, "")
}
