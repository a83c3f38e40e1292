//go:build !unix

package snapshot

import "syscall"

// What Windows says of a directory in the way.
const (
	errIsDir    = syscall.Errno(5)
	errNotEmpty = syscall.Errno(145)
)
