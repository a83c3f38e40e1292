package sandbox_test

import (
	"fmt"
	"net"
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// attempt tries something forbidden inside of a sandbox, says what came of it, and returns 0 if it
// worked.
func attempt(args []string) int {
	err := try(args[0], args[1])
	fmt.Println(args[0], err)
	if err != nil {
		return 1
	}
	return 0
}

func try(what, on string) error {
	pid, _ := strconv.Atoi(on) // of those that need one
	switch what {
	case "tcp", "udp", "unix":
		conn, err := net.Dial(what, on)
		if err == nil {
			err = conn.Close()
		}
		return err
	case "stay", "leave", "undumpable", "thread", "send away":
		return connectAs(what, on)
	case "trace":
		return syscall.PtraceAttach(pid)
	case "truncate":
		return os.Truncate(on, 0)
	case "truncate by opening": // which asks for no right to write
		f, err := os.OpenFile(on, os.O_RDONLY|os.O_TRUNC, 0)
		if err == nil {
			err = f.Close()
		}
		return err
	case "memory":
		f, err := os.OpenFile("/proc/"+on+"/mem", os.O_RDWR, 0)
		if err == nil {
			err = f.Close()
		}
		return err
	case "namespace":
		f, err := os.Open("/proc/" + on + "/ns/mnt")
		if err != nil {
			return err
		}
		return unix.Setns(int(f.Fd()), unix.CLONE_NEWNS)
	case "unmount":
		return unix.Unmount(on, unix.MNT_DETACH)
	case "mount":
		return unix.Mount("none", on, "tmpfs", 0, "")
	case "remount":
		return unix.MountSetattr(unix.AT_FDCWD, on, unix.AT_RECURSIVE, &unix.MountAttr{Attr_clr: unix.MOUNT_ATTR_RDONLY})
	case "device":
		return unix.Mknod(on, unix.S_IFBLK|0o600, 0x801)
	case "exchange":
		return unix.Renameat2(unix.AT_FDCWD, on, unix.AT_FDCWD, "exchanged", unix.RENAME_EXCHANGE)
	case "ring":
		_, _, errno := unix.Syscall(unix.SYS_IO_URING_SETUP, 1, 0, 0)
		if errno == unix.EPERM || errno == unix.ENOSYS {
			return errno
		}
		return nil
	}
	return fmt.Errorf("unknown: %s", what)
}
