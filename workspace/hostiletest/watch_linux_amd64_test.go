package hostiletest

import "golang.org/x/sys/unix"

const auditArch = unix.AUDIT_ARCH_X86_64

// forks make a process without a clone.
var forks = []uint32{unix.SYS_FORK, unix.SYS_VFORK}
