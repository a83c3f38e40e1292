//go:build unix

package snapshot

import "syscall"

const (
	errIsDir    = syscall.EISDIR
	errNotEmpty = syscall.ENOTEMPTY
)
