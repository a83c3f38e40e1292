package sandbox_test

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"unsafe"

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
	case "listen":
		l, err := net.Listen("tcp", on)
		if err != nil {
			return err
		}
		fmt.Println(l.Addr())
		for {
			if conn, err := l.Accept(); err == nil {
				_ = conn.Close()
			}
		}
	case "serve", "wait", "own files", "dgram", "flip", "crowd":
		return reach(what, on)
	case "answer", "fetch", "pages", "vsock":
		return tryNetwork(what, on)
	case "call":
		_, _, errno := unix.RawSyscall(uintptr(pid), ^uintptr(0), 0, 0)
		if errno == 0 {
			return nil
		}
		return errno
	case "unshare":
		runtime.LockOSThread()
		return unix.Unshare(unix.CLONE_NEWUSER | unix.CLONE_FS)
	case "child":
		cmd := exec.Command("/bin/true")
		cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWUSER}
		return cmd.Run()
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

// reach connects in ways of its own.
func reach(how, address string) error {
	switch how {
	case "serve":
		l, err := net.Listen("unix", address)
		if err != nil {
			return err
		}
		fmt.Println("ready")
		for {
			if conn, err := l.Accept(); err == nil {
				_ = conn.Close()
			}
		}
	case "dgram":
		fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_DGRAM, 0)
		if err != nil {
			return err
		}
		err = unix.Sendto(fd, []byte("x"), 0, &unix.SockaddrUnix{Name: address})
		if err == unix.EPROTOTYPE { // it was found, and is of another kind
			return nil
		}
		return err
	case "flip":
		return flip(address)
	case "crowd":
		return crowd(address)
	}
	if how == "own files" { // of the thread
		runtime.LockOSThread()
		if err := unix.Unshare(unix.CLONE_FILES); err != nil {
			return err
		}
	}
	a, err := net.ResolveTCPAddr("tcp", address)
	if err != nil {
		return err
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
	if err != nil {
		return err
	}
	return unix.Connect(fd, &unix.SockaddrInet4{Port: a.Port, Addr: [4]byte(a.IP.To4())})
}

// flip connects again and again to its own socket, while the name in memory becomes another and
// back. It succeeds when a connection was to the other.
func flip(other string) error {
	own := strings.Repeat("./", (len(other)-1)/2) + strings.Repeat("s", 2-len(other)%2)
	l, err := net.Listen("unix", own)
	if err != nil {
		return err
	}
	defer func() { _ = l.Close() }()
	var accepted atomic.Int32
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			accepted.Add(1)
			_ = conn.Close()
		}
	}()
	address := unix.RawSockaddrUnix{Family: unix.AF_UNIX}
	name := unsafe.Slice((*byte)(unsafe.Pointer(&address.Path[0])), len(address.Path))
	copy(name, own)
	done := make(chan struct{})
	defer close(done)
	go func() {
		for i := 0; ; i++ {
			select {
			case <-done:
				return
			default:
				copy(name, []string{own, other}[i%2])
			}
		}
	}()
	for range 1000 {
		fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
		if err != nil {
			return err
		}
		_, _, errno := unix.Syscall(unix.SYS_CONNECT, uintptr(fd), uintptr(unsafe.Pointer(&address)), uintptr(2+len(other)))
		var peer unix.RawSockaddrUnix
		size := uint32(unsafe.Sizeof(peer))
		if errno == 0 {
			_, _, _ = unix.Syscall(unix.SYS_GETPEERNAME, uintptr(fd), uintptr(unsafe.Pointer(&peer)), uintptr(unsafe.Pointer(&size)))
		}
		_ = unix.Close(fd)
		if errno == 0 && peer.Path[0] == '/' {
			return nil
		}
	}
	return errors.New("never")
}

// crowd waits in more connects to its own socket than a gate makes at a time. It says so when
// the first wait.
func crowd(name string) error {
	l, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		return err
	}
	if err := errors.Join(unix.Bind(l, &unix.SockaddrUnix{Name: name}), unix.Listen(l, 0)); err != nil {
		return err
	}
	var attempts atomic.Int32
	for range 300 {
		go func() {
			if fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0); err == nil {
				attempts.Add(1)
				_ = unix.Connect(fd, &unix.SockaddrUnix{Name: name})
			}
		}()
	}
	for attempts.Load() < 300 {
		runtime.Gosched()
	}
	fmt.Println("crowded")
	select {}
}
