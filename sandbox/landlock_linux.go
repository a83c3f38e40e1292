package sandbox

import (
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Only the thread that calls is confined here, which then starts the command: libraries confine
// all threads, which costs time and needs their help.

// ruleset is the kernel's landlock_ruleset_attr.
type ruleset struct{ fs, net, scoped uint64 }

// rule is its landlock_path_beneath_attr, which is packed; the last member is only padding.
type rule struct {
	access uint64
	parent int32
	_      int32
}

const (
	truncateFile = 1 << 14 // from version 3 on
	ioctlDevice  = 1 << 15 // from version 5 on

	scopeAbstract = 1 << 0 // from version 6 on
	scopeSignal   = 1 << 1

	makeDevice = unix.LANDLOCK_ACCESS_FS_MAKE_CHAR | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK
	inFolder   = unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE | makeDevice |
		unix.LANDLOCK_ACCESS_FS_MAKE_DIR | unix.LANDLOCK_ACCESS_FS_MAKE_REG | unix.LANDLOCK_ACCESS_FS_MAKE_SOCK |
		unix.LANDLOCK_ACCESS_FS_MAKE_FIFO | unix.LANDLOCK_ACCESS_FS_MAKE_SYM | unix.LANDLOCK_ACCESS_FS_REFER
)

// landlockVersion is that of the kernel; 0 means none.
func landlockVersion() int {
	v, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0
	}
	return int(v)
}

// restrict lets this thread write below some paths and nowhere else, for ever, and, if any are given,
// read files below others. Processes of a session signal each other, and see no others.
func restrict(p *plan) error {
	version, write, read := p.Landlock, p.rules(), p.Read
	attr := ruleset{fs: inFolder | unix.LANDLOCK_ACCESS_FS_WRITE_FILE}
	if version >= landlockFull {
		attr.fs |= truncateFile
	}
	if version >= landlockDevices {
		attr.fs |= ioctlDevice
	}
	if version >= landlockScopes {
		if attr.scoped = scopeAbstract; !p.Session {
			attr.scoped |= scopeSignal
		}
	}
	if read != nil {
		attr.fs |= unix.LANDLOCK_ACCESS_FS_READ_FILE
	}
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr), 0)
	if errno != 0 {
		return fmt.Errorf("make the rules: %w", errno)
	}
	for _, path := range write {
		if err := allow(int(fd), path, attr.fs, 0); err != nil {
			return err
		}
	}
	for _, path := range read { // a link could lead to what is hidden
		if err := allow(int(fd), path, unix.LANDLOCK_ACCESS_FS_READ_FILE, unix.O_NOFOLLOW); err != nil {
			return err
		}
	}
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, fd, 0, 0); errno != 0 {
		return fmt.Errorf("enforce the rules: %w", errno)
	}
	return unix.Close(int(fd))
}

// allow adds a path to a Landlock ruleset; a missing path is not an error.
func allow(rules int, path string, handled uint64, flags int) error {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC|flags, 0)
	if err == unix.ENOENT {
		return nil // gone since we looked
	}
	if err != nil {
		return &os.PathError{Op: "open", Path: path, Err: err}
	}
	defer func() { _ = unix.Close(fd) }()
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return &os.PathError{Op: "look at", Path: path, Err: err}
	}
	access := handled &^ makeDevice
	if st.Mode&unix.S_IFMT != unix.S_IFDIR {
		access = handled &^ inFolder
	}
	r := rule{access: access, parent: int32(fd)}
	_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(rules), unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&r)), 0, 0, 0)
	if errno != 0 {
		return &os.PathError{Op: "allow", Path: path, Err: errno}
	}
	return nil
}
