package sandbox

import (
	"errors"
	"fmt"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// forbidden are system calls that no command has a use for and that could change what confines it.
// Tracing is not among them: Landlock allows it inside the command only, and sanitizers need it.
var forbidden = []uint32{
	unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_MOVE_MOUNT, unix.SYS_OPEN_TREE, unix.SYS_FSOPEN,
	unix.SYS_FSCONFIG, unix.SYS_FSMOUNT, unix.SYS_FSPICK, unix.SYS_MOUNT_SETATTR, unix.SYS_SETNS,
	unix.SYS_OPEN_BY_HANDLE_AT,                                                   // finds files without their folders
	unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER, // make system calls that no filter sees
	unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE,
	unix.SYS_KEXEC_LOAD, unix.SYS_REBOOT, unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_ACCT, unix.SYS_QUOTACTL, unix.SYS_QUOTACTL_FD,
	unix.SYS_ADD_KEY, unix.SYS_KEYCTL, unix.SYS_REQUEST_KEY, // keys of the user
}

// unknown are the numbers of system calls from which on none is let through: those are not known to
// be harmless, or not known at all (the first of them mounts). Programs take them for missing.
const unknown = unix.SYS_OPEN_TREE_ATTR

// namespaces are the kinds that a command cannot make: in a user namespace it would have all
// capabilities.
const namespaces = unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS | unix.CLONE_NEWCGROUP

// architecture is how the kernel names ours; 0 is one that the filter is not written for.
func architecture() uint32 {
	switch runtime.GOARCH {
	case "amd64":
		return unix.AUDIT_ARCH_X86_64
	case "arm64":
		return unix.AUDIT_ARCH_AARCH64
	case "riscv64":
		return unix.AUDIT_ARCH_RISCV64
	case "loong64":
		return unix.AUDIT_ARCH_LOONGARCH64
	}
	return 0
}

// The members of seccomp_data that are read; of arguments the lower half.
const (
	dataNumber   = 0
	dataArch     = 4
	dataArgument = 16
	dataSecond   = 24
	dataThird    = 32 // its upper half follows
)

func statement(code uint16, k uint32) unix.SockFilter { return unix.SockFilter{Code: code, K: k} }

func jump(code uint16, k uint32, yes, no uint8) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_JMP | code | unix.BPF_K, Jt: yes, Jf: no, K: k}
}

// filter is the program that judges system calls; asks says that there is a [gate] for
// connections. With a secret it lets a thread that knows it change to other mounts, as far as
// the kernel does.
func filter(families []uint32, asks bool, secret uint64) []unix.SockFilter {
	const load, ret = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, unix.BPF_RET | unix.BPF_K
	refuse := func(e unix.Errno) uint32 { return unix.SECCOMP_RET_ERRNO | uint32(e) }
	// Programs for 32 bits have other numbers, and x32 has those that are too large.
	p := []unix.SockFilter{
		statement(load, dataArch), jump(unix.BPF_JEQ, architecture(), 1, 0), statement(ret, refuse(unix.ENOSYS)),
		statement(load, dataNumber), jump(unix.BPF_JGE, unknown, 0, 1), statement(ret, refuse(unix.ENOSYS)),
		// The flags of clone3 cannot be seen. Libraries use clone where it is missing.
		jump(unix.BPF_JEQ, unix.SYS_CLONE3, 0, 1), statement(ret, refuse(unix.ENOSYS)),
		jump(unix.BPF_JEQ, unix.SYS_UNSHARE, 1, 0), jump(unix.BPF_JEQ, unix.SYS_CLONE, 0, 4),
		statement(load, dataArgument), jump(unix.BPF_JSET, namespaces, 0, 1), statement(ret, refuse(unix.EPERM)),
		statement(ret, unix.SECCOMP_RET_ALLOW),
	}
	if secret != 0 {
		p = append(p, jump(unix.BPF_JEQ, unix.SYS_SETNS, 0, 6),
			statement(load, dataThird), jump(unix.BPF_JEQ, uint32(secret), 0, 3),
			statement(load, dataThird+4), jump(unix.BPF_JEQ, uint32(secret>>32), 0, 1), statement(ret, unix.SECCOMP_RET_ALLOW),
			statement(ret, refuse(unix.EPERM)))
	}
	for _, nr := range forbidden {
		p = append(p, jump(unix.BPF_JEQ, nr, 0, 1), statement(ret, refuse(unix.EPERM)))
	}
	if n := uint8(len(families)); n > 0 {
		p = append(p,
			jump(unix.BPF_JEQ, unix.SYS_SOCKET, 1, 0), jump(unix.BPF_JEQ, unix.SYS_SOCKETPAIR, 0, n+2),
			statement(load, dataArgument))
		for i, family := range families {
			p = append(p, jump(unix.BPF_JEQ, family, n-uint8(i), 0))
		}
		p = append(p, statement(ret, refuse(unix.EACCES)))
	}
	if asks {
		p = append(p, statement(load, dataNumber), jump(unix.BPF_JEQ, unix.SYS_CONNECT, 0, 1), statement(ret, unix.SECCOMP_RET_USER_NOTIF),
			// Messages can be sent to any socket without a connection, from a kind that hardly any program uses.
			jump(unix.BPF_JEQ, unix.SYS_SOCKET, 1, 0), jump(unix.BPF_JEQ, unix.SYS_SOCKETPAIR, 0, 6),
			statement(load, dataArgument), jump(unix.BPF_JEQ, unix.AF_UNIX, 0, 4),
			statement(load, dataSecond), statement(unix.BPF_ALU|unix.BPF_AND|unix.BPF_K, 0xf), jump(unix.BPF_JEQ, unix.SOCK_DGRAM, 0, 1),
			statement(ret, refuse(unix.EACCES)))
	}
	return append(p, statement(ret, unix.SECCOMP_RET_ALLOW))
}

// families are those of the sockets that a command can make, nil all. A network namespace does not
// hold every family: those of virtual machines and of buses reach out of it.
func (r request) families() []uint32 {
	switch {
	case !r.Profile.Network.Limited:
		return nil
	case r.OwnNetwork:
		return []uint32{unix.AF_UNIX, unix.AF_INET, unix.AF_INET6, unix.AF_NETLINK}
	}
	return []uint32{unix.AF_UNIX}
}

// forbid keeps this thread from system calls, for ever. It returns the file that the kernel asks on,
// -1 where it does not.
func (p *plan) forbid(secret uint64) (notify int, err error) {
	if architecture() == 0 {
		if p.Families != nil {
			return -1, errors.New("the network cannot be limited on this architecture")
		}
		return -1, nil
	}
	install := func(asks bool, flags uintptr) (int, error) {
		f := filter(p.Families, asks, secret)
		prog := unix.SockFprog{Len: uint16(len(f)), Filter: &f[0]}
		fd, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, flags, uintptr(unsafe.Pointer(&prog)))
		if errno != 0 {
			return -1, errno
		}
		return int(fd), nil
	}
	notify, err = install(true, unix.SECCOMP_FILTER_FLAG_NEW_LISTENER|unix.SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV)
	if err == unix.EINVAL { // before Linux 5.19
		notify, err = install(true, unix.SECCOMP_FILTER_FLAG_NEW_LISTENER)
	}
	if err == nil {
		return notify, nil
	}
	p.missing = append(p.missing, fmt.Sprintf("commands can connect to sockets of other programs: the kernel cannot intercept connections (%v)", err))
	if _, err := install(false, 0); err != nil {
		return -1, fmt.Errorf("filter system calls: %w", err)
	}
	return -1, nil
}
