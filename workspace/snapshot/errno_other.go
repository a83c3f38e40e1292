//go:build !unix

package snapshot

import "syscall"

// The errors of Windows for a directory in the way.
const (
	errIsDir    = syscall.Errno(5)
	errNotEmpty = syscall.Errno(145)
)
