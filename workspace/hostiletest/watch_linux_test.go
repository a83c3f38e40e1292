//go:build linux && (amd64 || arm64)

package hostiletest

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// forbidden are the system calls that start a program or reach another machine. The kernel
// kills the process that makes one.
var forbidden = []uint32{
	unix.SYS_EXECVE, unix.SYS_EXECVEAT, unix.SYS_PTRACE, unix.SYS_IO_URING_SETUP,
	unix.SYS_SOCKET, unix.SYS_SOCKETPAIR, unix.SYS_CONNECT, unix.SYS_BIND, unix.SYS_LISTEN,
	unix.SYS_SENDTO, unix.SYS_SENDMSG, unix.SYS_SENDMMSG,
}

// Where the kernel shows a filter the call: its number, the architecture, its first
// argument.
const (
	atNumber, atArch, atFirst = 0, 4, 16
	cloneThread               = 0x10000
	otherABI                  = 0x40000000 // numbers of the x32 calls
)

// watch puts this process, with all its threads, under a filter that no later call can
// take away. Threads can still be made, processes not.
func watch() error {
	load := func(at uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: at}
	}
	give := func(verdict uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: verdict}
	}
	// unless skips the next instruction if the comparison holds.
	jump := func(op uint16, value uint32, yes, no uint8) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_JMP | op | unix.BPF_K, K: value, Jt: yes, Jf: no}
	}
	prog := []unix.SockFilter{
		load(atArch),
		jump(unix.BPF_JEQ, auditArch, 1, 0),
		give(unix.SECCOMP_RET_KILL_PROCESS),
		load(atNumber),
		jump(unix.BPF_JGE, otherABI, 0, 1),
		give(unix.SECCOMP_RET_KILL_PROCESS),
	}
	for _, call := range append(append([]uint32{}, forbidden...), forks...) {
		prog = append(prog, jump(unix.BPF_JEQ, call, 0, 1), give(unix.SECCOMP_RET_KILL_PROCESS))
	}
	prog = append(prog,
		// The flags of clone3 cannot be seen. Without it, clone is used.
		jump(unix.BPF_JEQ, unix.SYS_CLONE3, 0, 1), give(unix.SECCOMP_RET_ERRNO|uint32(unix.ENOSYS)),
		jump(unix.BPF_JEQ, unix.SYS_CLONE, 0, 3),
		load(atFirst),
		jump(unix.BPF_JSET, cloneThread, 1, 0),
		give(unix.SECCOMP_RET_KILL_PROCESS),
		give(unix.SECCOMP_RET_ALLOW))
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("no new privileges: %w", err)
	}
	filter := unix.SockFprog{Len: uint16(len(prog)), Filter: &prog[0]}
	if _, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&filter))); errno != 0 {
		return fmt.Errorf("seccomp: %w", errno)
	}
	return nil
}
