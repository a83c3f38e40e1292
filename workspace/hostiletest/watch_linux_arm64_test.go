package hostiletest

import "golang.org/x/sys/unix"

const auditArch = unix.AUDIT_ARCH_AARCH64

// forks make a process without a clone; this architecture knows none.
var forks []uint32
