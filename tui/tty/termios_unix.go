//go:build unix && !darwin && !dragonfly && !freebsd && !netbsd && !openbsd

package tty

import "golang.org/x/sys/unix"

const (
	readTermios  = unix.TCGETS
	writeTermios = unix.TCSETS
)
