package sandbox

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// gate makes the connections of a command. The kernel asks it at every connect(2), before anything
// is done, and waits for the answer. The gate never lets the kernel continue with the memory
// of the command, which could change it meanwhile: it connects a copy of the socket to its own copy
// of the address.
//
// A socket with a name must lie where the command can write, or be allowed. One without a name (an
// abstract one), and one in a temporary folder that others use, must be held by a process of the
// command or its session.
type gate struct {
	notify  int                          // the kernel's questions; -1 means that it asks none
	reach   func(pid int) (reach, error) // of the command that a process belongs to
	members func() []int                 // the processes of the command or its session
}

// reach is where a command can connect to sockets with a name.
type reach struct {
	allowed   []string      // folders and sockets
	temporary []string      // folders that others use, too
	slots     chan struct{} // one for each connection in the making
}

// mostConnects limits the pending connects of a command: each takes one of lathe's threads.
const mostConnects = 256

// notification is the kernel's seccomp_notif.
type notification struct {
	id    uint64
	pid   uint32 // of the thread
	flags uint32
	nr    int32
	arch  uint32
	ip    uint64
	args  [6]uint64
}

// answer is its seccomp_notif_resp.
type answer struct {
	id    uint64
	value int64
	err   int32
	flags uint32
}

// serve answers until the last process of the command has ended.
func (g *gate) serve() {
	if g.notify < 0 {
		return
	}
	defer func() { _ = unix.Close(g.notify) }()
	var work sync.WaitGroup
	for {
		poll := []unix.PollFd{{Fd: int32(g.notify), Events: unix.POLLIN}}
		if _, err := unix.Poll(poll, -1); err == unix.EINTR {
			continue
		} else if err != nil || poll[0].Revents&unix.POLLIN == 0 {
			break
		}
		var n notification
		if g.control(unix.SECCOMP_IOCTL_NOTIF_RECV, unsafe.Pointer(&n)) != 0 {
			continue // the caller was killed
		}
		work.Go(func() { // as many as there are threads that wait
			a := answer{id: n.id}
			if errno := g.answer(n); errno != 0 {
				a.err = -int32(errno)
			}
			_ = g.control(unix.SECCOMP_IOCTL_NOTIF_SEND, unsafe.Pointer(&a)) // the caller may be gone
		})
	}
	work.Wait() // the file must not be another one before the last has answered
}

// answer makes a connection when it is the turn of the command: others of its session do not wait.
func (g *gate) answer(n notification) unix.Errno {
	r, err := g.reach(int(n.pid))
	if err != nil {
		return unix.EACCES
	}
	r.slots <- struct{}{}
	defer func() { <-r.slots }()
	return g.connect(n, r)
}

func (g *gate) control(request uint, arg unsafe.Pointer) unix.Errno {
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(g.notify), uintptr(request), uintptr(arg))
	return errno
}

// connect makes one connection.
func (g *gate) connect(n notification, r reach) unix.Errno {
	const longest = 128 // a sockaddr_storage
	if n.args[2] > longest || n.args[2] < 2 {
		return unix.EINVAL
	}
	address := make([]byte, n.args[2])
	local := []unix.Iovec{{Base: &address[0]}}
	local[0].SetLen(len(address))
	remote := []unix.RemoteIovec{{Base: uintptr(n.args[1]), Len: len(address)}}
	if got, err := unix.ProcessVMReadv(int(n.pid), local, remote, 0); err != nil || got != len(address) {
		return unix.EFAULT
	}
	socket, err := socketOf(int(n.pid), int(int32(n.args[0])))
	if err != nil {
		return unix.Errno(number(err))
	}
	defer func() { _ = unix.Close(socket) }()
	id := n.id
	if errno := g.control(unix.SECCOMP_IOCTL_NOTIF_ID_VALID, unsafe.Pointer(&id)); errno != 0 {
		return errno // the memory may belong to another process
	}
	if domain, err := unix.GetsockoptInt(socket, unix.SOL_SOCKET, unix.SO_DOMAIN); err != nil {
		return unix.Errno(number(err))
	} else if domain == unix.AF_UNIX && binary.NativeEndian.Uint16(address) == unix.AF_UNIX {
		return g.connectUnix(int(n.pid), socket, address, r)
	}
	return connect(socket, address)
}

// socketOf copies a socket of a thread. Threads can have their own files; older systems know
// those of processes only.
func socketOf(thread, fd int) (int, error) {
	const ofThread = unix.O_EXCL // PIDFD_THREAD
	process, err := unix.PidfdOpen(thread, ofThread)
	if err == unix.EINVAL {
		process, err = unix.PidfdOpen(processOf(thread), 0)
	}
	if err != nil {
		return -1, err
	}
	defer func() { _ = unix.Close(process) }()
	return unix.PidfdGetfd(process, fd, 0)
}

// processOf is the process of a thread.
func processOf(thread int) int {
	status, err := os.ReadFile("/proc/" + strconv.Itoa(thread) + "/status")
	if _, rest, ok := strings.Cut(string(status), "\nTgid:"); err == nil && ok {
		if pid, err := strconv.Atoi(strings.Fields(rest)[0]); err == nil {
			return pid
		}
	}
	return thread
}

func connect(socket int, address []byte) unix.Errno {
	for {
		_, _, errno := unix.Syscall(unix.SYS_CONNECT, uintptr(socket), uintptr(unsafe.Pointer(&address[0])), uintptr(len(address)))
		if errno != unix.EINTR {
			return errno
		}
	}
}

// connectUnix connects to a Unix socket, if the plan allows it.
func (g *gate) connectUnix(pid, socket int, address []byte, r reach) unix.Errno {
	name := address[2:]
	if len(name) == 0 || name[0] == 0 {
		if len(name) > 0 && !owned(pid, "@"+strings.ReplaceAll(string(name[1:]), "\x00", "@"), g.members) {
			return unix.EPERM
		}
		return connect(socket, address)
	}
	if end := bytes.IndexByte(name, 0); end >= 0 {
		name = name[:end]
	}
	target, path, errno := find(pid, string(name))
	if errno != 0 {
		return errno
	}
	defer func() { _ = unix.Close(target) }()
	under := func(folders []string) bool {
		return slices.ContainsFunc(folders, func(f string) bool { return within(f, path) })
	}
	if !under(r.allowed) && !(under(r.temporary) && owned(pid, path, g.members)) {
		return unix.EACCES
	}
	pinned := binary.NativeEndian.AppendUint16(nil, unix.AF_UNIX)
	return connect(socket, append(fmt.Appendf(pinned, "/proc/self/fd/%d", target), 0))
}

// find opens what a name of a process leads to, and says where it is in the files that the process
// sees.
func find(pid int, name string) (fd int, path string, errno unix.Errno) {
	proc := "/proc/" + strconv.Itoa(pid)
	if !filepath.IsAbs(name) {
		cwd, err := os.Readlink(proc + "/cwd")
		if err != nil {
			return -1, "", unix.EACCES
		}
		name = cwd + "/" + name
	}
	root, err := unix.Open(proc+"/root", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, "", unix.EACCES
	}
	defer func() { _ = unix.Close(root) }()
	fd, err = unix.Openat2(root, name, &unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_IN_ROOT | unix.RESOLVE_NO_MAGICLINKS})
	if err != nil {
		return -1, "", unix.Errno(number(err))
	}
	var st unix.Stat_t
	path, err = os.Readlink("/proc/self/fd/" + strconv.Itoa(fd))
	switch {
	case err != nil:
		errno = unix.EACCES
	case unix.Fstat(fd, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFSOCK:
		errno = unix.ECONNREFUSED
	default:
		return fd, path, 0
	}
	_ = unix.Close(fd)
	return -1, "", errno
}

// owned reports whether one of some processes holds the socket with a name.
func owned(pid int, name string, members func() []int) bool {
	f, err := os.Open("/proc/" + strconv.Itoa(pid) + "/net/unix")
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }() // it was only read
	var links []string
	for in := bufio.NewScanner(f); in.Scan(); {
		// Num RefCount Protocol Flags Type St Inode Path
		if fields := strings.SplitN(strings.Join(strings.Fields(in.Text()), " "), " ", 8); len(fields) == 8 && fields[7] == name {
			links = append(links, "socket:["+fields[6]+"]")
		}
	}
	for _, member := range members() {
		for _, link := range links {
			if holds("/proc/"+strconv.Itoa(member)+"/fd", link) {
				return true
			}
		}
	}
	return false
}
