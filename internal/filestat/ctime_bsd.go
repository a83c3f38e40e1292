//go:build darwin || freebsd || netbsd

package filestat

import "syscall"

func changeTime(s *syscall.Stat_t) int64 { return s.Ctimespec.Nano() }
