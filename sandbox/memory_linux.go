package sandbox

import (
	"bytes"
	"os"
	"strconv"
)

// Memory returns the resident memory in bytes of the program and its processes; 0 is unknown. It reads a few files of
// /proc, so ask for it when a person looks, not all the time.
func (s *Service) Memory() (total int64) {
	pid := 0
	switch t := s.tree.(type) {
	case *launched:
		pid = t.pid
	case *group:
		pid = t.process.Pid
	default: // others are no services, or of other systems
	}
	if pid == 0 {
		return 0
	}
	for _, p := range append(descendants(pid), pid) {
		data, err := os.ReadFile("/proc/" + strconv.Itoa(p) + "/statm")
		if fields := bytes.Fields(data); err == nil && len(fields) > 1 {
			pages, _ := strconv.ParseInt(string(fields[1]), 10, 64) // the kernel writes numbers
			total += pages * int64(os.Getpagesize())
		}
	}
	return total
}
