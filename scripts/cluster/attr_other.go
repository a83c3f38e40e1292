//go:build unix && !linux

package main

import "syscall"

// childOf gives a process a group of its own, which Ctrl-C does not reach.
func childOf(a *syscall.Credential) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Credential: a, Setpgid: true}
}
