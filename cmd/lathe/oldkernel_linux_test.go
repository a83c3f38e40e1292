package main

import (
	"os"
	"os/exec"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// oldKernel becomes lathe in a process whose kernel has no Landlock: its system calls are missing, as
// they are before Linux 5.13.
func oldKernel() {
	runtime.LockOSThread() // filters are those of a thread, and so is what it becomes
	missing := unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)
	program := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: 0}, // the number of the call
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: unix.SYS_LANDLOCK_CREATE_RULESET, Jt: 0, Jf: 1},
		{Code: unix.BPF_RET | unix.BPF_K, K: missing},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
	}
	prog := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
	if err == nil {
		err = unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&prog)), 0, 0)
	}
	path := ""
	if err == nil {
		path, err = exec.LookPath("lathe")
	}
	if err == nil {
		err = unix.Exec(path, append([]string{"lathe"}, os.Args[1:]...), os.Environ())
	}
	panic(err)
}
