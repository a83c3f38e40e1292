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
	unix.SYS_OPEN_BY_HANDLE_AT, // finds files without their folders
	unix.SYS_IO_URING_SETUP,    // makes system calls that no filter sees
	unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE,
	unix.SYS_KEXEC_LOAD, unix.SYS_REBOOT, unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_ACCT, unix.SYS_QUOTACTL,
}

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

// The members of seccomp_data that are read; the argument is the lower half of the first.
const (
	dataNumber   = 0
	dataArch     = 4
	dataArgument = 16

	otherABI = 0x40000000 // where the numbers of x32 begin
)

func statement(code uint16, k uint32) unix.SockFilter { return unix.SockFilter{Code: code, K: k} }

func jump(code uint16, k uint32, yes, no uint8) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_JMP | code | unix.BPF_K, Jt: yes, Jf: no, K: k}
}

// filter is the program that judges system calls.
func filter(noNetwork bool) []unix.SockFilter {
	const load, ret = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, unix.BPF_RET | unix.BPF_K
	refuse := func(e unix.Errno) uint32 { return unix.SECCOMP_RET_ERRNO | uint32(e) }
	foreign := uint32(unix.SECCOMP_RET_ALLOW) // programs for 32 bits; what holds them is Landlock
	if noNetwork {
		foreign = refuse(unix.EACCES)
	}
	p := []unix.SockFilter{
		statement(load, dataArch), jump(unix.BPF_JEQ, architecture(), 1, 0), statement(ret, foreign),
		statement(load, dataNumber),
	}
	if runtime.GOARCH == "amd64" {
		p = append(p, jump(unix.BPF_JGE, otherABI, 0, 1), statement(ret, refuse(unix.ENOSYS)))
	}
	for _, nr := range forbidden {
		p = append(p, jump(unix.BPF_JEQ, nr, 0, 1), statement(ret, refuse(unix.EPERM)))
	}
	if noNetwork {
		p = append(p,
			jump(unix.BPF_JEQ, unix.SYS_SOCKET, 1, 0), jump(unix.BPF_JEQ, unix.SYS_SOCKETPAIR, 0, 3),
			statement(load, dataArgument), jump(unix.BPF_JEQ, unix.AF_UNIX, 1, 0), statement(ret, refuse(unix.EACCES)))
	}
	return append(p, statement(ret, unix.SECCOMP_RET_ALLOW))
}

// forbid keeps this thread from system calls, for ever.
func forbid(noNetwork bool) error {
	if architecture() == 0 {
		if noNetwork {
			return errors.New("the network cannot be switched off on this architecture")
		}
		return nil
	}
	p := filter(noNetwork)
	prog := unix.SockFprog{Len: uint16(len(p)), Filter: &p[0]}
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&prog)))
	if errno != 0 {
		return fmt.Errorf("filter system calls: %w", errno)
	}
	return nil
}
