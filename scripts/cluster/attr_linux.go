package main

import "syscall"

// childOf makes a process end with this one.
func childOf(a *syscall.Credential) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Credential: a, Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
