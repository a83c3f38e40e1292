//go:build unix && !linux

package sqlite

import (
	"errors"
	"syscall"
)

func ownMounts() *syscall.SysProcAttr { return nil }

func mountSmall(string) error { return errors.New("this system has no mounts for one process") }
