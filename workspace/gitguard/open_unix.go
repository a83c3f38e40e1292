//go:build unix

package gitguard

import "syscall"

// openFlags keep an open from following a symlink and from waiting.
const openFlags = syscall.O_NOFOLLOW | syscall.O_NONBLOCK
