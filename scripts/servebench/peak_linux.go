package main

import (
	"os"
	"syscall"
)

// peakMemory is the most a process that ended had in memory, in MB.
func peakMemory(s *os.ProcessState) float64 {
	if use, ok := s.SysUsage().(*syscall.Rusage); ok {
		return float64(use.Maxrss) / 1024
	}
	return 0
}
